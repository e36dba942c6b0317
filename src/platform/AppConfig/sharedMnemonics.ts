// Refuses a mnemonic that two networks share, because a wallet's nonces are stored by its address.
import { Option } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { envs, networks } from "../../domain/networks.ts"
import type { RefusedSetting } from "./ConfigRefusal.ts"

/** The words, however they are spaced: BIP-39 derives from the NFKD form. */
const wordsOf = (mnemonic: string) => mnemonic.normalize("NFKD").trim().split(/\s+/u).join(" ")

/** A refusal for each mnemonic that an earlier network already has. */
export const sharedMnemonics = (
  mnemonics: {
    readonly [E in Env]: Option.Option<string>
  }
): ReadonlyArray<RefusedSetting> => {
  const settingBy = new Map<string, string>()
  return envs.flatMap((env) => {
    if (Option.isNone(mnemonics[env])) return []
    const { setting } = networks[env].wallets
    const words = wordsOf(mnemonics[env].value)
    const earlier = settingBy.get(words)
    if (earlier === undefined) {
      settingBy.set(words, setting)
      return []
    }
    const message = `${setting} must be another mnemonic than ${earlier}: put a new one there, because no wallet may be used on two networks`
    return [{ variable: setting, message }]
  })
}
