// Deliveries partitioned by the SQL of docs/databases.md: the service works on them as before, and attempts of a
// detached partition are pruned like others.
import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { SQL } from "bun"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import { buildIndexes } from "../../../src/platform/database/buildIndexes.ts"
import { copyFrom } from "../../../src/platform/database/Copy.ts"
import { migrations } from "../../../src/platform/database/migrations.ts"
import { SecretBox } from "../../../src/platform/SecretBox.ts"
import { WebhookRepo } from "../../../src/webhooks/WebhookRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { testConfig } from "../../support/memory.ts"
import { postgresUrl } from "../../support/ownDatabase.ts"
import { liveEffect } from "../../support/run.ts"
import { databaseUrl } from "../../support/testPostgres.ts"
import { leaseDue, newShop, resultOf, settle } from "../deliveries.ts"

const document = readFileSync(new URL("../../../docs/databases.md", import.meta.url), "utf8")
const division = /## Partitioned tables.*?```sql\n(.*?)```/s.exec(document)?.[1] ?? ""

const first = new Date("2026-05-01T12:00:00.000Z")
const autumn = new Date("2026-11-01T12:00:00.000Z")
const spring = new Date("2027-03-01T12:00:00.000Z")

const layer = Layer.mergeAll(
  PaymentRepo.layer,
  KeyAuth.layer,
  WebhookRepo.layer,
  SecretBox.layer.pipe(Layer.provide(testConfig()))
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto), Layer.provideMerge(testDatabase.layer))

liveEffect(
  "deliveries can be partitioned, sent, listed and copied; a detached partition leaves nothing behind",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(first)
      yield* settle(tenant, first)
      const indexes = sql`SELECT relname FROM pg_class WHERE relkind IN ('i', 'I') AND relname ~ '^webhook_deliveries_[a-z]+$' AND relname !~ 'pkey' ORDER BY 1`
      const before = yield* indexes
      const [database] = yield* sql`SELECT current_database() AS name`
      const operator = new SQL(databaseUrl(postgresUrl, String(database?.["name"])), { max: 1 })
      yield* Effect.promise(() => operator.unsafe(division).simple())
      yield* Effect.promise(() => operator.close())
      expect(yield* indexes).toEqual(before)
      yield* buildIndexes(migrations, "of the test")
      expect(yield* sql`SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid`).toEqual([])

      yield* repo.finish((yield* leaseDue(first)).map((lease) => resultOf(lease, first)))
      for (const at of [autumn, spring]) {
        yield* settle(tenant, at)
        yield* repo.finish((yield* leaseDue(at)).map((lease) => resultOf(lease, at)))
      }
      const places = sql`SELECT tableoid::regclass::text AS place FROM webhook_deliveries ORDER BY created_at`
      expect((yield* places).map(({ place }) => place)).toEqual([
        "webhook_deliveries_before_2027",
        "webhook_deliveries_before_2027",
        "webhook_deliveries_2027"
      ])
      expect(
        Option.getOrThrow(yield* repo.listEvents(tenant, { limit: 10, after: undefined })).events
      ).toHaveLength(3)
      let copied = 0
      yield* copyFrom("of the test", {
        begin: () => Effect.void,
        rows: (table, rows) =>
          Effect.sync(() => {
            if (table === "webhook_deliveries") copied += rows.length
          }),
        end: () => Effect.void
      })
      expect(copied).toBe(3)

      yield* sql`ALTER TABLE webhook_deliveries DETACH PARTITION webhook_deliveries_before_2027`
      expect(yield* repo.prune(spring, 10)).toBe(2)
      expect(yield* sql`SELECT started_at FROM webhook_attempts`).toEqual([{ started_at: spring }])
    }).pipe(Effect.provide(layer))
)
