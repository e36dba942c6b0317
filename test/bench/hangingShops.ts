// Merchants whose endpoints accepted a minute ago and hang now.
import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as App from "../../src/App.ts"
import { AppConfig } from "../../src/AppConfig.ts"
import { newShop } from "../webhooks/deliveries.ts"

export const hangingShops = Effect.fnUntraced(function* (url: string, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.replicateEffect(newShop(new Date(), url), count, { discard: true })
  yield* sql`
    UPDATE webhook_endpoints SET listening = true, verified_at = now(),
      last_delivered_at = now() - interval '1 minute' WHERE url = ${url}`
})

if (import.meta.main) {
  const [url = "", count = ""] = process.argv.slice(2)
  await Effect.runPromise(
    hangingShops(url, Number(count)).pipe(
      Effect.provide(App.layer.pipe(Layer.provideMerge(AppConfig.layer(process.env)))),
      Effect.orDie
    )
  )
  process.exit()
}
