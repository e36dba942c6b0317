// AgentRepo on Postgres: the agents themselves. Their spending is in separate files.

import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { toBytes } from "../../../chain/ChainBytes.ts"
import type { AgentId } from "../../../domain/Agent.ts"
import type { Env } from "../../../domain/Chain.ts"
import type { MerchantId } from "../../../domain/Merchant.ts"
import { agentColumns, allAgents, decodeSummaries, firstAgent, toSummary } from "./AgentRows.ts"
import type { AgentStore } from "./AgentStore.ts"
import { agentPaymentsSql } from "./agentPaymentsSql.ts"
import { reservationsSql } from "./reservationsSql.ts"
import { countedSince, spentSince } from "./spentSql.ts"

const decodeIndex = Schema.decodeUnknownEffect(Schema.Struct({ wallet_index: Schema.Int }))

/**
 * The index of a new wallet: the seconds since 2026. Indexes that are lost by restoring an older database are
 * therefore not reused, and can be derived from the creation time. If more than one agent per second is
 * created, indexes run ahead of the clock, and a restore must take at least that many seconds.
 */
const walletIndexAt = (at: Date) => Math.floor((at.getTime() - Date.UTC(2026, 0, 1)) / 1000)

export const makeAgentRepoSql: Effect.Effect<AgentStore, never, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(agentColumns)

    const find = Effect.fn("AgentRepo.find")(function* (merchantId: MerchantId, env: Env, id: AgentId) {
      const rows = yield* sql`
        SELECT ${columns} FROM agents a JOIN api_keys k ON k.id = a.key_id
        WHERE a.id = ${id} AND a.merchant_id = ${merchantId} AND a.env = ${env}`
      return yield* firstAgent(rows)
    }, Effect.orDie)

    return {
      ...reservationsSql(sql),
      ...agentPaymentsSql(sql),

      insert: Effect.fn("AgentRepo.insert")(function* (agent, key, addressOf, at) {
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`
              INSERT INTO api_keys (id, merchant_id, kind, env, permission, hash, prefix, last_four, created_at)
              VALUES (${key.id}, ${agent.merchantId}, ${key.kind}, ${key.env}, ${key.permission}, ${key.hash},
                ${key.prefix}, ${key.lastFour}, ${at})`
            // Created one at a time, so that each wallet has its own index.
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
        const created = yield* find(agent.merchantId, agent.env, agent.id)
        return yield* Effect.fromOption(created).pipe(Effect.orDie)
      }, Effect.orDie),

      findByKey: Effect.fn("AgentRepo.findByKey")(function* (keyId) {
        const rows = yield* sql`
          SELECT ${columns} FROM agents a JOIN api_keys k ON k.id = a.key_id WHERE a.key_id = ${keyId}`
        return yield* firstAgent(rows)
      }, Effect.orDie),

      find,

      list: Effect.fn("AgentRepo.list")(function* (merchantId, env) {
        const rows = yield* sql`
          SELECT ${columns} FROM agents a JOIN api_keys k ON k.id = a.key_id
          WHERE a.merchant_id = ${merchantId} AND a.env = ${env} ORDER BY a.created_at DESC, a.id DESC`
        return yield* allAgents(rows)
      }, Effect.orDie),

      summaries: Effect.fn("AgentRepo.summaries")(function* (merchantId, env, at, id) {
        const rows = yield* sql`
          SELECT ${columns}, coalesce(u.spent, 0)::text AS spent
          FROM agents a JOIN api_keys k ON k.id = a.key_id
          CROSS JOIN LATERAL (SELECT ${spentSince(sql, at)} AS spent FROM agent_payments p
            WHERE p.agent_id = a.id AND ${countedSince(sql, at)}) u
          WHERE a.merchant_id = ${merchantId} AND a.env = ${env} ${id === undefined ? sql`` : sql`AND a.id = ${id}`}
          ORDER BY a.created_at DESC, a.id DESC`
        return (yield* decodeSummaries(rows)).map(toSummary)
      }, Effect.orDie),

      change: Effect.fn("AgentRepo.change")(function* (merchantId, id, change, at, was = {}) {
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
            AND a.name = coalesce(${was.name ?? null}::text, a.name)
            AND a.cap_per_payment = coalesce(${was.capPerPayment?.toString() ?? null}::numeric, a.cap_per_payment)
            AND a.cap_per_day = coalesce(${was.capPerDay?.toString() ?? null}::numeric, a.cap_per_day)
            AND (${was.allowedHosts === undefined}
              OR a.allowed_hosts IS NOT DISTINCT FROM ${was.allowedHosts ?? null}::text[])
            AND (${was.allowedPayees === undefined}
              OR a.allowed_payees IS NOT DISTINCT FROM ${was.allowedPayees ?? null}::text[])
          RETURNING ${columns}`
        return yield* firstAgent(rows)
      }, Effect.orDie),

      revoke: Effect.fn("AgentRepo.revoke")(function* (merchantId, id, at) {
        const rows = yield* sql`
          WITH revoked_agent AS (
            UPDATE agents SET status = 'revoked', updated_at = ${at}
            WHERE id = ${id} AND merchant_id = ${merchantId} AND status <> 'revoked'
            RETURNING key_id
          ), revoked_key AS (
            UPDATE api_keys SET revoked_at = ${at} WHERE id IN (SELECT key_id FROM revoked_agent) AND revoked_at IS NULL
          )
          SELECT key_id FROM revoked_agent`
        return rows.length > 0
      }, Effect.orDie)
    }
  }
)
