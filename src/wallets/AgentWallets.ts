// The keys that are derived from AGENT_WALLET_MNEMONIC: one for each agent, by its index,
// and one that relays payments and pays their gas. None of them is stored.
import { pbkdf2Sync } from "node:crypto"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { type HDAccount, HDKey, hdKeyToAccount } from "viem/accounts"
import { AppConfig } from "../AppConfig.ts"

export interface AgentWalletsShape {
  /** BIP-44 `m/44'/60'/0'/0/{index}`; none while no mnemonic is configured. */
  readonly accountOf: (index: number) => Option.Option<HDAccount>
  /** Private key of `m/44'/60'/1'/0/0`. */
  readonly relayerKey: Option.Option<Uint8Array>
}

/** BIP-39, without a passphrase. */
const seedOf = (mnemonic: string) => pbkdf2Sync(mnemonic.normalize("NFKD"), "mnemonic", 2048, 64, "sha512")

const make = (mnemonic: string): AgentWalletsShape => {
  const root = HDKey.fromMasterSeed(seedOf(mnemonic))
  // Derivation costs a millisecond; a deployment's agents come again and again.
  const accounts = new Map<number, HDAccount>()
  return {
    accountOf: (index) => {
      const known = accounts.get(index)
      if (known !== undefined) return Option.some(known)
      const account = hdKeyToAccount(root, { addressIndex: index })
      if (accounts.size >= 10_000) accounts.clear()
      accounts.set(index, account)
      return Option.some(account)
    },
    relayerKey: Option.fromNullishOr(hdKeyToAccount(root, { accountIndex: 1 }).getHdKey().privateKey)
  }
}

export class AgentWallets extends Context.Service<AgentWallets, AgentWalletsShape>()(
  "quittance/agents/AgentWallets"
) {
  static readonly layer: Layer.Layer<AgentWallets, never, AppConfig> = Layer.effect(
    AgentWallets,
    Effect.map(AppConfig, ({ agentWalletMnemonic }) =>
      Option.match(agentWalletMnemonic, {
        onNone: (): AgentWalletsShape => ({ accountOf: () => Option.none(), relayerKey: Option.none() }),
        onSome: (mnemonic) => make(Redacted.value(mnemonic))
      })
    )
  )
}
