// A process that settles payments through the repository's own statement, which queues their deliveries. Arguments:
// settlements a second, how many.
import { Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import * as Database from "../../src/platform/Database.ts"
import { settle } from "../webhooks/deliveries.ts"

const [perSecond = "50", count = "1000"] = process.argv.slice(2)
const Rows = Schema.Array(Schema.Struct({ merchant_id: MerchantId }))

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const shops = yield* Schema.decodeUnknownEffect(Rows)(
    yield* sql`SELECT merchant_id FROM webhook_endpoints ORDER BY id`
  )
  const one = (index: number) =>
    Effect.gen(function* () {
      const shop = shops[index % shops.length]
      if (shop === undefined) return
      yield* settle({ merchantId: shop.merchant_id, env: "test" }, new Date())
    }).pipe(
      // The database restarts during the run: a refused settlement does not count.
      Effect.ignoreCause
    )
  const batch = 10
  const pause = (1000 * batch) / Number(perSecond)
  for (let done = 0; done < Number(count); done += batch) {
    yield* Effect.forEach(
      Array.from({ length: batch }, (_, index) => done + index),
      one,
      { concurrency: batch, discard: true }
    )
    yield* Effect.sleep(pause)
  }
})

await Effect.runPromise(
  program.pipe(
    Effect.provide(
      PaymentRepo.layer.pipe(
        Layer.provideMerge(Database.layer),
        Layer.provideMerge(SecureRandom.layerWebCrypto),
        Layer.provide(AppConfig.layer(process.env))
      )
    )
  )
)
