// The reads of an announcement, and of a transfer that pays nothing, among many rows of others: a few pages of the
// growing tables, whatever plan was chosen.
import { expect } from "bun:test"
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { toBytes } from "../../../src/chain/ChainBytes.ts"
import { networks } from "../../../src/domain/networks.ts"
import { hasOwnTransfer } from "../../../src/x402/Settlements/hasOwnTransferSql.ts"
import { liveEffect } from "../../support/run.ts"
import { twoInstances } from "./twoInstances.ts"

const rows = 20_000
/** The pages that planning reads; a table with this many rows has three times as many. */
const mostPages = 150
const { chainId, usdc } = networks.test

const wallet = (sql: SqlClient.SqlClient, of: string) =>
  sql.literal(`decode(md5('${of}' || n) || 'abababab', 'hex')`)
const hash = (sql: SqlClient.SqlClient, of: string) =>
  sql.literal(`decode(md5('${of}' || n) || md5(n || '${of}'), 'hex')`)
const numbers = (sql: SqlClient.SqlClient) => sql`generate_series(1, ${rows}::integer) AS n`
const unbound = (sql: SqlClient.SqlClient) => sql`SET LOCAL session_replication_role = replica`

/** The wallet's signatures, each for another payment. */
const fillSettlements = (sql: SqlClient.SqlClient, payer: Statement.Fragment) => sql`
  INSERT INTO x402_settlements (id, merchant_id, env, payment_id, opens_payment, chain_id, asset, payer, nonce,
    receiver, amount, valid_after, valid_before, signature, resource, status, transaction_id, created_at)
  SELECT gen_random_uuid(), gen_random_uuid(), 'test', gen_random_uuid(), true, ${chainId}, ${toBytes(usdc.address)},
    ${payer}, ${hash(sql, "n")}, ${wallet(sql, "r")}, 3000000, 0, 4000000000, '', '', 'settled', ${hash(sql, "c")},
    now()
  FROM ${numbers(sql)}`

/** Other wallets' payments and transfers. */
const fill = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* unbound(sql)
  yield* sql`
    INSERT INTO incoming_transfers (id, chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id, env,
      block_number, block_hash, block_time, kind, created_at)
    SELECT gen_random_uuid(), ${chainId}, ${hash(sql, "t")}, ${wallet(sql, "w")}, ${wallet(sql, "r")}, 3000000, 0,
      gen_random_uuid(), 'test', n, ${hash(sql, "b")}, now(), 'unknown', now() FROM ${numbers(sql)}`
  yield* sql`
    INSERT INTO claimed_transfers
      (chain_id, transaction_id, log_position, payer, receiver, amount, ordinal, payment_id, block_number, block_hash)
    SELECT ${chainId}, ${hash(sql, "c")}, 0, ${wallet(sql, "w")}, ${wallet(sql, "r")}, 3000000, 0, gen_random_uuid(),
      n, ${hash(sql, "b")} FROM ${numbers(sql)}`
  yield* sql`
    WITH others AS (
      INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
      SELECT gen_random_uuid(), gen_random_uuid(), 'test', 'pending', 3000000, 'PAY-' || lpad(n::text, 8, '0'),
        'https://shop.example.com', ${wallet(sql, "r")}, 'human', now() FROM ${numbers(sql)}
      RETURNING id
    )
    INSERT INTO payment_reports (payment_id, evidence, payer_address, transaction_id, token_changes, reported_at,
      next_check_at, payer_type)
    SELECT id, ${hash(sql, "e")}, ${wallet(sql, "w")}, ${hash(sql, "r")}, '[]', now(), now(), 'human'
    FROM (SELECT id, row_number() OVER () AS n FROM others) numbered`
  yield* fillSettlements(sql, wallet(sql, "w"))
})

/** Pages of tables and indexes that the session has read since the last call. */
const pagesRead = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [row] = yield* Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ pages: Schema.Int })]))(
    yield* sql`
      SELECT sum(pg_stat_get_xact_blocks_fetched(oid))::integer AS pages FROM pg_class
      WHERE relnamespace = 'public'::regnamespace`
  )
  return row.pages
})

const expectFewPages = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  name: string,
  ask: Effect.Effect<unknown>
) {
  const pages = yield* sql.withTransaction(
    Effect.gen(function* () {
      const before = yield* pagesRead(sql)
      yield* ask
      return (yield* pagesRead(sql)) - before
    })
  )
  expect(pages, name).toBeLessThan(mostPages)
})

liveEffect(
  "an announcement, and a transfer that pays nothing, read no table and no index from end to end",
  () =>
    Effect.gen(function* () {
      const world = yield* twoInstances
      const { paymentId, tenant } = world
      const { attemptRepo, transferRepo, claimRepo, sql } = world.one
      yield* sql.withTransaction(fill(sql))
      yield* sql`ANALYZE`
      yield* world.read()
      const [payment, transfer] = [yield* world.payment, yield* world.transfer]
      const { payer } = transfer
      const asked: Readonly<Record<string, Effect.Effect<unknown>>> = {
        attempts: attemptRepo.attempts(tenant, paymentId, { payer, only: false }),
        unclaimedTransfer: attemptRepo.unclaimedTransfer(payment, payer),
        mayPayAnotherPayment: attemptRepo.mayPayAnotherPayment(
          payment,
          payer,
          transfer.transactionId,
          new Date()
        ),
        awaitsSettlement: transferRepo.awaitsSettlement(transfer),
        matchesOf: transferRepo.matchesOf(transfer),
        likelyPayments: transferRepo.likelyPayments(transfer),
        droppedClaims: claimRepo.droppedClaims(transfer),
        "droppedClaims by a nonce": claimRepo.droppedClaims(transfer, 0n),
        "droppedClaims by any nonce": claimRepo.droppedClaims(transfer, "any")
      }
      for (const [name, ask] of Object.entries(asked)) yield* expectFewPages(sql, name, ask)
    }).pipe(Effect.scoped)
)

liveEffect("a signature does not read the wallet's other signatures", () =>
  Effect.gen(function* () {
    const world = yield* twoInstances
    const { sql } = world.one
    // It may pay the payment, so that the movements of each settlement are queried.
    yield* world.read()
    const payer = toBytes((yield* world.transfer).payer)
    yield* sql.withTransaction(Effect.andThen(unbound(sql), fillSettlements(sql, sql`${payer}`)))
    yield* sql`ANALYZE`
    const ask = sql`SELECT 1 FROM payments p WHERE p.id = ${world.paymentId} AND ${hasOwnTransfer(sql, payer)}`
    yield* expectFewPages(sql, "hasOwnTransfer", Effect.orDie(ask))
  }).pipe(Effect.scoped)
)
