// Mail is queued inside transactions that hold other locks: one that waited for what another sweeps away could wait
// for it in a circle.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MailRepo } from "../../../src/platform/mail/MailRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

const mail = { recipient: "ada@example.com", subject: "Receipt", body: "…" }
const now = new Date(Date.UTC(2020, 2, 1))
const longAgo = new Date(Date.UTC(2020, 0, 1))

describe("mail that ended long ago", () => {
  liveEffect("keeps nobody waiting while another transaction sweeps it away, and is gone after both", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* MailRepo
      const ended = crypto.randomUUID()
      yield* repo.insert(ended, mail, longAgo)
      yield* repo.noteSent(ended, longAgo)
      const queue = Effect.suspend(() => repo.insert(crypto.randomUUID(), mail, now))
      const lock = sql`SELECT pg_advisory_xact_lock(1)`
      /** As a change of a merchant, which takes the audit log's lock, and mails before that or after. */
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
