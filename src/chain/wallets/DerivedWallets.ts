// The keys derived from a network's mnemonic: one per agent, by its index, and one that relays payments and pays their
// gas. None of them is stored.
import { pbkdf2Sync } from "node:crypto"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { type HDAccount, HDKey, hdKeyToAccount } from "viem/accounts"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import type { Env } from "../../domain/Chain.ts"
import { byEnv, faucetNetwork, type Network, networks } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Networks } from "../../platform/Networks.ts"
import { MnemonicMatches } from "./MnemonicMatches.ts"

interface NetworkWallets {
  readonly accountOf: (index: number) => Option.Option<HDAccount>
  readonly relayerKey: Option.Option<() => Uint8Array>
}

/** BIP-39, without a passphrase. OpenSSL takes a millisecond; `@scure/bip39` would add a hundred to the start. */
const seedOf = (mnemonic: string) => pbkdf2Sync(mnemonic.normalize("NFKD"), "mnemonic", 2048, 64, "sha512")

const none: NetworkWallets = { accountOf: () => Option.none(), relayerKey: Option.none() }

const make = (mnemonic: string): NetworkWallets => {
  // Derived at the first use of a key: the curve's tables take a sixth of the start.
  let root: HDKey | undefined
  const rootKey = () => {
    root ??= HDKey.fromMasterSeed(seedOf(mnemonic))
    return root
  }
  // Derivation takes a millisecond, and a deployment's agents are used again and again.
  const accounts = new BoundedMap<number, HDAccount>(10_000)
  return {
    accountOf: (index) => {
      const cached = accounts.get(index)
      if (cached !== undefined) return Option.some(cached)
      const account = hdKeyToAccount(rootKey(), { addressIndex: index })
      accounts.set(index, account)
      return Option.some(account)
    },
    relayerKey: Option.some(() =>
      // A key derived from a seed always has its private half.
      Option.getOrThrow(
        Option.fromNullishOr(hdKeyToAccount(rootKey(), { accountIndex: 1 }).getHdKey().privateKey)
      )
    )
  }
}

export class DerivedWallets extends Context.Service<
  DerivedWallets,
  {
    /** BIP-44 `m/44'/60'/0'/0/{index}`; none while no matching mnemonic is configured. */
    readonly accountOf: (env: Env, index: number) => Option.Option<HDAccount>
    /** Derives the private key of `m/44'/60'/1'/0/0`. */
    readonly relayerKey: (env: Env) => Option.Option<() => Uint8Array>
    /**
     * The environment whose mnemonic these come from: its own. A closed network, on which no wallet moves anything,
     * borrows the addresses of its agents from the network with the faucet until it has a mnemonic.
     */
    readonly sourceOf: (env: Env) => Env
    /** The setting of that mnemonic. */
    readonly settingOf: (env: Env) => Network["wallets"]["setting"]
  }
>()("quittance/chain/DerivedWallets") {
  static readonly layer: Layer.Layer<DerivedWallets, never, AppConfig> = Layer.effect(
    DerivedWallets,
    Effect.gen(function* () {
      const { walletMnemonics } = yield* AppConfig
      const { executes } = yield* Networks
      const matches = yield* MnemonicMatches
      const wallets = byEnv((env) =>
        Option.match(matches[env] ? walletMnemonics[env] : Option.none(), {
          onNone: () => none,
          onSome: (mnemonic) => make(Redacted.value(mnemonic))
        })
      )
      const sourceOf = (env: Env) =>
        executes(env) || Option.isSome(walletMnemonics[env]) ? env : faucetNetwork.env
      return DerivedWallets.of({
        accountOf: (env, index) => wallets[sourceOf(env)].accountOf(index),
        relayerKey: (env) => wallets[sourceOf(env)].relayerKey,
        sourceOf,
        settingOf: (env) => networks[sourceOf(env)].wallets.setting
      })
    })
  )
}
