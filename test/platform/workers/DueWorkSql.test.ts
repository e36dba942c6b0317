// Workers are woken, on Postgres, at the time of the next due row, whoever has inserted it.
import { expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { DueWork } from "../../../src/platform/workers/DueWork.ts"
import * as DueWorkSql from "../../../src/platform/workers/DueWorkSql.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

const put = (seconds: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO wallet_transactions (wallet, nonce, purpose, reference, gas, versions, created_at, signed_at)
      VALUES (decode(repeat('ab', 20), 'hex'), ${Math.round(seconds * 1000)}, 'gas', gen_random_uuid(), 0, ARRAY['\\x00'::bytea],
        now() + ${seconds} * interval '1 second', now())`
  )
liveEffect("a worker is woken when its queue has something due, at its time, and otherwise sleeps", () =>
  Effect.gen(function* () {
    const due = yield* DueWork
    expect(
      Option.isNone(yield* Effect.timeoutOption(due.next("wallet transactions", "1 second"), "4 seconds"))
    ).toBe(true)
    yield* put(5)
    const began = performance.now()
    yield* due.next("wallet transactions", "1 second")
    const waited = performance.now() - began
    expect(waited).toBeGreaterThan(4_000)
    expect(waited).toBeLessThan(20_000)
    // It is still due: the queue is read again at each poll, not all the time.
    const again = performance.now()
    for (let looks = 0; looks < 2; looks++) yield* due.next("wallet transactions", "1 second")
    expect(performance.now() - again).toBeGreaterThan(2_000)
    expect(Option.isNone(yield* Effect.timeoutOption(due.next("reports", "1 second"), "3 seconds"))).toBe(
      true
    )
  }).pipe(Effect.provide(DueWorkSql.layer.pipe(Layer.provideMerge(testDatabase.layer))))
)

liveEffect("a buyer is expected while one of the newest pending payments is a test payment", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const due = yield* DueWork
    yield* Effect.sleep("500 millis")
    expect(due.isAwaited("test")).toBe(false)
    yield* sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
      SELECT gen_random_uuid(), 'M', decode(repeat('ab', 20), 'hex'), decode(repeat('ab', 20), 'hex'), now()`
    const open = (env: string, refCode: string) => sql`
      INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
      SELECT gen_random_uuid(), id, ${env}, 'pending', 1, ${refCode}, 'u', receiver_test, 'human', now() FROM merchants`
    yield* open("live", "PAY-00000001")
    yield* Effect.sleep("3 seconds")
    expect(due.isAwaited("test")).toBe(false)
    yield* open("test", "PAY-00000002")
    for (let looks = 0; looks < 60 && !due.isAwaited("test"); looks++) yield* Effect.sleep("500 millis")
    expect(due.isAwaited("test")).toBe(true)
  }).pipe(Effect.provide(DueWorkSql.layer.pipe(Layer.provideMerge(testDatabase.layer))))
)
