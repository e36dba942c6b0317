// Payments of agents in SQL, from their reservation to their end.

import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { toBytes } from "../../../chain/ChainBytes.ts"
import { agentColumns, allAgents, allPayments, firstPayment, paymentColumns } from "./AgentRows.ts"
import type { AgentStore } from "./AgentStore.ts"

type Shape = AgentStore

/** The part of AgentRepo that returns reservations and ends them. */
export const agentPaymentsSql = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(paymentColumns)

  const payments: Shape["payments"] = Effect.fn("AgentRepo.payments")(function* (agentId, limit) {
    const rows = yield* sql`
      SELECT ${columns} FROM agent_payments WHERE agent_id = ${agentId}
      ORDER BY created_at DESC LIMIT ${limit}`
    return yield* allPayments(rows)
  }, Effect.orDie)

  const findPayment: Shape["findPayment"] = Effect.fn("AgentRepo.findPayment")(function* (agentId, id) {
    const rows = yield* sql`
      SELECT ${columns} FROM agent_payments WHERE id = ${id} AND agent_id = ${agentId}`
    return yield* firstPayment(rows)
  }, Effect.orDie)

  const takeDue: Shape["takeDue"] = Effect.fn("AgentRepo.takeDue")(function* (env, at, leaseUntil, limit) {
    const leased = yield* Effect.flatMap(
      sql`
        UPDATE agent_payments SET next_look_at = ${leaseUntil}
        WHERE id IN (
          SELECT id FROM agent_payments WHERE next_look_at <= ${at}
            AND agent_id IN (SELECT id FROM agents WHERE env = ${env})
          ORDER BY next_look_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
        RETURNING ${columns}`,
      allPayments
    )
    if (leased.length === 0) return []
    const owners = yield* Effect.flatMap(
      sql`
        SELECT ${sql.literal(agentColumns)} FROM agents a JOIN api_keys k ON k.id = a.key_id
        WHERE a.id = ANY(${[...new Set(leased.map(({ agentId }) => agentId))]}::uuid[])`,
      allAgents
    )
    const byId = new Map(owners.map((agent) => [agent.id, agent]))
    return leased.flatMap((payment) => {
      const agent = byId.get(payment.agentId)
      return agent === undefined ? [] : [{ payment, agent }]
    })
  }, Effect.orDie)

  const checkAgain: Shape["checkAgain"] = Effect.fn("AgentRepo.checkAgain")(function* (id, at) {
    yield* sql`UPDATE agent_payments SET next_look_at = ${at} WHERE id = ${id} AND status = 'reserved'`
  }, Effect.orDie)

  const finish: Shape["finish"] = Effect.fn("AgentRepo.finish")(function* (id, status, transactionId, at) {
    yield* sql`
      UPDATE agent_payments SET status = ${status}, finished_at = ${at}, next_look_at = NULL,
        transaction_id = ${transactionId === null ? null : toBytes(transactionId)}
      WHERE id = ${id} AND status = 'reserved'`
  }, Effect.orDie)

  return { payments, findPayment, takeDue, checkAgain, finish }
}
