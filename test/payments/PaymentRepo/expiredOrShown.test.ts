// A payment expires on one instance while another shows its address: an address is shown only of a payment that does
// not expire and that its link gives to the next visitor too.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { LinkRepo } from "../../../src/payments/links/LinkRepo.ts"
import { liveEffect } from "../../support/run.ts"
import { twoInstances } from "./twoInstances.ts"

const scene = Effect.gen(function* () {
  const instances = yield* twoInstances
  const { createdAt } = yield* instances.payment
  const at = new Date(createdAt.getTime() + 3_600_000)
  const links = Context.get(
    yield* Layer.build(
      Layer.fresh(LinkRepo.layer).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, instances.other.sql)))
    ),
    LinkRepo
  )
  const { one, other, paymentId } = instances
  return {
    ...instances,
    show: other.attemptRepo.recordAddressShown(paymentId, at),
    expire: one.repo.expire({ openedBefore: { test: at, live: at }, reportedBefore: at, at }),
    isUntried: links.isUntried(paymentId)
  }
})

describe("The address of a payment on Postgres", () => {
  liveEffect("is not shown if the payment is just expiring", () =>
    Effect.gen(function* () {
      const { expire, isUntried, one, paymentId, show } = yield* scene
      const showing = yield* one.sql.withTransaction(
        Effect.gen(function* () {
          expect((yield* expire).map(({ id }) => id)).toEqual([paymentId])
          const showing = Effect.runPromise(show)
          yield* Effect.sleep("300 millis")
          return { showing }
        })
      )
      expect(yield* Effect.promise(() => showing.showing)).toBeFalse()
      expect(yield* isUntried).toBeTrue()
    })
  )

  liveEffect("keeps the payment from expiring, and its link from another payment, while it is recorded", () =>
    Effect.gen(function* () {
      const { expire, isUntried, other, paymentId, show } = yield* scene
      const meanwhile = yield* other.sql.withTransaction(
        Effect.gen(function* () {
          expect(yield* show).toBeTrue()
          return yield* expire
        })
      )
      expect(meanwhile).toEqual([])
      expect((yield* expire).map(({ id }) => id)).toEqual([paymentId])
      expect(yield* isUntried).toBeFalse()
    })
  )
})
