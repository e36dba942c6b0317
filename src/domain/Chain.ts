// The chains, the token on each, and the identifiers that appear on them.
import { Schema } from "effect"

/** `test` settles on Base Sepolia; `live` is Arbitrum One, whose execution is gated. */
export const Env = Schema.Literals(["test", "live"])
export type Env = typeof Env.Type

const isHex = (text: string): text is `0x${string}` => text.startsWith("0x")

/** An address in its canonical EIP-55 spelling, so that two equal addresses are equal strings. */
export const Address = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u, { message: "an address: 0x and 40 hex digits" }).abort()
).pipe(Schema.refine(isHex), Schema.brand("Address"))
export type Address = typeof Address.Type

/** A transaction hash: 0x and 64 lower-case hex digits. */
export const TransactionHash = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-f]{64}$/u, { message: "a transaction hash: 0x and 64 hex digits" }).abort()
).pipe(Schema.refine(isHex), Schema.brand("TransactionHash"))
export type TransactionHash = typeof TransactionHash.Type

export const ChainId = Schema.Literals([84532, 42161])
export type ChainId = typeof ChainId.Type

export interface Network {
  readonly env: Env
  readonly chainId: ChainId
  readonly name: string
  readonly explorerUrl: string
  readonly usdc: {
    readonly address: Address
    readonly symbol: "USDC"
    readonly decimals: 6
    /** EIP-712 domain of the token contract, needed for EIP-3009 and checked at start. */
    readonly domainName: string
    readonly domainVersion: "2"
  }
}

/** The fixed table from environment to chain and token (docs/contract.md 1 and 2.1). */
export const networks: { readonly [E in Env]: Network } = {
  test: {
    env: "test",
    chainId: 84532,
    name: "Base Sepolia",
    explorerUrl: "https://sepolia.basescan.org",
    usdc: {
      address: Address.make("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
      symbol: "USDC",
      decimals: 6,
      domainName: "USDC",
      domainVersion: "2"
    }
  },
  live: {
    env: "live",
    chainId: 42161,
    name: "Arbitrum One",
    explorerUrl: "https://arbiscan.io",
    usdc: {
      address: Address.make("0xaf88d065e77c8cC2239327C5EDb3A432268e5831"),
      symbol: "USDC",
      decimals: 6,
      domainName: "USD Coin",
      domainVersion: "2"
    }
  }
}
