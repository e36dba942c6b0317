// The service in this process, whose payments settle at a fixed rate: through the repository and the wake-up that
// a report goes through, without the report's HTTP and signatures. Tells when each settlement was committed.
import "effect/schema/SchemaJITCompiler/enable"
import { parseArgs } from "node:util"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as App from "../../../src/App.ts"
import { AppConfig } from "../../../src/AppConfig.ts"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import type { Tenant } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { settledEvent } from "../../../src/domain/Webhook.ts"
import { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import { DeliveryWake } from "../../../src/webhooks/DeliveryWake.ts"
import { newShop } from "../../webhooks/deliveries.ts"
import { tokenChanges } from "../dataset.ts"
import { hangingShops } from "../hangingShops.ts"

/** Milliseconds since 1970 at which a transaction's settlement was committed. */
export type Settled = Readonly<Record<string, number>>

const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
const payer = Address.make("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
/** Of each hanging endpoint, due before the first settlement. */
const dueEach = 200

const uuid = Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7())

const open = Effect.fnUntraced(function* (tenant: Tenant) {
  const payments = yield* PaymentRepo
  const id = PaymentId.make(yield* uuid)
  yield* payments.open({
    ...tenant,
    ...{ payerType: "human", id, receiver, amount: AtomicUsdc.make(10_000_000n), at: new Date() },
    intentUrl: "https://shop.example.com/orders/1"
  })
  return id
})

const settle = Effect.fnUntraced(function* (paymentId: PaymentId) {
  const payments = yield* PaymentRepo
  const wake = yield* DeliveryWake
  const random = yield* SecureRandom.SecureRandom
  const hex = Buffer.from(yield* random.randomBytes(32)).toString("hex")
  const transactionId = TransactionHash.make(`0x${hex}`)
  const id = yield* uuid
  const at = new Date()
  yield* payments.settle({
    paymentId,
    evidence: { transactionId, payer, tokenChanges },
    ...{ reportedAt: at, at, watchAt: new Date(at.getTime() + 3_600_000) },
    transfer: {
      ...{
        chainId: 84532,
        transactionId,
        logPosition: 0,
        ordinal: 0,
        blockNumber: 1n,
        blockHash: transactionId
      }
    },
    delivery: { id, body: settledEvent({ id, livemode: false, transactionId, tokenChanges }) }
  })
  const committed = performance.timeOrigin + performance.now()
  yield* wake.signal
  return [transactionId, committed] as const
})

/** Endpoints that hang, each with more due than its share. */
const hang = Effect.fnUntraced(function* (url: string, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* hangingShops(url, count)
  yield* sql`
    INSERT INTO webhook_deliveries (id, merchant_id, env, endpoint_id, type, body, status, due_at, created_at)
    SELECT gen_random_uuid(), e.merchant_id, e.env, e.id, 'test', '{}'::bytea, 'pending', now(), now()
    FROM webhook_endpoints e, generate_series(1, ${dueEach}::integer) WHERE e.url = ${url}`
})

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      hook: { type: "string", default: "" },
      hanging: { type: "string", default: "" },
      endpoints: { type: "string", default: "0" },
      rates: { type: "string", default: "" },
      seconds: { type: "string", default: "" }
    }
  })
  const program = Effect.gen(function* () {
    const { tenant } = yield* newShop(new Date(), values.hook)
    if (values.endpoints !== "0") yield* hang(values.hanging, Number(values.endpoints))
    yield* Effect.sleep("2 seconds")
    // The first is not counted: compilers warm up.
    for (const [index, rate] of [300, ...values.rates.split(",").map(Number)].entries()) {
      const count = rate * Number(values.seconds)
      const ids = yield* Effect.replicateEffect(open(tenant), count, { concurrency: 16 })
      yield* Effect.sleep("1 second")
      const services = yield* Effect.context<PaymentRepo | DeliveryWake | SecureRandom.SecureRandom>()
      const settled = yield* Effect.promise(async () => {
        const begun = performance.now()
        const pending: Array<Promise<readonly [string, number]>> = []
        while (pending.length < count) {
          const due = Math.min(count, Math.floor(((performance.now() - begun) * rate) / 1000))
          for (const id of ids.slice(pending.length, due))
            pending.push(Effect.runPromiseWith(services)(Effect.orDie(settle(id))))
          await Bun.sleep(1)
        }
        return Promise.all(pending)
      })
      if (index > 0) console.log(`SETTLED ${JSON.stringify(Object.fromEntries(settled))}`)
      yield* Effect.sleep("3 seconds")
    }
  })
  await Effect.runPromise(
    program.pipe(
      Effect.provide(App.layer.pipe(Layer.provideMerge(AppConfig.layer(process.env)))),
      Effect.orDie
    )
  )
  process.exit()
}
