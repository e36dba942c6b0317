// Every fact about every chain, in one table. No other file of `src` compares an environment with a word: it asks
// the table, or `Networks` (src/platform/Networks.ts) for what the operator has opened. Browser code reads it too:
// only types are imported here.
//
// To add a network, add its word to `Env` (Chain.ts). `tsc` then names what is missing:
// - here: its row of `networks`, its line of `byEnv`, its `ChainId`;
// - its nodes and confirmations in `loadAppConfig` (src/platform/AppConfig.ts);
// - the receivers of merchants: `Merchant`, and whoever reads `receivers[env]`;
// - the client library's types, by their test.
// It does not name the first keys of a merchant (KeyAuth), the options of `cli merchant`, the columns `receiver_…` of
// `merchants` and the columns' CHECKs of the migration.
import type { Address, Env } from "./Chain.ts"

export type ChainId = 84532 | 42161

export interface Network {
  readonly env: Env
  readonly chainId: ChainId
  readonly name: string
  /** Its name in x402: version 2 uses CAIP-2, version 1 has words and none for Arbitrum. */
  readonly x402: { readonly 1?: string; readonly 2: string }
  readonly explorerUrl: string
  readonly usdc: {
    readonly address: Address
    readonly symbol: "USDC"
    readonly decimals: 6
    /** EIP-712 domain of the token contract, needed for EIP-3009 and checked at start. */
    readonly domainName: string
    readonly domainVersion: "2"
  }
  /** The variable that names its nodes, and the public node used without it. */
  readonly nodes: { readonly setting: string; readonly default: ReadonlyArray<string> }
  /** Blocks on top of a transfer's block before it counts, unless the operator sets others. */
  readonly confirmations: number
  /** Blocks for which a settled transfer is watched, unless the operator sets others. */
  readonly finalityDepth: number
  readonly blockMillis: number
  /** Blocks of one `eth_getLogs`; halved while nodes refuse it. */
  readonly logRange: bigint
  /** Whether its money is worthless: what pages say, and how they look. `livemode` is the opposite. */
  readonly isTest: boolean
  /** Whether the service gives test funds on it. */
  readonly faucet: boolean
  /** `open`, or the operator's setting that opens it; closed without it. A closed network records reports only. */
  readonly execution: "open" | "MAINNET"
}

const isAddress = (text: string): text is Address => /^0x[0-9a-fA-F]{40}$/.test(text)
const addressOf = (text: string): Address => {
  if (!isAddress(text)) throw new Error(`${text} is not an address`)
  return text
}

/** The fixed table from environment to chain and token (docs/contract.md 1 and 2.1). */
export const networks: { readonly [E in Env]: Network } = {
  test: {
    env: "test",
    chainId: 84532,
    name: "Base Sepolia",
    x402: { 1: "base-sepolia", 2: "eip155:84532" },
    explorerUrl: "https://sepolia.basescan.org",
    usdc: {
      address: addressOf("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
      symbol: "USDC",
      decimals: 6,
      domainName: "USDC",
      domainVersion: "2"
    },
    nodes: { setting: "BASE_SEPOLIA_RPC_URLS", default: ["https://sepolia.base.org"] },
    confirmations: 1,
    finalityDepth: 64,
    blockMillis: 2_000,
    logRange: 1_000n,
    isTest: true,
    faucet: true,
    execution: "open"
  },
  live: {
    env: "live",
    chainId: 42161,
    name: "Arbitrum One",
    x402: { 2: "eip155:42161" },
    explorerUrl: "https://arbiscan.io",
    usdc: {
      address: addressOf("0xaf88d065e77c8cC2239327C5EDb3A432268e5831"),
      symbol: "USDC",
      decimals: 6,
      domainName: "USD Coin",
      domainVersion: "2"
    },
    nodes: { setting: "ARBITRUM_RPC_URLS", default: ["https://arb1.arbitrum.io/rpc"] },
    confirmations: 1,
    finalityDepth: 64,
    blockMillis: 250,
    logRange: 1_000n,
    isTest: false,
    faucet: false,
    execution: "MAINNET"
  }
}

/** The words of all environments, test first. */
export const envs: ReadonlyArray<Env> = Object.values(networks).map(({ env }) => env)
export const isEnv = (text: string | undefined): text is Env => envs.some((env) => env === text)

/** A value for each environment: the way to make such a record. */
export const byEnv = <A>(of: (env: Env) => A): { readonly [E in Env]: A } => ({
  test: of("test"),
  live: of("live")
})

export const isTest = (env: Env): boolean => networks[env].isTest
/** Executes unless the operator closes it; what browser code knows of `executes` (src/platform/Networks.ts). */
export const isOpen = (env: Env): boolean => networks[env].execution === "open"
export const hasFaucet = (env: Env): boolean => networks[env].faucet

/** Where the service's own wallets send: the faucet, relayed authorizations and agents. Nowhere else, whatever executes. */
export const walletNetwork = networks.test
