// The SQL that removes ended rows after their retention, for all tables that nothing else empties.
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { plusMillis } from "../domain/plusMillis.ts"

/** Rows per DELETE statement, so that none holds its locks for long. */
const batchSize = 5_000
const day = 86_400_000

export class RetentionRepo extends Context.Service<
  RetentionRepo,
  {
    /** Deletes rows that ended long enough before `at`; returns their number. */
    readonly prune: (at: Date) => Effect.Effect<number>
  }
>()("quittance/app/RetentionRepo") {
  static readonly layer: Layer.Layer<RetentionRepo, never, SqlClient.SqlClient> = Layer.effect(
    RetentionRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const before = (at: Date, days: number) => plusMillis(at, -days * day)
      const rules = [
        // Cascades to alert_posts. Alerts of kind settlements_unsent stay: the last acknowledgement says which
        // settlements need no new alert (UnsentRepo).
        (at: Date) => sql`
          DELETE FROM alerts WHERE id IN (
            SELECT id FROM alerts WHERE acknowledged_at < ${before(at, 365)} AND kind <> 'settlements_unsent'
            LIMIT ${batchSize}) RETURNING id`,
        // The faucet's limits look back one day.
        (at: Date) => sql`
          DELETE FROM faucet_grants WHERE id IN (
            SELECT id FROM faucet_grants WHERE created_at < ${before(at, 90)} AND status <> 'reserved'
            LIMIT ${batchSize}) RETURNING id`,
        // A nonce is needed until the chain was read past its signature's ten minutes. A year leaves room for a long
        // outage, after which reading resumes where it stopped.
        (at: Date) => sql`
          DELETE FROM authorization_nonces WHERE nonce IN (
            SELECT nonce FROM authorization_nonces n WHERE asked_at < ${before(at, 365)}
              AND NOT EXISTS (SELECT FROM payments p WHERE p.id = n.payment_id AND p.status = 'pending')
            LIMIT ${batchSize}) RETURNING payment_id`
      ]
      return RetentionRepo.of({
        prune: Effect.fn("RetentionRepo.prune")(function* (at) {
          let pruned = 0
          for (const rule of rules) {
            let last = batchSize
            while (last === batchSize) {
              last = (yield* rule(at)).length
              pruned += last
            }
          }
          return pruned
        }, Effect.orDie)
      })
    })
  )
}
