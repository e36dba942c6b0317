// The stored processes that send webhooks; each increments a counter while it is alive.

import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Uuid } from "../../domain/Merchant.ts"
import type { WebhookStore } from "./WebhookStore.ts"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Uuid, heartbeat: Schema.String })))

/** The part of WebhookRepo that tracks live processes. */
export const workersSql = Effect.map(
  SqlClient.SqlClient,
  (sql): Pick<WebhookStore, "heartbeat" | "takeOverDead" | "deregister"> => ({
    heartbeat: Effect.fn("WebhookRepo.heartbeat")(function* (id) {
      return yield* decode(
        yield* sql`
          WITH own_heartbeat AS (
            INSERT INTO webhook_workers (id, beat) VALUES (${id}, 1)
            ON CONFLICT (id) DO UPDATE SET beat = webhook_workers.beat + 1, beat_at = now()
          )
          SELECT id, beat::text AS heartbeat FROM webhook_workers WHERE id <> ${id}`
      )
    }, Effect.orDie),
    takeOverDead: Effect.fn("WebhookRepo.takeOverDead")(function* (
      { id, heartbeat },
      { at, leasedAfter, leasedBefore }
    ) {
      const rows = yield* sql`
        WITH removed_worker AS (DELETE FROM webhook_workers WHERE id = ${id} AND beat = ${heartbeat}::bigint RETURNING id)
        UPDATE webhook_deliveries d SET due_at = ${at}, claimed_by = NULL FROM removed_worker
        WHERE d.claimed_by = removed_worker.id AND d.claim_id IS NOT NULL AND d.due_at > ${at}
          AND (d.due_at < ${leasedBefore} OR d.due_at > ${leasedAfter})
        RETURNING d.id`
      return rows.length
    }, Effect.orDie),
    deregister: Effect.fn("WebhookRepo.deregister")(function* (id) {
      yield* sql`DELETE FROM webhook_workers WHERE id = ${id}`
    }, Effect.orDie)
  })
)
