// A payment is reported on one instance, by a wallet that has not announced it, while another instance ends it: because
// it expires, or because its link gives another visitor a payment of another amount.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { LinkRepo } from "../../../src/payments/links/LinkRepo.ts"
import { liveEffect } from "../../support/run.ts"
import { twoInstances } from "./twoInstances.ts"

const scene = Effect.gen(function* () {
  const instances = yield* twoInstances
  const { one, other, paymentId, settlement, tenant } = instances
  const { createdAt } = yield* instances.payment
  const at = new Date(createdAt.getTime() + 3_600_000)
  const links = Context.get(
    yield* Layer.build(
      Layer.fresh(LinkRepo.layer).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, other.sql)))
    ),
    LinkRepo
  )
  const id = `once-${crypto.randomUUID()}`
  yield* links.insert({
    ...{ ...tenant, id, publishableKey: "pk_test", description: "Gift", once: true, paymentId },
    ...{ amount: null, least: AtomicUsdc.make(1n), most: AtomicUsdc.make(9_000_000n) },
    ...{ createdAt, expiresAt: null, closedAt: null }
  })
  return {
    ...instances,
    report: one.repo.report({
      ...{ ...tenant, paymentId, evidence: settlement.evidence, payerType: "human" },
      ...{ at, nextCheckAt: at }
    }),
    replace: links.bindPayment(id, paymentId, PaymentId.make(Bun.randomUUIDv7()), at),
    expire: other.repo.expire({ openedBefore: { test: at, live: at }, reportedBefore: at, at })
  }
})

describe("A payment on Postgres that is being reported", () => {
  liveEffect("stays its link's payment: the next visitor gets it", () =>
    Effect.gen(function* () {
      const { one, payment, paymentId, replace, report, untilOneWaits } = yield* scene
      const replacing = yield* one.sql.withTransaction(
        Effect.gen(function* () {
          yield* report
          const replacing = Effect.runPromise(replace)
          yield* Effect.promise(untilOneWaits)
          return { replacing }
        })
      )
      expect(yield* Effect.promise(() => replacing.replacing)).toBe(paymentId)
      expect((yield* payment).status).toBe("pending")
    })
  )

  liveEffect("does not expire", () =>
    Effect.gen(function* () {
      const { expire, one, payment, report } = yield* scene
      expect(yield* one.sql.withTransaction(Effect.andThen(report, expire))).toEqual([])
      expect(yield* expire).toEqual([])
      expect((yield* payment).status).toBe("pending")
    })
  )
})
