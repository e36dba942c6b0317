// Nothing stops silently: without a worker, an overdue row raises an alert, in each queue in turn; so do unread blocks
// and a worker that keeps failing.
import { describe, expect } from "bun:test"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { BacklogRepo } from "../../../src/app/telemetry/BacklogRepo.ts"
import { stalledQueues } from "../../../src/app/telemetry/stalledWork.ts"
import * as WorkWatch from "../../../src/app/telemetry/WorkWatch.ts"
import { ChainVerifier } from "../../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../../src/chain/MemoryChain.ts"
import { Alerts } from "../../../src/platform/alerts/Alerts.ts"
import { type Queue, queues } from "../../../src/platform/workers/DueWork.ts"
import { startPeriodic } from "../../../src/platform/workers/startWorker.ts"
import { makeWorkerProgress, WorkerProgress } from "../../../src/platform/workers/WorkerProgress.ts"
import { testDatabase } from "../../support/database.ts"
import { buildOnDatabaseTime, passes } from "../../support/databaseTime.ts"
import { testEffect } from "../../support/run.ts"
import { withoutMoves } from "../../support/withoutMoves.ts"

const id = "00000000-0000-7000-8000-000000000001"
const long = "'1960-01-01'::timestamptz"
const [address, hash] = ["decode(repeat('ab', 20), 'hex')", "decode(repeat('ab', 32), 'hex')"]

/** An overdue row of each queue. */
const overdue: { readonly [Q in Queue]: string } = {
  reports: `INSERT INTO payment_reports (payment_id, evidence, payer_address, transaction_id, token_changes, reported_at, next_check_at)
    VALUES ('${id}', ${hash}, ${address}, ${hash}, '[]', ${long}, ${long})`,
  "settled blocks": `INSERT INTO claimed_transfers (chain_id, transaction_id, log_position, payment_id, block_number, block_hash, watch_at, payer, receiver, amount, ordinal)
    VALUES (84532, ${hash}, 0, '${id}', 1, ${hash}, ${long}, ${address}, ${address}, 1, 0)`,
  "incoming transfers": `INSERT INTO incoming_transfers (id, chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id, env, block_number, block_hash, block_time, match_at, created_at)
    VALUES ('${id}', 84532, ${hash}, ${address}, ${address}, 1, 0, '${id}', 'test', 1, ${hash}, ${long}, ${long}, ${long})`,
  deliveries: `INSERT INTO webhook_deliveries (id, merchant_id, env, endpoint_id, type, body, status, due_at, created_at)
    VALUES ('${id}', '${id}', 'test', '${id}', 'test', '', 'pending', ${long}, ${long})`,
  "x402 settlements": `INSERT INTO x402_settlements (id, merchant_id, env, payment_id, opens_payment, chain_id, asset, payer, nonce, receiver, amount, valid_after, valid_before, signature, resource, status, created_at, next_look_at)
    VALUES ('${id}', '${id}', 'test', '${id}', false, 84532, ${address}, ${address}, ${hash}, ${address}, 1, 0, 1, '', '', 'pending', ${long}, ${long})`,
  "agent payments": `INSERT INTO agent_payments (id, agent_id, request_id, request_hash, status, x402_version, resource, requirements, pay_to, amount, valid_after, valid_before, nonce, created_at, next_look_at)
    VALUES ('${id}', '${id}', 'r', ${hash}, 'reserved', 2, '', '', ${address}, 1, 0, 1, ${hash}, ${long}, ${long})`,
  "wallet transactions": `INSERT INTO wallet_transactions (wallet, nonce, purpose, reference, gas, versions, created_at, signed_at)
    VALUES (${address}, 1, 'gas', '${id}', 0, ARRAY['\\x00'::bytea], ${long}, ${long})`,
  "receiver changes": `INSERT INTO receiver_changes (id, merchant_id, env, address, requested_by, requested_at, due_at)
    VALUES ('${id}', '${id}', 'test', ${address}, '${id}', ${long}, ${long})`,
  mails: `INSERT INTO mails (id, recipient, subject, body, created_at, due_at) VALUES ('${id}', '', '', '', ${long}, ${long})`,
  refunds: `INSERT INTO refunds (id, merchant_id, env, payment_id, amount, recipient, since_block, beyond_paid, created_by, created_at, status, next_look_at)
    VALUES ('${id}', '${id}', 'test', '${id}', 1, ${address}, 1, false, '', ${long}, 'pending', ${long})`,
  notifications: `INSERT INTO alerts (id, kind, subject, message, created_at, notify_at) VALUES ('${id}', 'clock_skew', '', '', ${long}, ${long})`,
  weeks: `INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at, summary_at) VALUES ('${id}', 'Shop', ${address}, ${address}, ${long}, ${long})`,
  "alert posts": `INSERT INTO alert_posts (hook_id, alert_id, due_at) VALUES ('${id}', '${id}', ${long})`
}

const world = Effect.gen(function* () {
  yield* TestClock.adjust("1 hour")
  const raised = new Map<string, string>()
  const alerts = Layer.succeed(Alerts, {
    raise: ({ message, subject }) => Effect.sync(() => void raised.set(subject, message)),
    resolve: (_, subject) => Effect.sync(() => void raised.delete(subject))
  })
  const progress = makeWorkerProgress()
  const context = yield* buildOnDatabaseTime(
    Layer.mergeAll(testDatabase.layer, ChainVerifier.layerMemory, Layer.succeed(WorkerProgress, progress))
  )
  const watch = buildOnDatabaseTime(
    WorkWatch.layer.pipe(Layer.provide(alerts), Layer.provide(Layer.succeedContext(context)))
  )
  const sql = Context.get(context, SqlClient.SqlClient)
  const read = (until: string) =>
    sql`INSERT INTO chain_cursors (chain_id, block_number, block_hash, block_time)
      VALUES (84532, 1, decode(repeat('ab', 32), 'hex'), ${until}::timestamptz)`
  return { context, progress, raised, read, sql, watch, chain: Context.get(context, MemoryChain) }
})

describe("waiting work", () => {
  for (const queue of queues)
    testEffect(`"${queue}" without its worker raises an alert, which closes once the row is processed`, () =>
      Effect.gen(function* () {
        const { context, raised, read, sql, watch } = yield* world
        yield* read("1970-01-01T01:00:00Z")
        yield* Effect.provideContext(withoutMoves(sql.unsafe(overdue[queue])), context)
        yield* watch
        yield* passes("1 minute", "30 seconds")
        expect([...raised.keys()]).toEqual([queue])
        expect(raised.get(queue)).toStartWith(
          `The oldest item in the queue "${queue}" has been due since 1960-01-01T00:00:00.000Z.`
        )
        yield* Effect.provideContext(
          withoutMoves(
            sql.unsafe(`DO $$ BEGIN DELETE FROM ${/INTO (\w+)/.exec(overdue[queue])?.[1]}; END $$`)
          ),
          context
        )
        yield* passes("1 minute", "30 seconds")
        expect([...raised.keys()]).toEqual([])
      })
    )

  testEffect("the alert about mails that the server rejects quotes the oldest mail's error", () =>
    Effect.gen(function* () {
      const { context, raised, read, sql, watch } = yield* world
      yield* read("1970-01-01T01:00:00Z")
      yield* Effect.provideContext(withoutMoves(sql.unsafe(overdue.mails)), context)
      yield* sql`UPDATE mails SET error = E'connect ECONNREFUSED\n127.0.0.1:25', due_at = '2100-01-01' WHERE due_at IS NOT NULL`
      yield* watch
      yield* passes("30 seconds", "30 seconds")
      expect(raised.get("mails")).toBe(
        'The oldest item in the queue "mails" has been due since 1960-01-01T00:00:00.000Z. Emails are delayed. The last error: connect ECONNREFUSED 127.0.0.1:25.'
      )
    })
  )

  testEffect("a due row raises no alert before its limit is over", () =>
    Effect.gen(function* () {
      const { context, sql } = yield* world
      yield* sql`INSERT INTO mails (id, recipient, subject, body, created_at, due_at)
        VALUES (${id}, '', '', '', ${new Date(0)}, ${new Date(0)})`
      const backlog = yield* Effect.flatMap(BacklogRepo, ({ read }) =>
        Effect.flatMap(DateTime.nowAsDate, read)
      ).pipe(Effect.provide(BacklogRepo.layer), Effect.provideContext(context))
      const after = (minutes: number) => stalledQueues(backlog, new Date(minutes * 60_000))
      expect(after(4.9)).toEqual([])
      expect(after(5)).toHaveLength(1)
    })
  )
})

describe("unread blocks", () => {
  const newBlocks = (chain: MemoryChain["Service"]) =>
    Effect.andThen(passes("10 minutes", "5 seconds"), chain.mine(2))

  testEffect("raise an alert while the chain makes newer ones, also if none has ever been read", () =>
    Effect.gen(function* () {
      const { chain, raised, read, watch } = yield* world
      yield* watch
      yield* newBlocks(chain)
      yield* passes("1 minute", "30 seconds")
      expect(raised.get("transfers test")).toStartWith(
        "The transfers of Base Sepolia have never been read. Payments that nobody reports do not settle."
      )
      yield* read("1970-01-01T01:11:00Z")
      yield* passes("1 minute", "30 seconds")
      expect(raised.size).toBe(0)
      yield* newBlocks(chain)
      yield* passes("1 minute", "30 seconds")
      expect(raised.get("transfers test")).toContain("read only up to 1970-01-01T01:11:00.000Z")
    })
  )
  /** While the chain makes blocks, the reader's position moves by `gain` every 30 seconds. Returns what was raised. */
  const reading = Effect.fnUntraced(function* (
    { chain, raised, sql }: Effect.Success<typeof world>,
    gain: string,
    minutes: number
  ) {
    const subjects = new Set<string>()
    for (let round = 0; round < minutes * 2; round++) {
      yield* chain.mine(1)
      yield* passes("30 seconds", "10 seconds")
      for (const subject of raised.keys()) subjects.add(subject)
      yield* sql`UPDATE chain_cursors SET block_time = block_time + ${gain}::interval`
    }
    return [...subjects]
  })

  testEffect("raise no alert while the reader catches up after a start, and one once it does not move", () =>
    Effect.gen(function* () {
      const here = yield* world
      yield* here.read("1970-01-01T00:30:00Z")
      yield* here.watch
      expect(yield* reading(here, "2 minutes", 7)).toEqual([])
      expect(yield* reading(here, "0 minutes", 4)).toEqual([])
      expect(yield* reading(here, "0 minutes", 2)).toEqual(["transfers test"])
      // The alert stays open until the reading has caught up.
      yield* reading(here, "2 minutes", 1)
      expect([...here.raised.keys()]).toEqual(["transfers test"])
      yield* reading(here, "1 hour", 1)
      expect(here.raised.size).toBe(0)
    })
  )
  testEffect("raise an alert if the reader gains nothing on the chain after a start", () =>
    Effect.gen(function* () {
      const here = yield* world
      yield* here.read("1970-01-01T00:30:00Z")
      yield* here.watch
      expect(yield* reading(here, "20 seconds", 4)).toEqual([])
      expect(yield* reading(here, "20 seconds", 1.5)).toEqual(["transfers test"])
    })
  )
  testEffect("of a halted chain: the alert says that the chain has halted, until it makes blocks again", () =>
    Effect.gen(function* () {
      const { chain, raised, read, sql, watch } = yield* world
      yield* chain.automine(false)
      yield* chain.mine(2)
      yield* read("1970-01-01T01:00:00Z")
      yield* watch
      yield* passes("20 minutes", "5 seconds")
      expect([...raised.keys()]).toEqual(["chain test"])
      expect(raised.get("chain test")).toStartWith(
        "A majority of the nodes of Base Sepolia shows no block after 1970-01-01T01:00:00.000Z."
      )
      yield* chain.mine(2)
      yield* sql`UPDATE chain_cursors SET block_time = ${new Date(80 * 60_000)}`
      yield* passes("1 minute", "30 seconds")
      expect(raised.size).toBe(0)
    })
  )
  testEffect("raise an alert with the reader's own error", () =>
    Effect.gen(function* () {
      const { chain, progress, raised, watch } = yield* world
      yield* watch
      progress.recordFailure("transfers test", 0, "the nodes lack block 7")
      yield* newBlocks(chain)
      yield* passes("1 minute", "30 seconds")
      expect(raised.get("transfers test")).toEndWith(
        "In this instance: transfers test: the nodes lack block 7."
      )
    })
  )
})

testEffect("a locked table raises an alert with the database's words, and closes no other", () =>
  Effect.gen(function* () {
    const { context, progress, raised, read, sql, watch } = yield* world
    yield* read("1970-01-01T01:00:00Z")
    yield* Effect.provideContext(withoutMoves(sql.unsafe(overdue.mails)), context)
    yield* watch
    yield* Effect.gen(function* () {
      yield* passes("30 seconds", "30 seconds")
      yield* sql`LOCK TABLE incoming_transfers IN ACCESS EXCLUSIVE MODE`
      progress.recordFailure("Working", 0, "disk full")
      yield* passes("4 minutes", "4 minutes")
      expect([...raised.keys()]).toEqual(["mails", "Working"])
      yield* passes("1 minute", "30 seconds")
      expect(raised.get("measuring")).toMatch(
        /^Waiting work has not been measured since 1970-01-01T01:00:30.000Z: canceling statement due to lock timeout; incoming_transfers is locked by process \d+\. Until/
      )
      expect([...raised.keys()]).toEqual(["mails", "Working", "measuring"])
    }).pipe(sql.withTransaction)
    progress.recordSuccess("Working")
    yield* sql`UPDATE chain_cursors SET block_time = '1970-01-01T01:05:00Z'`
    yield* passes("30 seconds", "30 seconds")
    expect([...raised.keys()]).toEqual(["mails"])
  })
)

testEffect("a worker that fails for five minutes raises an alert with its error", () =>
  Effect.gen(function* () {
    const { context, raised, read, watch } = yield* world
    yield* read("1970-01-01T01:00:00Z")
    yield* watch
    let fails = true
    yield* startPeriodic(
      "Working",
      Effect.sleep("10 seconds"),
      Effect.suspend(() => (fails ? Effect.fail(new Error("disk full")) : Effect.void))
    ).pipe(Effect.provideContext(context))
    yield* passes("4 minutes", "30 seconds")
    expect(raised.get("Working")).toBeUndefined()
    yield* passes("2 minutes", "30 seconds")
    expect(raised.get("Working")).toBe("Working has failed since 1970-01-01T01:00:00.000Z: disk full")
    fails = false
    yield* passes("1 minute", "30 seconds")
    expect(raised.get("Working")).toBeUndefined()
  })
)
