// Mail is queued inside transactions that have other locks: waiting for rows that another transaction deletes could
// deadlock.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MailRepo } from "../../../src/platform/mail/MailRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

const mail = { recipient: "ada@example.com", subject: "Receipt", body: "…" }
const now = new Date(Date.UTC(2020, 2, 1))
const longAgo = new Date(Date.UTC(2020, 0, 1))

describe("old mail", () => {
  liveEffect("blocks nothing while another transaction deletes it, and is gone after both", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* MailRepo
      const ended = crypto.randomUUID()
      yield* repo.insert(ended, mail, longAgo)
      yield* repo.recordSent(ended, longAgo)
      const queue = Effect.suspend(() => repo.insert(crypto.randomUUID(), mail, now))
      const lock = sql`SELECT pg_advisory_xact_lock(1)`
      /** Like a change of a merchant, which takes the audit log's lock and queues mails before or after it. */
      yield* Effect.all(
        [
          sql.withTransaction(Effect.all([queue, Effect.sleep("300 millis"), lock])),
          sql.withTransaction(Effect.all([lock, Effect.sleep("150 millis"), queue]))
        ],
        { concurrency: 2 }
      )
      const rows = yield* sql`SELECT count(*)::int AS count FROM mails`
      expect(rows).toEqual([{ count: 2 }])
    }).pipe(Effect.provide(MailRepo.layer.pipe(Layer.provideMerge(testDatabase.layer))))
  )
})
