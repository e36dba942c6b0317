// The model's world on the memory layers, under a clock that stands still.
import {
  Context,
  Duration,
  Effect,
  Exit,
  Layer,
  ManagedRuntime,
  Option,
  References,
  Result,
  Scope
} from "effect"
import { TestClock } from "effect/testing"
import { AppConfig } from "../../src/AppConfig.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import type { TransactionHash } from "../../src/domain/Chain.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Payments } from "../../src/payments/Payments.ts"
import * as Reconciler from "../../src/payments/Reconciler.ts"
import * as TransferWatch from "../../src/payments/TransferWatch.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { testConfig } from "../support/memory.ts"
import { memoryStack, newMerchant, openPayment, paymentsOver, reportOf } from "../support/paymentStack.ts"
import { payer, receiver, thief } from "../support/rawReceipts.ts"
import { expirySeconds, type World } from "./paymentModel.ts"

const buyers = [payer, thief] as const

export const makeMemoryWorld = async (): Promise<World> => {
  const runtime = ManagedRuntime.make(
    memoryStack.pipe(
      Layer.provideMerge(ChainVerifier.layerMemory),
      Layer.provideMerge(Layer.merge(TestClock.layer(), Layer.succeed(References.MinimumLogLevel, "None")))
    )
  )
  const context = await runtime.context()
  const chain = Context.get(context, MemoryChain)
  const repo = Context.get(context, PaymentRepo)
  const webhooks = Context.get(context, WebhookRepo)
  const { principal, tenant } = await runtime.runPromise(newMerchant(receiver))
  for (const buyer of buyers) await runtime.runPromise(chain.fund(buyer, { usdcAtomic: 1_000_000n }))
  const payments: Array<Payment> = []
  const sent: Array<TransactionHash> = []

  // What a restart replaces: everything but the chain and what is at rest.
  const start = async () => {
    const scope = Scope.makeUnsafe()
    const built = await runtime.runPromise(
      Layer.buildWithScope(
        Layer.fresh(
          Layer.merge(Reconciler.layer, TransferWatch.layer).pipe(Layer.provideMerge(paymentsOver))
        ).pipe(
          Layer.provide(
            Layer.effect(
              AppConfig,
              Effect.map(AppConfig, (config) => ({
                ...config,
                paymentExpiry: Duration.seconds(expirySeconds)
              }))
            ).pipe(Layer.provide(testConfig()))
          ),
          Layer.provide(Layer.succeedContext(context))
        ),
        scope
      )
    )
    return { scope, payments: Context.get(built, Payments) }
  }
  let service = await start()

  return {
    open: async (amount) => {
      payments.push(await runtime.runPromise(openPayment(principal, receiver, BigInt(amount))))
    },
    send: async (from, amount, copies) => {
      const one = { from: buyers[from], to: receiver, amount: BigInt(amount) }
      sent.push(await runtime.runPromise(chain.batch(Array.from({ length: copies }, () => one))))
    },
    mine: (blocks) => runtime.runPromise(chain.mine(blocks)),
    reorganise: (depth, keep) => runtime.runPromise(chain.reorganise(depth, keep ? "keep" : "drop")),
    fault: (fault) => runtime.runPromise(chain.fault(fault)),
    report: async (index, transaction, by) => {
      const [payment, hash] = [payments[index], sent[transaction]]
      if (payment === undefined || hash === undefined) return "nothing"
      const answer = await runtime.runPromise(
        Effect.result(service.payments.report(principal, payment.id, reportOf(payment, buyers[by], hash)))
      )
      if (Result.isSuccess(answer)) return answer.success._tag
      const { code, reason } = answer.failure
      return reason === undefined ? code : `${code} ${reason}`
    },
    restart: async () => {
      await runtime.runPromise(Scope.close(service.scope, Exit.void))
      service = await start()
    },
    pass: (seconds) => runtime.runPromise(TestClock.adjust(Duration.seconds(seconds))),
    statuses: () =>
      runtime.runPromise(
        Effect.forEach(payments, (payment) =>
          Effect.map(
            Effect.map(repo.find(payment, payment.id), Option.getOrThrow),
            ({ reported, status }) => ({
              status,
              transaction: reported === null ? -1 : sent.indexOf(reported.evidence.transactionId)
            })
          )
        )
      ),
    deliveries: () =>
      runtime.runPromise(Effect.map(webhooks.listDeliveries(tenant, 1000), (all) => all.length)),
    close: () => runtime.dispose()
  }
}
