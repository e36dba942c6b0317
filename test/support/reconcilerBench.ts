// Reconcilers in memory under a clock that the test moves, and a shop that reports.

import { Clock, DateTime, Duration, Effect, Layer, Option, type Scope } from "effect"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { Payments } from "../../src/payments/Payments.ts"
import * as Reconciler from "../../src/payments/Reconciler.ts"
import type { ChainCursor } from "../../src/payments/TransferRepo/TransferStore.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import type { Alert } from "../../src/platform/alerts/Alert.ts"
import { Alerts } from "../../src/platform/alerts/Alerts.ts"
import { DueWork } from "../../src/platform/workers/DueWork.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import {
  memoryStack,
  newMerchant,
  openPayment,
  type PaymentStack,
  reportOf,
  stateOf
} from "./paymentStack.ts"
import { type hash, payer, receiver } from "./rawReceipts.ts"
import { testEffect } from "./run.ts"

export type Everything = PaymentStack | ChainVerifier | MemoryChain

/** The verifier, which records the time of each call. */
const noting = (looks: Array<number>) =>
  Layer.effect(
    ChainVerifier,
    Effect.map(ChainVerifier, (verifier) => ({
      ...verifier,
      verify: (expectation) =>
        Effect.andThen(
          Effect.map(Clock.currentTimeMillis, (now) => void looks.push(now)),
          verifier.verify(expectation)
        )
    }))
  )

/** Knows how far the chain has been read, but no transfer. */
const layerCursor = Layer.effect(
  TransferRepo,
  Effect.map(TransferRepo, (none) => {
    let cursor = Option.none<ChainCursor>()
    return {
      ...none,
      cursor: () => Effect.sync(() => cursor),
      startCursor: (_, read) =>
        Effect.sync(() => {
          cursor = Option.some(read)
        })
    }
  })
).pipe(Layer.provide(TransferRepo.layerNone))

/** Everything in memory, with `instances` reconcilers; the chain seals blocks only on request. */
export const reconcilerTest = <E>(
  name: string,
  effect: (raised: Array<Alert>, looks: Array<number>) => Effect.Effect<unknown, E, Everything | Scope.Scope>,
  instances = 1,
  /** The shortest interval between polls of its workers; a longer one lets days pass more quickly. */
  pace: Duration.Input = 0
) =>
  testEffect(name, () =>
    Effect.gen(function* () {
      const raised: Array<Alert> = []
      const looks: Array<number> = []
      const alerts = Layer.succeed(Alerts, {
        raise: (alert) =>
          Effect.sync(() => {
            const known = raised.some(({ kind, subject }) => kind === alert.kind && subject === alert.subject)
            if (alert.since === undefined || !known) raised.push(alert)
          }),
        resolve: () => Effect.void
      })
      const stack = yield* Layer.build(
        layerCursor.pipe(
          Layer.provideMerge(memoryStack),
          Layer.provideMerge(noting(looks)),
          Layer.provideMerge(ChainVerifier.layerMemoryWith({ finalityDepth: 5 }))
        )
      )
      const services = Layer.succeedContext(stack)
      for (let instance = 0; instance < instances; instance++) {
        yield* Layer.build(
          Layer.fresh(Reconciler.layer).pipe(Layer.provide(alerts), Layer.provide(services))
        ).pipe(
          Effect.provideService(DueWork, {
            next: (_, own) => Effect.sleep(Math.max(Duration.toMillis(own), Duration.toMillis(pace))),
            isAwaited: () => true
          })
        )
      }
      yield* Effect.flatMap(MemoryChain, (chain) => chain.automine(false)).pipe(Effect.provideContext(stack))
      yield* effect(raised, looks).pipe(Effect.provideContext(stack))
    })
  )

export const shop = Effect.gen(function* () {
  const merchant = yield* newMerchant(receiver)
  const payments = yield* Payments
  const webhooks = yield* WebhookRepo
  const chain = yield* MemoryChain
  const open = openPayment(merchant.principal, receiver, 1_000_000n)
  const send = (payment: Payment, amount: bigint = payment.amount) =>
    chain
      .fund(payer, { usdcAtomic: amount })
      .pipe(Effect.andThen(chain.transfer({ from: payer, to: receiver, amount })))
  const report = (payment: Payment, transactionId: ReturnType<typeof hash>, by = payer) =>
    payments.report(merchant.principal, payment.id, reportOf(payment, by, transactionId)).pipe(Effect.result)
  const deliveries = Effect.map(webhooks.listDeliveries(merchant.tenant, 100), (all) => all.length)
  return { ...merchant, chain, open, send, report, deliveries }
})

/** Marks the chain as read up to now, without the blocks that a test need not seal. */
export const readChain = Effect.gen(function* () {
  const transferRepo = yield* TransferRepo
  const at = yield* DateTime.nowAsDate
  const millis = at.getTime()
  yield* transferRepo.startCursor("test", {
    blockNumber: BigInt(millis),
    blockHash: TransactionHash.make(`0x${millis.toString(16).padStart(64, "0")}`),
    blockTime: at
  })
})

export const statusOf = (payment: Payment) =>
  Effect.map(stateOf(payment), ({ failureReason, status }) =>
    failureReason === null ? status : `${status}: ${failureReason}`
  )
