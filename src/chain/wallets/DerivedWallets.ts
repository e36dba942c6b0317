// The keys that are derived from AGENT_WALLET_MNEMONIC: one for each agent, by its index,
// and one that relays payments and pays their gas. None of them is stored.
import { pbkdf2Sync } from "node:crypto"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { type HDAccount, HDKey, hdKeyToAccount } from "viem/accounts"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import { AppConfig } from "../../platform/AppConfig.ts"

/** BIP-39, without a passphrase. OpenSSL takes a millisecond, `@scure/bip39` a hundred of the start. */
const seedOf = (mnemonic: string) => pbkdf2Sync(mnemonic.normalize("NFKD"), "mnemonic", 2048, 64, "sha512")

const make = (mnemonic: string): typeof DerivedWallets.Service => {
  // When a key is first used: the curve's tables take a sixth of the start.
  let root: HDKey | undefined
  const rootKey = () => {
    root ??= HDKey.fromMasterSeed(seedOf(mnemonic))
    return root
  }
  // Derivation costs a millisecond; a deployment's agents come again and again.
  const accounts = new BoundedMap<number, HDAccount>(10_000)
  return {
    accountOf: (index) => {
      const known = accounts.get(index)
      if (known !== undefined) return Option.some(known)
      const account = hdKeyToAccount(rootKey(), { addressIndex: index })
      accounts.set(index, account)
      return Option.some(account)
    },
    relayerKey: Option.some(() =>
      // A key that comes from a seed has its private half.
      Option.getOrThrow(
        Option.fromNullishOr(hdKeyToAccount(rootKey(), { accountIndex: 1 }).getHdKey().privateKey)
      )
    )
  }
}

export class DerivedWallets extends Context.Service<
  DerivedWallets,
  {
    /** BIP-44 `m/44'/60'/0'/0/{index}`; none while no mnemonic is configured. */
    readonly accountOf: (index: number) => Option.Option<HDAccount>
    /** Derives the private key of `m/44'/60'/1'/0/0`. */
    readonly relayerKey: Option.Option<() => Uint8Array>
  }
>()("quittance/chain/DerivedWallets") {
  static readonly layer: Layer.Layer<DerivedWallets, never, AppConfig> = Layer.effect(
    DerivedWallets,
    Effect.map(AppConfig, ({ agentWalletMnemonic }) =>
      Option.match(agentWalletMnemonic, {
        onNone: (): typeof DerivedWallets.Service => ({
          accountOf: () => Option.none(),
          relayerKey: Option.none()
        }),
        onSome: (mnemonic) => make(Redacted.value(mnemonic))
      })
    )
  )
}
