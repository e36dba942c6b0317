// The tab is closed, the service dies, the nodes are down: on real databases and
// anvil with the real USDC the payment settles all the same, and once.
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { type Context, Effect, Layer, ManagedRuntime, Result, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Payments } from "../../src/payments/Payments.ts"
import * as Reconciler from "../../src/payments/Reconciler.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { localChain, pay, person, transferData, usdc } from "../support/anvilSuite.ts"
import { row } from "../support/attackRows.ts"
import { testDatabase } from "../support/database.ts"
import {
  newMerchant,
  openPayment,
  type PaymentStack,
  reportOf,
  sqlStack,
  stateOf
} from "../support/paymentStack.ts"
import { rpcProxy } from "../support/rpcProxy.ts"
import { liveEffect } from "../support/run.ts"
import { makeShiftedClock } from "../support/shiftedClock.ts"

setDefaultTimeout(60_000)

const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())
const atomic = 1_000_000n

describe("kept reports on anvil on Postgres", () => {
  const database = testDatabase
  const world = Effect.gen(function* () {
    const chain = yield* LocalChain
    const clock = makeShiftedClock()
    const node = yield* rpcProxy(chain.rpcUrl)
    const store = Layer.succeedContext(yield* Layer.build(database.layer))
    const down = () => ({ raw: new Response("", { status: 503 }) })

    /** One run of the service: requests and reconciler. It ends with the scope. */
    const service = Effect.gen(function* () {
      const stack = yield* Layer.build(
        Layer.fresh(Layer.merge(Reconciler.layer, Layer.empty)).pipe(
          Layer.provideMerge(Layer.fresh(sqlStack)),
          Layer.provideMerge(
            ChainVerifier.layer({
              confirmations: { test: 1 },
              finalityDepth: 5,
              memory: 0,
              negativeMemory: 0
            })
          ),
          Layer.provideMerge(
            Layer.fresh(
              RpcPool.layer({ urls: { test: [node.url] }, retries: 0, timeout: 300, deadline: 500 })
            )
          ),
          Layer.provideMerge(store)
        )
      )
      return stack
    }).pipe(clock.run)
    const within =
      (stack: Context.Context<PaymentStack | SqlClient.SqlClient>) =>
      <A, E>(effect: Effect.Effect<A, E, PaymentStack | SqlClient.SqlClient>) =>
        effect.pipe(Effect.provideContext(stack), clock.run)
    const [buyer, merchant] = yield* Effect.all([person(90), person(91)])
    yield* chain.mint(buyer, 100_000_000n)
    return {
      chain,
      clock,
      buyer,
      merchant,
      service,
      within,
      nodes: (up: boolean) => Effect.sync(() => node.behave(up ? () => undefined : down))
    }
  })
  const it = (name: string, test: Effect.Effect<unknown, unknown, LocalChain | Scope.Scope>) =>
    liveEffect(name, () =>
      Effect.flatMap(
        Effect.promise(() => runtime.context()),
        (chain) => Effect.provideContext(test, chain)
      )
    )

  it(
    `${row.rpcLags}: reported in an outage, the service restarted, the tab closed: settles once the nodes are back`,
    Effect.gen(function* () {
      const { buyer, chain, clock, merchant, nodes, service, within } = yield* world
      const { payment, tenant } = yield* Effect.scoped(
        Effect.gen(function* () {
          const run = within(yield* service)
          return yield* run(
            Effect.gen(function* () {
              const { principal, tenant } = yield* newMerchant(merchant)
              const payment = yield* openPayment(principal, merchant, atomic)
              const transfer = yield* pay(buyer, merchant, atomic).pipe(
                Effect.provideService(LocalChain, chain)
              )
              yield* nodes(false)
              const payments = yield* Payments
              const answer = yield* Effect.result(
                payments.report(principal, payment.id, reportOf(payment, buyer, transfer))
              )
              expect(Result.isFailure(answer) && answer.failure.code).toBe("CHAIN_UNAVAILABLE")
              return { payment, tenant }
            })
          )
        })
      )
      yield* chain.mine(2)
      const one = within(yield* service)
      const two = within(yield* service)
      // A first look in the outage; nothing is decided by it.
      yield* clock.pass(10)
      yield* Effect.sleep("1500 millis")
      expect((yield* one(stateOf(payment))).status).toBe("pending")
      yield* nodes(true)
      // Time goes on: a look that the machine was too slow for is made again.
      const settled = yield* clock
        .pass(10)
        .pipe(
          Effect.andThen(Effect.sleep("250 millis")),
          Effect.andThen(two(stateOf(payment))),
          Effect.repeat({ until: ({ status }) => status === "settled", times: 100 })
        )
      expect(settled.status).toBe("settled")
      const deliveries = yield* one(
        Effect.flatMap(WebhookRepo, (webhooks) => webhooks.listDeliveries(tenant, 10))
      )
      expect(deliveries).toHaveLength(1)
    })
  )

  it(
    `${row.reorganised}: a dropped transfer is told and changes nothing; its return at a new block is recognised`,
    Effect.gen(function* () {
      const { buyer, chain, clock, merchant, service, within } = yield* world
      const run = within(yield* service)
      yield* chain.setEth(buyer, 10n ** 18n)
      const { before, payment, transfer } = yield* run(
        Effect.gen(function* () {
          const { principal } = yield* newMerchant(merchant)
          const payment = yield* openPayment(principal, merchant, atomic)
          const signed = yield* Effect.promise(() =>
            chain.walletClient(90).sendTransaction({ to: usdc, data: transferData(merchant, atomic) })
          )
          const transfer = TransactionHash.make(signed)
          yield* chain.mine(1)
          const payments = yield* Payments
          yield* payments.report(principal, payment.id, reportOf(payment, buyer, transfer))
          return { payment, transfer, before: yield* stateOf(payment) }
        })
      )
      expect(before.status).toBe("settled")
      const raw = yield* chain.rpc("eth_getRawTransactionByHash", [transfer])
      const openAlerts = run(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const rows = yield* sql`
            SELECT kind, subject, merchant_id FROM alerts WHERE acknowledged_at IS NULL AND kind = 'transfer_dropped'`
          return rows.map((found) => [found["kind"], found["subject"], found["merchant_id"]])
        })
      )
      const soon = <A>(effect: Effect.Effect<A, unknown>, until: (value: A) => boolean) =>
        effect.pipe(Effect.delay("100 millis"), Effect.repeat({ until, times: 120 }))

      yield* chain.rpc("anvil_reorg", [2, []])
      yield* clock.pass(65)
      expect(yield* soon(openAlerts, (all) => all.length > 0)).toEqual([
        ["transfer_dropped", payment.id, payment.merchantId]
      ])
      expect(yield* run(stateOf(payment))).toEqual(before)

      yield* chain.rpc("eth_sendRawTransaction", [raw])
      yield* clock.pass(65)
      expect(yield* soon(openAlerts, (all) => all.length === 0)).toEqual([])
      expect(yield* run(stateOf(payment))).toEqual(before)
      const receipt = yield* Effect.promise(() =>
        chain.publicClient.getTransactionReceipt({ hash: transfer })
      )
      const [watched] = yield* run(
        Effect.flatMap(PaymentRepo, (repo) => repo.takeWatched(new Date(8.64e15), new Date(8.64e15), 10))
      )
      expect(watched).toMatchObject({ blockHash: receipt.blockHash, droppedAt: null })
    })
  )
})
