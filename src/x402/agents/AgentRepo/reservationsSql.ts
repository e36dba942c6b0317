// Agents' spending in SQL. An amount is reserved under the agent's row lock, so that instances together never
// exceed a cap. It stays reserved until the chain has ended its authorization.

import { isDeepStrictEqual } from "node:util"
import { Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AddressBytes, toBytes } from "../../../chain/ChainBytes.ts"
import type { Agent, AgentId } from "../../../domain/Agent.ts"
import { authorizationNonceOf } from "../../../domain/authorizationNonce.ts"
import { type Address, TransactionHash } from "../../../domain/Chain.ts"
import { plusMillis } from "../../../domain/plusMillis.ts"
import { resourceHostOf } from "../chooseRequirement.ts"
import { agentColumns, allAgents, allowanceOf, allPayments, paymentColumns } from "./AgentRows.ts"
import type { AgentStore, NewAgentPayment, SpendReservation } from "./AgentStore.ts"
import { countedSince, spentSince } from "./spentSql.ts"

const decodeUsage = Schema.decodeUnknownEffect(
  Schema.Struct({
    spent: Schema.BigIntFromString,
    recent: Schema.Int,
    oldest: Schema.NullOr(Schema.Date)
  })
)
const decodePayee = Schema.decodeUnknownEffect(Schema.Struct({ pay_to: AddressBytes }))

const decodeResources = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ resource: Schema.String })))

/** The maximum number of URLs searched for a host. A payee with more keeps its hosts. */
const searchedResources = 1_000
const minuteMillis = 60_000
/** Signatures of one agent in any minute. */
const signaturesPerMinute = 60
/** The delay before a reservation is first checked against the chain. */
const firstCheckMillis = 3_000

const listsOf = ({ allowedHosts, allowedPayees }: Agent) => [allowedHosts, allowedPayees]

/** The part of AgentRepo that reserves under the caps. */
export const reservationsSql = (sql: SqlClient.SqlClient) => {
  const usage = Effect.fnUntraced(function* (agentId: AgentId, at: Date) {
    const [row] = yield* sql`
      SELECT coalesce(${spentSince(sql, at)}, 0)::text AS spent,
        (count(*) FILTER (WHERE created_at > ${plusMillis(at, -minuteMillis)}))::int AS recent,
        min(created_at) FILTER (WHERE created_at > ${plusMillis(at, -minuteMillis)}) AS oldest
      FROM agent_payments p WHERE agent_id = ${agentId} AND ${countedSince(sql, at)}`
    return yield* decodeUsage(row)
  })

  /**
   * For a payment of this service: the agent's valid authorization for it, or the nonce of the next
   * authorization. Runs under the agent's row lock.
   */
  const ownPayment = Effect.fnUntraced(function* (agent: Agent, { amount, payTo, pays }: NewAgentPayment) {
    if (pays === null) return undefined
    const rows = yield* sql`
      SELECT 1 FROM payments WHERE id = ${pays} AND env = ${agent.env}
        AND receiver = ${toBytes(payTo)} AND amount = ${amount.toString()}::numeric`
    if (rows.length === 0) return undefined
    const earlier = yield* Effect.flatMap(
      sql`SELECT ${sql.literal(paymentColumns)} FROM agent_payments WHERE agent_id = ${agent.id} AND payment_id = ${pays}`,
      allPayments
    )
    const cancelled = earlier.filter(({ status }) => status === "released").length
    return {
      live: earlier.find(({ status }) => status === "reserved" || status === "used"),
      nonce: TransactionHash.make(authorizationNonceOf(pays, cancelled))
    }
  })

  /** True if a payment to the payee at the host was made or may still be made. */
  const hasPaid = Effect.fnUntraced(function* (agent: Agent, host: string, payTo: Address) {
    const resources = yield* decodeResources(
      yield* sql`
        SELECT DISTINCT resource FROM agent_payments
        WHERE agent_id = ${agent.id} AND pay_to = ${toBytes(payTo)} AND status IN ('reserved', 'used')
        LIMIT ${searchedResources}`
    )
    return (
      resources.length === searchedResources ||
      resources.some(({ resource }) => Option.exists(resourceHostOf(resource), ({ owner }) => owner === host))
    )
  })

  /** The payee allowed at a host: the first payee paid there. Runs under the agent's row lock. */
  const payeeAt = Effect.fnUntraced(function* (agent: Agent, { createdAt, host, payTo }: NewAgentPayment) {
    yield* sql`
      INSERT INTO agent_payees (agent_id, host, pay_to, created_at)
      VALUES (${agent.id}, ${host}, ${toBytes(payTo)}, ${createdAt})
      ON CONFLICT (agent_id, host) DO NOTHING`
    const [row] = yield* sql`
      SELECT pay_to FROM agent_payees WHERE agent_id = ${agent.id} AND host = ${host}`
    const payee = (yield* decodePayee(row)).pay_to
    if (payee === payTo || (yield* hasPaid(agent, host, payee))) return payee
    yield* sql`
      UPDATE agent_payees SET pay_to = ${toBytes(payTo)}, created_at = ${createdAt}
      WHERE agent_id = ${agent.id} AND host = ${host}`
    return payTo
  })

  const reserve = Effect.fn("AgentRepo.reserve")(function* (judged: Agent, input: NewAgentPayment) {
    const agentId = judged.id
    return yield* sql.withTransaction(
      Effect.gen(function* (): Effect.fn.Return<SpendReservation, unknown> {
        const [agent] = yield* Effect.flatMap(
          sql`
            SELECT ${sql.literal(agentColumns)} FROM agents a JOIN api_keys k ON k.id = a.key_id
            WHERE a.id = ${agentId} FOR UPDATE OF a`,
          allAgents
        )
        if (agent === undefined) return { _tag: "Inactive", status: "revoked" }
        if (agent.status !== "active") return { _tag: "Inactive", status: agent.status }
        if (!isDeepStrictEqual(listsOf(agent), listsOf(judged))) return { _tag: "ListsChanged", agent }
        const [earlier] = yield* Effect.flatMap(
          sql`
            SELECT ${sql.literal(paymentColumns)} FROM agent_payments
            WHERE agent_id = ${agentId} AND request_id = ${input.requestId}`,
          allPayments
        )
        if (earlier !== undefined) return { _tag: "Reserved", payment: earlier, created: false }
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
              ${plusMillis(input.createdAt, firstCheckMillis)})
            RETURNING ${sql.literal(paymentColumns)}`,
          allPayments
        )
        if (payment === undefined) return yield* Effect.die(new Error("No row was returned"))
        return { _tag: "Reserved", payment, created: true }
      })
    )
  }, Effect.orDie)

  const allowance: AgentStore["allowance"] = Effect.fn("AgentRepo.allowance")(function* (agent, at) {
    const { spent } = yield* usage(agent.id, at)
    return allowanceOf(agent, spent)
  }, Effect.orDie)

  return { allowance, reserve }
}
