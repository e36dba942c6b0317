// The checkout's information about the merchant, the network and the service.
import type { Env } from "../../domain/Chain.ts"
import { isEnv } from "../../domain/networks.ts"
import { at, textAt } from "./fields.ts"

export interface CheckoutContext {
  readonly merchant: {
    readonly name: string
    readonly logoUrl?: string
    readonly accentColor?: string
    readonly support?: string
  }
  readonly onrampUrl?: string
  /** The operator's WalletConnect project, if any. */
  readonly walletConnect?: { readonly projectId: string; readonly relayUrl: string }
  readonly env: Env
  /** False while the network accepts no payments. */
  readonly open: boolean
  /** The approximate time to settle, in seconds, by atomic amount; the last entry has no limit. */
  readonly settlement: ReadonlyArray<{ readonly upTo?: string; readonly seconds: number }>
  /** The service's time at its response, ISO 8601. */
  readonly now: string
  /** Milliseconds by which the service's clock is ahead of this one. */
  readonly skew: number
  /** How long a payment stays open without a transfer. */
  readonly paymentExpirySeconds: number
  /** `aud` of the buyer's token. */
  readonly audience: string
  /** The longest lifetime of a buyer's token; absent from earlier releases. */
  readonly tokenLifetimeSeconds?: number
  readonly chain: {
    readonly id: number
    readonly name: string
    /** Absent on a local chain. */
    readonly explorerUrl?: string
    readonly rpcUrl?: string
    /** The time of the chain's newest block, while the chain makes none. */
    readonly haltedSince?: string
  }
  readonly token: { readonly address: string; readonly symbol: string; readonly decimals: number }
  readonly faucet: { readonly enabled: boolean; readonly usdcAtomic: string }
}

const isSettlement = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(
    (level) =>
      typeof at(level, "seconds") === "number" &&
      (at(level, "upTo") === undefined || /^\d{1,30}$/.test(textAt(level, "upTo") ?? ""))
  )

export const isContext = (value: unknown): value is Omit<CheckoutContext, "skew"> =>
  typeof textAt(at(value, "merchant"), "name") === "string" &&
  isEnv(textAt(value, "env")) &&
  typeof at(value, "open") === "boolean" &&
  isSettlement(at(value, "settlement")) &&
  typeof textAt(value, "audience") === "string" &&
  ["number", "undefined"].includes(typeof at(value, "tokenLifetimeSeconds")) &&
  typeof textAt(value, "now") === "string" &&
  typeof at(value, "paymentExpirySeconds") === "number" &&
  typeof at(at(value, "chain"), "id") === "number" &&
  typeof textAt(at(value, "chain"), "name") === "string" &&
  ["string", "undefined"].includes(typeof at(at(value, "chain"), "explorerUrl")) &&
  ["string", "undefined"].includes(typeof at(at(value, "chain"), "haltedSince")) &&
  typeof textAt(at(value, "token"), "address") === "string" &&
  typeof textAt(at(value, "token"), "symbol") === "string" &&
  typeof at(at(value, "faucet"), "enabled") === "boolean" &&
  typeof textAt(at(value, "faucet"), "usdcAtomic") === "string"
