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
  /** The payment of this service whose x402 address the resource is, if it is one. */
  readonly pays: string | null
  /** Host of the resource, with its port. */
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
  /** The lists that the payment was judged by are no longer the agent's; as it is now. */
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
  /** Inserts the agent with its key; its address is derived from the index that the row is given. */
  readonly insert: (
    agent: NewAgent,
    key: NewKey,
    addressOf: (walletIndex: number) => Address,
    at: Date
  ) => Effect.Effect<Agent>
  readonly findByKey: (keyId: string) => Effect.Effect<Option.Option<Agent>>
  readonly find: (merchantId: MerchantId, env: Env, id: AgentId) => Effect.Effect<Option.Option<Agent>>
  readonly list: (merchantId: MerchantId, env: Env) => Effect.Effect<ReadonlyArray<Agent>>
  /** Like `find` or, without an id, `list`, with what the last 24 hours leave of the caps. */
  readonly summaries: (
    merchantId: MerchantId,
    env: Env,
    at: Date,
    id?: AgentId
  ) => Effect.Effect<ReadonlyArray<AgentSummary>>
  /** Changes an agent that is not revoked, unless something is no longer as it `was`. */
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
   * Reserves under the caps, or answers what the request id reserved before. A payment of this
   * service is signed for under the nonce that follows from it: while an authorization for it may
   * be used, or was, that one is answered. Nothing where the lists of the agent, by which the payment
   * was `judged`, have changed.
   */
  readonly reserve: (judged: Agent, payment: NewAgentPayment) => Effect.Effect<SpendReservation>
  readonly allowance: (agent: Agent, at: Date) => Effect.Effect<Allowance>
  readonly payments: (agentId: AgentId, limit: number) => Effect.Effect<ReadonlyArray<AgentPayment>>
  readonly findPayment: (agentId: AgentId, id: string) => Effect.Effect<Option.Option<AgentPayment>>
  /** Takes reservations that are due for a check against the chain. */
  readonly takeDue: (
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<{ readonly payment: AgentPayment; readonly agent: Agent }>>
  readonly checkAgain: (id: string, at: Date) => Effect.Effect<void>
  /** Ends a reservation; one that has ended stays as it is. */
  readonly finish: (
    id: string,
    status: "used" | "expired" | "released",
    transactionId: TransactionHash | null,
    at: Date
  ) => Effect.Effect<void>
}
