// The interface of agents' storage, and the guarantees of a reservation.
import type { Effect, Option } from "effect"
import type { Agent, AgentId, AgentPayment, Allowance } from "../../../domain/Agent.ts"
import type { Address, Env, TransactionHash } from "../../../domain/Chain.ts"
import type { MerchantId } from "../../../domain/Merchant.ts"
import type { AtomicUsdc } from "../../../domain/Money.ts"
import type { NewKey } from "../../../merchants/keys/KeyAuth/KeyRepo.ts"

export interface NewAgent {
  readonly id: AgentId
  readonly merchantId: MerchantId
  readonly env: Env
  readonly name: string
  readonly capPerPayment: AtomicUsdc
  readonly capPerDay: AtomicUsdc
  readonly allowedHosts: ReadonlyArray<string> | null
  readonly allowedPayees: ReadonlyArray<Address> | null
}

/** An agent's editable settings. */
export type AgentLimits = Pick<
  NewAgent,
  "name" | "capPerPayment" | "capPerDay" | "allowedHosts" | "allowedPayees"
>

export type AgentChange = Partial<AgentLimits> & { readonly status?: "active" | "paused" }

export type NewAgentPayment = Omit<AgentPayment, "agentId" | "status" | "transactionId"> & {
  /** The id of this service's payment whose x402 URL the resource is, if any. */
  readonly pays: string | null
  /** The resource's host, with its port. */
  readonly host: string
}

export interface AgentSummary {
  readonly agent: Agent
  readonly allowance: Allowance
}

/** The outcome of a reservation. */
export type SpendReservation =
  | { readonly _tag: "Reserved"; readonly payment: AgentPayment; readonly created: boolean }
  | { readonly _tag: "Inactive"; readonly status: "paused" | "revoked" }
  /** The agent's lists changed after the payment was judged; `agent` has the current lists. */
  | { readonly _tag: "ListsChanged"; readonly agent: Agent }
  | { readonly _tag: "Throttled"; readonly retryAfter: number }
  /** The agent's first payment at the host went to this payee. */
  | { readonly _tag: "OtherPayee"; readonly payee: Address }
  | {
      readonly _tag: "OverCap"
      readonly cap: "payment" | "day"
      readonly limit: bigint
      readonly spent: bigint
    }

export interface AgentStore {
  /** Inserts the agent with its key. Its address is derived from the wallet index of the new row. */
  readonly insert: (
    agent: NewAgent,
    key: NewKey,
    addressOf: (walletIndex: number) => Address,
    at: Date
  ) => Effect.Effect<Agent>
  readonly findByKey: (keyId: string) => Effect.Effect<Option.Option<Agent>>
  readonly find: (merchantId: MerchantId, env: Env, id: AgentId) => Effect.Effect<Option.Option<Agent>>
  readonly list: (merchantId: MerchantId, env: Env) => Effect.Effect<ReadonlyArray<Agent>>
  /** Like `find` or, without an id, `list`, with the amounts left of the caps for the last 24 hours. */
  readonly summaries: (
    merchantId: MerchantId,
    env: Env,
    at: Date,
    id?: AgentId
  ) => Effect.Effect<ReadonlyArray<AgentSummary>>
  /** Changes an agent that is not revoked, unless a value differs from `was`. */
  readonly change: (
    merchantId: MerchantId,
    id: AgentId,
    change: AgentChange,
    at: Date,
    was?: Partial<AgentLimits>
  ) => Effect.Effect<Option.Option<Agent>>
  /** Ends an agent and its key in one transaction. */
  readonly revoke: (merchantId: MerchantId, id: AgentId, at: Date) => Effect.Effect<boolean>
  /**
   * Reserves under the caps, or returns the request id's earlier reservation. A payment of this service is
   * signed with the nonce derived from it; while such an authorization may be used, or was used, it is
   * returned. Reserves nothing if the agent's lists changed after the payment was `judged`.
   */
  readonly reserve: (judged: Agent, payment: NewAgentPayment) => Effect.Effect<SpendReservation>
  readonly allowance: (agent: Agent, at: Date) => Effect.Effect<Allowance>
  readonly payments: (agentId: AgentId, limit: number) => Effect.Effect<ReadonlyArray<AgentPayment>>
  readonly findPayment: (agentId: AgentId, id: string) => Effect.Effect<Option.Option<AgentPayment>>
  /** Leases reservations that are due for a check against the chain. */
  readonly takeDue: (
    env: Env,
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<{ readonly payment: AgentPayment; readonly agent: Agent }>>
  readonly checkAgain: (id: string, at: Date) => Effect.Effect<void>
  /** Ends a reservation; an ended reservation stays unchanged. */
  readonly finish: (
    id: string,
    status: "used" | "expired" | "released",
    transactionId: TransactionHash | null,
    at: Date
  ) => Effect.Effect<void>
}
