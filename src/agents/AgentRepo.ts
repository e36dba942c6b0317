// The SQL of agents. An amount is reserved under the agent's row lock, so that no number of
// instances overshoots a cap, and stays reserved until the chain has ended its authorization.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, HashBytes, toBytes } from "../chain/ChainBytes.ts"
import {
  type Agent,
  AgentId,
  type AgentPayment,
  AgentPaymentStatus,
  AgentStatus,
  type Allowance
} from "../domain/Agent.ts"
import { authorizationNonceOf } from "../domain/authorizationNonce.ts"
import { Address, Env, TransactionHash } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"
import { AtomicUsdc } from "../domain/Money.ts"
import type { NewKey } from "../keys/KeyAuth/KeyRepo.ts"
import { withFaultPoints } from "../workers/FaultPoints.ts"

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

/**
 * The index of a wallet that is made now: the seconds since 2026. One that was lost with a database restored
 * from an older copy is not given again, with what its wallet holds, and is found by the time it was made.
 */
const walletIndexAt = (at: Date) => Math.floor((at.getTime() - Date.UTC(2026, 0, 1)) / 1000)

export type AgentChange = Partial<
  Pick<NewAgent, "name" | "capPerPayment" | "capPerDay" | "allowedHosts" | "allowedPayees">
> & { readonly status?: "active" | "paused" }

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

/** What a reservation came to. */
export type SpendReservation =
  | { readonly _tag: "Reserved"; readonly payment: AgentPayment; readonly created: boolean }
  | { readonly _tag: "Inactive"; readonly status: "paused" | "revoked" }
  | { readonly _tag: "Throttled"; readonly retryAfter: number }
  /** The agent's first payment at the host went to this payee. */
  | { readonly _tag: "OtherPayee"; readonly payee: Address }
  | {
      readonly _tag: "OverCap"
      readonly cap: "payment" | "day"
      readonly limit: bigint
      readonly spent: bigint
    }

const AgentRow = Schema.Struct({
  id: AgentId,
  merchant_id: MerchantId,
  env: Env,
  name: Schema.String,
  wallet_index: Schema.Int,
  address: AddressBytes,
  key_id: Schema.String,
  last_four: Schema.String,
  cap_per_payment: Schema.BigIntFromString,
  cap_per_day: Schema.BigIntFromString,
  allowed_hosts: Schema.NullOr(Schema.Array(Schema.String)),
  allowed_payees: Schema.NullOr(Schema.Array(Address)),
  status: AgentStatus,
  created_at: Schema.Date
})
const AgentPaymentRow = Schema.Struct({
  id: Schema.String,
  agent_id: AgentId,
  request_id: Schema.String,
  request_hash: Schema.Uint8Array,
  status: AgentPaymentStatus,
  x402_version: Schema.Literals([1, 2]),
  resource: Schema.String,
  requirements: Schema.String,
  pay_to: AddressBytes,
  amount: Schema.BigIntFromString,
  valid_after: Schema.BigInt,
  valid_before: Schema.BigInt,
  nonce: HashBytes,
  transaction_id: Schema.NullOr(HashBytes),
  created_at: Schema.Date
})
const UsageRow = Schema.Struct({
  spent: Schema.BigIntFromString,
  recent: Schema.Int,
  oldest: Schema.NullOr(Schema.Date)
})

const AgentSummaryRow = Schema.Struct({ ...AgentRow.fields, spent: Schema.BigIntFromString })

const decodeSummaries = Schema.decodeUnknownEffect(Schema.Array(AgentSummaryRow))
const decodeAgents = Schema.decodeUnknownEffect(Schema.Array(AgentRow))
const decodePayments = Schema.decodeUnknownEffect(Schema.Array(AgentPaymentRow))
const decodeUsage = Schema.decodeUnknownEffect(UsageRow)
const decodePayee = Schema.decodeUnknownEffect(Schema.Struct({ pay_to: AddressBytes }))
const decodeIndex = Schema.decodeUnknownEffect(Schema.Struct({ wallet_index: Schema.Int }))

const toAgent = (row: typeof AgentRow.Type): Agent => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  name: row.name,
  walletIndex: row.wallet_index,
  address: row.address,
  keyId: row.key_id,
  keyLastFour: row.last_four,
  capPerPayment: AtomicUsdc.make(row.cap_per_payment),
  capPerDay: AtomicUsdc.make(row.cap_per_day),
  allowedHosts: row.allowed_hosts,
  allowedPayees: row.allowed_payees,
  status: row.status,
  createdAt: row.created_at
})

const allowanceOf = (agent: Agent, spent: bigint): Allowance => ({
  spent,
  remaining: spent >= agent.capPerDay ? 0n : agent.capPerDay - spent
})

const toPayment = (row: typeof AgentPaymentRow.Type): AgentPayment => ({
  id: row.id,
  agentId: row.agent_id,
  requestId: row.request_id,
  requestHash: row.request_hash,
  status: row.status,
  x402Version: row.x402_version,
  resource: row.resource,
  requirements: row.requirements,
  payTo: row.pay_to,
  amount: AtomicUsdc.make(row.amount),
  validAfter: row.valid_after,
  validBefore: row.valid_before,
  nonce: row.nonce,
  transactionId: row.transaction_id,
  createdAt: row.created_at
})

/**
 * An authorization may be used until its time is over, 10 minutes after it was signed at most: so
 * that no 24 hours of the chain see more than the cap, it counts for as much longer.
 */
const countedMillis = 24 * 3_600_000 + 600_000
const minuteMillis = 60_000
/** Signatures of one agent in any minute. */
const signaturesPerMinute = 60

export class AgentRepo extends Context.Service<
  AgentRepo,
  {
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
    /** As `find` or, without an id, `list`, with what the last 24 hours leave of the caps. */
    readonly summaries: (
      merchantId: MerchantId,
      env: Env,
      at: Date,
      id?: AgentId
    ) => Effect.Effect<ReadonlyArray<AgentSummary>>
    /** Changes an agent that is not revoked. */
    readonly change: (
      merchantId: MerchantId,
      id: AgentId,
      change: AgentChange,
      at: Date
    ) => Effect.Effect<Option.Option<Agent>>
    /** Ends an agent and its key in one transaction. */
    readonly revoke: (merchantId: MerchantId, id: AgentId, at: Date) => Effect.Effect<boolean>
    /**
     * Reserves under the caps, or answers what the request id reserved before. A payment of this
     * service is signed for under the nonce that follows from it: while an authorization for it may
     * be used, or was, that one is answered.
     */
    readonly reserve: (agentId: AgentId, payment: NewAgentPayment) => Effect.Effect<SpendReservation>
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
>()("quittance/agents/AgentRepo") {
  static readonly layer: Layer.Layer<AgentRepo, never, SqlClient.SqlClient> = Layer.effect(
    AgentRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const agentColumns = sql`a.id, a.merchant_id, a.env, a.name, a.wallet_index, a.address, a.key_id, k.last_four,
        a.cap_per_payment::text AS cap_per_payment, a.cap_per_day::text AS cap_per_day,
        a.allowed_hosts, a.allowed_payees, a.status, a.created_at`
      const agents = (rows: ReadonlyArray<unknown>) =>
        Effect.map(decodeAgents(rows), (all) => all.map(toAgent))
      const paymentColumns = sql`id, agent_id, request_id, request_hash, status, x402_version, resource, requirements,
        pay_to, amount::text AS amount, valid_after, valid_before, nonce, transaction_id, created_at`
      const payments = (rows: ReadonlyArray<unknown>) =>
        Effect.map(decodePayments(rows), (all) => all.map(toPayment))
      const first = <A>([one]: ReadonlyArray<A>) => Option.fromNullishOr(one)

      const find = Effect.fn("AgentRepo.find")(function* (merchantId: MerchantId, env: Env, id: AgentId) {
        const rows = yield* sql`
          SELECT ${agentColumns} FROM agents a JOIN api_keys k ON k.id = a.key_id
          WHERE a.id = ${id} AND a.merchant_id = ${merchantId} AND a.env = ${env}`
        return first(yield* agents(rows))
      }, Effect.orDie)

      /** Of payments `p`: what counts against the day's cap at this moment; null for none. */
      const spentSince = (at: Date) => sql`sum(p.amount) FILTER (WHERE p.status = 'reserved'
        OR (p.status = 'used' AND p.created_at > ${new Date(at.getTime() - countedMillis)}))`
      const countedSince = (at: Date) =>
        sql`(p.status = 'reserved' OR p.created_at > ${new Date(at.getTime() - countedMillis)})`

      const usage = Effect.fnUntraced(function* (agentId: AgentId, at: Date) {
        const [row] = yield* sql`
          SELECT coalesce(${spentSince(at)}, 0)::text AS spent,
            (count(*) FILTER (WHERE created_at > ${new Date(at.getTime() - minuteMillis)}))::int AS recent,
            min(created_at) FILTER (WHERE created_at > ${new Date(at.getTime() - minuteMillis)}) AS oldest
          FROM agent_payments p WHERE agent_id = ${agentId} AND ${countedSince(at)}`
        return yield* decodeUsage(row)
      })

      /**
       * Of a payment of this service that is asked for as it is: the agent's authorization for it that
       * counts, or else the nonce of the next one. Under the agent's row lock.
       */
      const ownPayment = Effect.fnUntraced(function* (
        agent: Agent,
        { amount, payTo, pays }: NewAgentPayment
      ) {
        if (pays === null) return undefined
        const asked = yield* sql`
          SELECT 1 FROM payments WHERE id = ${pays} AND env = ${agent.env}
            AND receiver = ${toBytes(payTo)} AND amount = ${amount.toString()}::numeric`
        if (asked.length === 0) return undefined
        const earlier = yield* Effect.flatMap(
          sql`SELECT ${paymentColumns} FROM agent_payments WHERE agent_id = ${agent.id} AND payment_id = ${pays}`,
          payments
        )
        const cancelled = earlier.filter(({ status }) => status === "released").length
        return {
          live: earlier.find(({ status }) => status === "reserved" || status === "used"),
          nonce: TransactionHash.make(authorizationNonceOf(pays, cancelled))
        }
      })

      /** Whom the agent pays at a host: who was paid there first. Under the agent's row lock. */
      const payeeAt = Effect.fnUntraced(function* (
        agent: Agent,
        { createdAt, host, payTo }: NewAgentPayment
      ) {
        yield* sql`
          INSERT INTO agent_payees (agent_id, host, pay_to, created_at)
          VALUES (${agent.id}, ${host}, ${toBytes(payTo)}, ${createdAt})
          ON CONFLICT (agent_id, host) DO NOTHING`
        const [row] = yield* sql`
          SELECT pay_to FROM agent_payees WHERE agent_id = ${agent.id} AND host = ${host}`
        return (yield* decodePayee(row)).pay_to
      })

      const reserve = Effect.fn("AgentRepo.reserve")(function* (agentId: AgentId, input: NewAgentPayment) {
        return yield* sql.withTransaction(
          Effect.gen(function* (): Effect.fn.Return<SpendReservation, unknown> {
            const [agent] = yield* Effect.flatMap(
              sql`
                SELECT ${agentColumns} FROM agents a JOIN api_keys k ON k.id = a.key_id
                WHERE a.id = ${agentId} FOR UPDATE OF a`,
              agents
            )
            if (agent === undefined) return { _tag: "Inactive", status: "revoked" }
            if (agent.status !== "active") return { _tag: "Inactive", status: agent.status }
            const [known] = yield* Effect.flatMap(
              sql`
                SELECT ${paymentColumns} FROM agent_payments
                WHERE agent_id = ${agentId} AND request_id = ${input.requestId}`,
              payments
            )
            if (known !== undefined) return { _tag: "Reserved", payment: known, created: false }
            const own = yield* ownPayment(agent, input)
            if (own !== undefined && own.live !== undefined)
              return { _tag: "Reserved", payment: own.live, created: false }
            const { spent, recent, oldest } = yield* usage(agentId, input.createdAt)
            if (recent >= signaturesPerMinute && oldest !== null) {
              const free = oldest.getTime() + minuteMillis - input.createdAt.getTime()
              return { _tag: "Throttled", retryAfter: Math.max(1, Math.ceil(free / 1000)) }
            }
            if (input.amount > agent.capPerPayment)
              return { _tag: "OverCap", cap: "payment", limit: agent.capPerPayment, spent }
            if (spent + input.amount > agent.capPerDay)
              return { _tag: "OverCap", cap: "day", limit: agent.capPerDay, spent }
            if (own === undefined && agent.allowedHosts !== null && agent.allowedPayees === null) {
              const payee = yield* payeeAt(agent, input)
              if (payee !== input.payTo) return { _tag: "OtherPayee", payee }
            }
            const [payment] = yield* Effect.flatMap(
              sql`
                INSERT INTO agent_payments
                  (id, agent_id, request_id, request_hash, status, x402_version, resource, requirements, pay_to, amount,
                   valid_after, valid_before, nonce, payment_id, created_at, next_look_at)
                VALUES (${input.id}, ${agentId}, ${input.requestId}, ${input.requestHash}, 'reserved',
                  ${input.x402Version}, ${input.resource}, ${input.requirements}, ${toBytes(input.payTo)},
                  ${input.amount.toString()}::numeric, ${input.validAfter.toString()}::bigint,
                  ${input.validBefore.toString()}::bigint, ${toBytes(own?.nonce ?? input.nonce)}, ${own === undefined ? null : input.pays}, ${input.createdAt},
                  ${new Date(input.createdAt.getTime() + firstCheckMillis)})
                RETURNING ${paymentColumns}`,
              payments
            )
            if (payment === undefined) return yield* Effect.die(new Error("No row was returned"))
            return { _tag: "Reserved", payment, created: true }
          })
        )
      }, Effect.orDie)

      return AgentRepo.of({
        insert: Effect.fn("AgentRepo.insert")(function* (agent, key, addressOf, at) {
          yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`
                INSERT INTO api_keys (id, merchant_id, kind, env, permission, hash, prefix, last_four, created_at)
                VALUES (${key.id}, ${agent.merchantId}, ${key.kind}, ${key.env}, ${key.permission}, ${key.hash},
                  ${key.prefix}, ${key.lastFour}, ${at})`
              // One at a time, so that each has an index of its own.
              yield* sql`SELECT pg_advisory_xact_lock(hashtext('agents.wallet_index'))`
              const [row] = yield* sql`
                INSERT INTO agents (wallet_index, id, merchant_id, env, name, key_id, cap_per_payment, cap_per_day,
                  allowed_hosts, allowed_payees, status, created_at, updated_at)
                OVERRIDING SYSTEM VALUE
                VALUES (greatest(${walletIndexAt(at)}::integer, (SELECT coalesce(max(wallet_index), 0) + 1 FROM agents)),
                  ${agent.id}, ${agent.merchantId}, ${agent.env}, ${agent.name}, ${key.id},
                  ${agent.capPerPayment.toString()}::numeric, ${agent.capPerDay.toString()}::numeric,
                  ${agent.allowedHosts}::text[], ${agent.allowedPayees}::text[], 'active',
                  ${at}, ${at})
                RETURNING wallet_index`
              const { wallet_index } = yield* decodeIndex(row)
              yield* sql`UPDATE agents SET address = ${toBytes(addressOf(wallet_index))} WHERE id = ${agent.id}`
            })
          )
          const made = yield* find(agent.merchantId, agent.env, agent.id)
          return yield* Effect.fromOption(made).pipe(Effect.orDie)
        }, Effect.orDie),

        findByKey: Effect.fn("AgentRepo.findByKey")(function* (keyId) {
          const rows = yield* sql`
            SELECT ${agentColumns} FROM agents a JOIN api_keys k ON k.id = a.key_id WHERE a.key_id = ${keyId}`
          return first(yield* agents(rows))
        }, Effect.orDie),

        find,

        list: Effect.fn("AgentRepo.list")(function* (merchantId, env) {
          const rows = yield* sql`
            SELECT ${agentColumns} FROM agents a JOIN api_keys k ON k.id = a.key_id
            WHERE a.merchant_id = ${merchantId} AND a.env = ${env} ORDER BY a.created_at DESC, a.id DESC`
          return yield* agents(rows)
        }, Effect.orDie),

        summaries: Effect.fn("AgentRepo.summaries")(function* (merchantId, env, at, id) {
          const rows = yield* sql`
            SELECT ${agentColumns}, coalesce(u.spent, 0)::text AS spent
            FROM agents a JOIN api_keys k ON k.id = a.key_id
            CROSS JOIN LATERAL (SELECT ${spentSince(at)} AS spent FROM agent_payments p
              WHERE p.agent_id = a.id AND ${countedSince(at)}) u
            WHERE a.merchant_id = ${merchantId} AND a.env = ${env} ${id === undefined ? sql`` : sql`AND a.id = ${id}`}
            ORDER BY a.created_at DESC, a.id DESC`
          return (yield* decodeSummaries(rows)).map((row) => {
            const agent = toAgent(row)
            return { agent, allowance: allowanceOf(agent, row.spent) }
          })
        }, Effect.orDie),

        change: Effect.fn("AgentRepo.change")(function* (merchantId, id, change, at) {
          const hosts = change.allowedHosts
          const payees = change.allowedPayees
          const rows = yield* sql`
            UPDATE agents a SET
              name = coalesce(${change.name ?? null}::text, a.name),
              cap_per_payment = coalesce(${change.capPerPayment?.toString() ?? null}::numeric, a.cap_per_payment),
              cap_per_day = coalesce(${change.capPerDay?.toString() ?? null}::numeric, a.cap_per_day),
              allowed_hosts = CASE WHEN ${hosts === undefined} THEN a.allowed_hosts ELSE ${hosts ?? null}::text[] END,
              allowed_payees = CASE WHEN ${payees === undefined} THEN a.allowed_payees
                ELSE ${payees ?? null}::text[] END,
              status = coalesce(${change.status ?? null}::text, a.status),
              updated_at = ${at}
            FROM api_keys k
            WHERE k.id = a.key_id AND a.id = ${id} AND a.merchant_id = ${merchantId} AND a.status <> 'revoked'
            RETURNING ${agentColumns}`
          return first(yield* agents(rows))
        }, Effect.orDie),

        revoke: Effect.fn("AgentRepo.revoke")(function* (merchantId, id, at) {
          const rows = yield* sql`
            WITH ended AS (
              UPDATE agents SET status = 'revoked', updated_at = ${at}
              WHERE id = ${id} AND merchant_id = ${merchantId} AND status <> 'revoked'
              RETURNING key_id
            )
            UPDATE api_keys SET revoked_at = ${at} WHERE id IN (SELECT key_id FROM ended) AND revoked_at IS NULL
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        reserve,

        allowance: Effect.fn("AgentRepo.allowance")(function* (agent, at) {
          const { spent } = yield* usage(agent.id, at)
          return allowanceOf(agent, spent)
        }, Effect.orDie),

        payments: Effect.fn("AgentRepo.payments")(function* (agentId, limit) {
          const rows = yield* sql`
            SELECT ${paymentColumns} FROM agent_payments WHERE agent_id = ${agentId}
            ORDER BY created_at DESC LIMIT ${limit}`
          return yield* payments(rows)
        }, Effect.orDie),

        findPayment: Effect.fn("AgentRepo.findPayment")(function* (agentId, id) {
          const rows = yield* sql`
            SELECT ${paymentColumns} FROM agent_payments WHERE id = ${id} AND agent_id = ${agentId}`
          return first(yield* payments(rows))
        }, Effect.orDie),

        takeDue: Effect.fn("AgentRepo.takeDue")(function* (at, leaseUntil, limit) {
          const taken = yield* Effect.flatMap(
            sql`
              UPDATE agent_payments SET next_look_at = ${leaseUntil}
              WHERE id IN (
                SELECT id FROM agent_payments WHERE next_look_at <= ${at}
                ORDER BY next_look_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
              RETURNING ${paymentColumns}`,
            payments
          )
          if (taken.length === 0) return []
          const owners = yield* Effect.flatMap(
            sql`
              SELECT ${agentColumns} FROM agents a JOIN api_keys k ON k.id = a.key_id
              WHERE a.id = ANY(${[...new Set(taken.map(({ agentId }) => agentId))]}::uuid[])`,
            agents
          )
          const byId = new Map(owners.map((agent) => [agent.id, agent]))
          return taken.flatMap((payment) => {
            const agent = byId.get(payment.agentId)
            return agent === undefined ? [] : [{ payment, agent }]
          })
        }, Effect.orDie),

        checkAgain: Effect.fn("AgentRepo.checkAgain")(function* (id, at) {
          yield* sql`UPDATE agent_payments SET next_look_at = ${at} WHERE id = ${id} AND status = 'reserved'`
        }, Effect.orDie),

        finish: Effect.fn("AgentRepo.finish")(function* (id, status, transactionId, at) {
          yield* sql`
            UPDATE agent_payments SET status = ${status}, finished_at = ${at}, next_look_at = NULL,
              transaction_id = ${transactionId === null ? null : toBytes(transactionId)}
            WHERE id = ${id} AND status = 'reserved'`
        }, Effect.orDie)
      })
    }).pipe((make) => withFaultPoints("AgentRepo", make))
  )
}

/** When a reservation is first checked against the chain. */
const firstCheckMillis = 3_000
