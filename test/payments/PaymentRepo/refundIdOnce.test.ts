// Refunds of two payments are created with one id at once: one succeeds, and the other is refused.
import { expect } from "bun:test"
import { Effect, Option } from "effect"
import { TransactionHash } from "../../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import type { NewRefund } from "../../../src/payments/refunds/RefundRepo/RefundStore.ts"
import { liveEffect } from "../../support/run.ts"
import { twoInstances } from "./twoInstances.ts"

liveEffect("an id that a refund of another payment takes first is reported as that one's", () =>
  Effect.gen(function* () {
    const { one, other, payment, paymentId, settle, settlement, tenant, untilOneWaits } = yield* twoInstances
    const { amount, createdAt: at, receiver } = yield* payment
    const second = PaymentId.make(Bun.randomUUIDv7())
    yield* one.repo.open({
      ...{ ...tenant, id: second, amount, receiver, payerType: "human", at },
      intentUrl: "https://shop.example.com/2"
    })
    expect(Option.isSome(yield* settle)).toBeTrue()
    const transactionId = TransactionHash.make(`0x${"2".padStart(64, "0")}`)
    const paid = yield* one.repo.settle({
      ...settlement,
      paymentId: second,
      evidence: { ...settlement.evidence, transactionId },
      transfer: { ...settlement.transfer, transactionId },
      delivery: { ...settlement.delivery, id: Bun.randomUUIDv7() }
    })
    expect(Option.isSome(paid)).toBeTrue()
    const refundOf = (id: PaymentId): NewRefund => ({
      ...tenant,
      id: "01a20000-0000-7000-8000-000000000001",
      hasOwnId: true,
      of: { paymentId: id },
      amount: AtomicUsdc.make(1_000_000n),
      recipient: settlement.evidence.payer,
      beyondPaid: false,
      reason: null,
      transactionId: null,
      createdBy: "API",
      at,
      createdBlock: null,
      checkAt: at
    })
    const creating = yield* one.sql.withTransaction(
      Effect.gen(function* () {
        expect(yield* one.refundRepo.createRefund(refundOf(paymentId))).toMatchObject({ _tag: "Created" })
        const creating = Effect.runPromise(other.refundRepo.createRefund(refundOf(second)))
        yield* Effect.promise(untilOneWaits)
        return { creating }
      })
    )
    expect(yield* Effect.promise(() => creating.creating)).toMatchObject({
      _tag: "Known",
      refund: { paymentId }
    })
  })
)
