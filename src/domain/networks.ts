// Every fact about every chain, in one table. Other files of `src` read it, or `Networks` for what the operator opened.
// Browser code reads it too, so only types are imported here. docs/CONTRIBUTING.md lists the steps to add a network.
import type { Address, Env } from "./Chain.ts"
import type { Finality, SettlementLevels } from "./Finality.ts"

export type ChainId = 84532 | 42161

export type RelayBound = "merchant" | "payer" | "total"

export interface Network {
  readonly env: Env
  readonly chainId: ChainId
  readonly name: string
  /** The network's name in x402: version 2 uses CAIP-2, version 1 has names, but none for Arbitrum. */
  readonly x402: { readonly 1?: string; readonly 2: `eip155:${ChainId}` }
  readonly explorerUrl: string
  readonly usdc: {
    readonly address: Address
    readonly symbol: "USDC"
    readonly decimals: 6
    /** EIP-712 domain of the token contract, needed for EIP-3009 and checked at start. */
    readonly domainName: string
    readonly domainVersion: "2"
  }
  /** Tokens with USDC's decimals that buyers mistake for USDC. They settle nothing, but are shown. */
  readonly otherTokens: ReadonlyArray<{ readonly address: Address; readonly symbol: string }>
  /** The setting with the network's nodes, and the public node used without it. */
  readonly nodes: { readonly setting: string; readonly default: ReadonlyArray<string> }
  /**
   * The setting with the mnemonic of the service's own wallets on this network: its relayer and its agents.
   * No two networks share one, because a wallet's nonces are stored by its address.
   */
  readonly wallets: { readonly setting: "AGENT_WALLET_MNEMONIC" | "LIVE_WALLET_MNEMONIC" }
  /** Blocks on top of a transfer's block before it counts; the operator can change this. */
  readonly confirmations: number
  /**
   * The levels at which transfers settle, ascending. A level accepts amounts up to its limit (whole USDC; the operator
   * can change it), and the last accepts all others. `seconds`: about how long a block takes to reach the level.
   */
  readonly finalityLevels: ReadonlyArray<{
    readonly finality: Finality
    readonly limit?: { readonly setting: string; readonly default: number }
    readonly seconds: number
  }>
  /**
   * The time for which a settled transfer is watched: a number of blocks (the operator can change it), or until it is
   * final.
   */
  readonly finalityRule: { readonly blocks: number } | "finalized"
  readonly blockMillis: number
  /** Milliseconds between two reads of the head, while a payment is expected and otherwise. */
  readonly pollMillis: { readonly awaited: number; readonly idle: number }
  /** True if blocks near the head are read singly, by their hashes. A fast chain's are read in ranges. */
  readonly readsHeadByHash: boolean
  /** Blocks per `eth_getLogs`; halved while nodes refuse the range. */
  readonly logRange: bigint
  /**
   * Additional gas on every limit, if a transaction's gas includes its posting to the parent chain. Unused gas is not
   * paid.
   */
  readonly postingGas: bigint
  /** The contract that estimates the parent chain's fee, if that is charged in addition to gas (OP stack). */
  readonly l1FeeOracle?: Address
  /**
   * The maximum wei that relaying may cost in any 24 hours: per merchant, per payer and in total. Each
   * network has its own settings, because its ether has its own value.
   */
  readonly relayWei: { readonly [B in RelayBound]: { readonly setting: string; readonly default: bigint } }
  /**
   * True if the network's money is worthless: it changes the pages' texts and colours, and which role, password and
   * wait an action needs. The opposite of `livemode`.
   */
  readonly isTest: boolean
  /** True if the service gives out test funds on the network. */
  readonly faucet: boolean
  /** The codes of a report that the chain has not decided yet, and of one that does not match. */
  readonly reportCodes: {
    readonly pending: "TEST_SETTLEMENT_PENDING" | "SETTLEMENT_PENDING"
    readonly mismatch: "TEST_SETTLEMENT_MISMATCH" | "SETTLEMENT_MISMATCH"
  }
  /** `open`, or the setting that opens the network. A closed network only records reports. */
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
    otherTokens: [],
    nodes: { setting: "BASE_SEPOLIA_RPC_URLS", default: ["https://sepolia.base.org"] },
    wallets: { setting: "AGENT_WALLET_MNEMONIC" },
    confirmations: 1,
    finalityLevels: [{ finality: "confirmed", seconds: 4 }],
    finalityRule: { blocks: 64 },
    blockMillis: 2_000,
    pollMillis: { awaited: 1_000, idle: 5_000 },
    readsHeadByHash: true,
    logRange: 1_000n,
    postingGas: 0n,
    l1FeeOracle: addressOf("0x420000000000000000000000000000000000000F"),
    relayWei: {
      merchant: { setting: "RELAY_WEI_PER_MERCHANT", default: 50_000_000_000_000_000n },
      payer: { setting: "RELAY_WEI_PER_PAYER", default: 10_000_000_000_000_000n },
      total: { setting: "RELAY_WEI_TOTAL", default: 100_000_000_000_000_000n }
    },
    isTest: true,
    faucet: true,
    reportCodes: { pending: "TEST_SETTLEMENT_PENDING", mismatch: "TEST_SETTLEMENT_MISMATCH" },
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
    otherTokens: [{ address: addressOf("0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8"), symbol: "USDC.e" }],
    nodes: { setting: "ARBITRUM_RPC_URLS", default: ["https://arb1.arbitrum.io/rpc"] },
    wallets: { setting: "LIVE_WALLET_MNEMONIC" },
    confirmations: 1,
    finalityLevels: [
      { finality: "included", limit: { setting: "LIVE_FAST_LIMIT", default: 100 }, seconds: 2 },
      { finality: "safe", limit: { setting: "LIVE_SAFE_LIMIT", default: 10_000 }, seconds: 600 },
      { finality: "finalized", seconds: 1_200 }
    ],
    finalityRule: "finalized",
    blockMillis: 250,
    pollMillis: { awaited: 3_000, idle: 17_500 },
    readsHeadByHash: false,
    logRange: 1_000n,
    postingGas: 500_000n,
    relayWei: {
      merchant: { setting: "LIVE_RELAY_WEI_PER_MERCHANT", default: 10_000_000_000_000_000n },
      payer: { setting: "LIVE_RELAY_WEI_PER_PAYER", default: 1_000_000_000_000_000n },
      total: { setting: "LIVE_RELAY_WEI_TOTAL", default: 30_000_000_000_000_000n }
    },
    isTest: false,
    faucet: false,
    reportCodes: { pending: "SETTLEMENT_PENDING", mismatch: "SETTLEMENT_MISMATCH" },
    execution: "MAINNET"
  }
}

/** The names of all environments, test first. */
export const envs: ReadonlyArray<Env> = Object.values(networks).map(({ env }) => env)
export const isEnv = (text: string | undefined): text is Env => envs.some((env) => env === text)

/** Creates a record with a value for each environment. */
export const byEnv = <A>(valueOf: (env: Env) => A): { readonly [E in Env]: A } => ({
  test: valueOf("test"),
  live: valueOf("live")
})

/** The levels with the operator's limits in whole USDC, or the table's. */
export const settlementLevelsOf = (
  { finalityLevels }: Network,
  limitOf: (setting: string) => number | undefined = () => undefined
): SettlementLevels =>
  finalityLevels.map(({ finality, limit, seconds }) => ({
    finality,
    seconds,
    upTo: limit === undefined ? null : BigInt(limitOf(limit.setting) ?? limit.default) * 1_000_000n
  }))

/** The relaying budgets: the operator's, or the table's. */
export const relayWeiOf = (
  { relayWei: { merchant, payer, total } }: Network,
  weiOf: (setting: string) => bigint | undefined
): { readonly [B in RelayBound]: bigint } => ({
  merchant: weiOf(merchant.setting) ?? merchant.default,
  payer: weiOf(payer.setting) ?? payer.default,
  total: weiOf(total.setting) ?? total.default
})

/** The number of blocks that a network makes in this many milliseconds. */
export const blocksIn = (env: Env, millis: number): bigint =>
  BigInt(Math.ceil(millis / networks[env].blockMillis))

/** True if nodes tag blocks as `safe` and `finalized`, and these tags decide. */
export const hasTags = ({ finalityRule }: Network): boolean => finalityRule === "finalized"

export const isTest = (env: Env): boolean => networks[env].isTest
export const hasFaucet = (env: Env): boolean => networks[env].faucet

/** The network with the faucet. Development and the public test pages use only this network. */
export const faucetNetwork = networks.test
