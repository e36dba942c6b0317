// The backlog that the metrics export.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { BacklogRepo } from "../../../src/app/telemetry/BacklogRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

describe("the backlog", () => {
  liveEffect(
    "mail that fails counts as overdue since it was queued, until the server accepts a later mail",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const mail = (minutesAgo: number, sent: boolean) => sql`
        INSERT INTO mails (id, recipient, subject, body, urgent, created_at, due_at, sent_at, error)
        VALUES (gen_random_uuid(), 'ada@example.com', 's', 'b', false, now() - ${minutesAgo} * interval '1 minute',
          ${sent ? null : new Date(Date.now() + 1_200_000)}, ${sent ? new Date() : null}, ${sent ? null : "refused"})`
        const minutes = Effect.map((yield* BacklogRepo).read(new Date()), ({ dueSince }) => {
          const since = dueSince.get("mails")
          return since === undefined ? undefined : Math.round((Date.now() - since.getTime()) / 60_000)
        })
        expect(yield* minutes).toBeUndefined()
        yield* mail(12, false)
        expect(yield* minutes).toBe(12)
        yield* mail(1, true)
        expect(yield* minutes).toBeUndefined()
      }).pipe(Effect.provide(BacklogRepo.layer.pipe(Layer.provideMerge(testDatabase.layer))))
  )

  liveEffect("open alerts are those that one person can close for everybody", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const merchant = crypto.randomUUID()
      const user = crypto.randomUUID()
      yield* sql`
        INSERT INTO merchants (id, name, receiver_test, receiver_live, bound_tokens_only, created_at)
        VALUES (${merchant}, 'Shop', decode(repeat('11', 20), 'hex'), decode(repeat('22', 20), 'hex'), true, now())`
      yield* sql`
        INSERT INTO users (id, email, password_hash, operator, created_at)
        VALUES (${user}, 'ada@example.com', 'x', true, now())`
      for (const [kind, merchantId, userId] of [
        ["relayer_empty", null, null],
        ["transfer_dropped", merchant, null],
        ["incoming_transfer", merchant, null],
        ["account_change", merchant, user],
        ["account_change", null, user]
      ] as const)
        yield* sql`
          INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at, user_id)
          VALUES (gen_random_uuid(), ${merchantId}::uuid, ${merchantId === null ? null : "test"}::text, ${kind},
            gen_random_uuid()::text, 'Look', now(), ${userId}::uuid)`
      const { alerts } = yield* (yield* BacklogRepo).read(new Date())
      expect([...alerts].filter(([, open]) => open > 0)).toEqual([
        ["transfer_dropped", 1],
        ["relayer_empty", 1],
        ["account_change", 1]
      ])
    }).pipe(Effect.provide(BacklogRepo.layer.pipe(Layer.provideMerge(testDatabase.layer))))
  )
})
