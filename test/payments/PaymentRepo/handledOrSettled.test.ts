// A person handles a transfer on one instance while another settles a payment by it: one of them succeeds.
import { describe, expect } from "bun:test"
import type { SQL } from "bun"
import { Effect, Option } from "effect"
import type { TransferRepo } from "../../../src/payments/TransferRepo.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { liveEffect } from "../../support/run.ts"
import { person, twoInstances } from "./twoInstances.ts"

const scene = Effect.tap(twoInstances, ({ read }) => read())

describe("A transfer on Postgres is handled or settles a payment", () => {
  const failed = (sql: SQL, id: string) => sql`
    UPDATE payments SET status = 'failed', failed_at = now(), failure_reason = 'expired' WHERE id = ${id}`

  for (const [name, hold] of [
    ["waits for", (sql: SQL, id: string) => sql`SELECT 1 FROM payments WHERE id = ${id} FOR NO KEY UPDATE`],
    ["waits for a change of", failed]
  ] as const)
    liveEffect(`handled while the settlement ${name} its payment's row: nothing settles`, () =>
      Effect.gen(function* () {
        const { handle, payment, paymentId, settle, transfer, untilOneWaits, watch } = yield* scene
        const { before, handled, waiting } = yield* Effect.promise(() =>
          watch.begin(async (transaction) => {
            await hold(transaction, paymentId)
            const settling = Effect.runPromise(settle)
            await untilOneWaits()
            const before = (await Effect.runPromise(payment)).status
            return { before, waiting: { settling }, handled: await Effect.runPromise(handle) }
          })
        )
        expect([before, handled]).toEqual(["pending", true])
        expect(Option.isNone(yield* Effect.promise(() => waiting.settling))).toBeTrue()
        expect((yield* payment).status).toBe(hold === failed ? "failed" : "pending")
        expect(yield* transfer).toMatchObject({
          paymentId: null,
          handledBy: person.person,
          note: person.note
        })
      })
    )

  liveEffect("a payment that fails while its settlement waits for the row still settles", () =>
    Effect.gen(function* () {
      const { payment, paymentId, settle, transfer, untilOneWaits, watch } = yield* scene
      const { settling } = yield* Effect.promise(() =>
        watch.begin(async (transaction) => {
          await failed(transaction, paymentId)
          const settling = Effect.runPromise(settle)
          await untilOneWaits()
          return { settling: () => settling }
        })
      )
      expect(Option.isSome(yield* Effect.promise(settling))).toBeTrue()
      expect(yield* payment).toMatchObject({ status: "settled", failureReason: null })
      expect(yield* transfer).toMatchObject({ paymentId })
    })
  )

  liveEffect("handled while the settlement by it is not committed: the handling is refused", () =>
    Effect.gen(function* () {
      const { handle, one, payment, paymentId, settle, transfer, untilOneWaits } = yield* scene
      const handling = yield* one.sql.withTransaction(
        Effect.gen(function* () {
          expect(Option.isSome(yield* settle)).toBeTrue()
          const handled = Effect.runPromise(handle)
          yield* Effect.promise(untilOneWaits)
          return { handled }
        })
      )
      expect(yield* Effect.promise(() => handling.handled)).toBeFalse()
      expect((yield* payment).status).toBe("settled")
      expect(yield* transfer).toMatchObject({ paymentId, handledBy: null, note: null })
    })
  )

  const explained = {
    "when its matching ends": (repo: TransferRepo["Service"], id: string) =>
      repo.recordMatch(id, { kind: "unknown" }),
    "when people are alerted": (repo: TransferRepo["Service"]) => repo.tenantsToAlert(new Date("2026-06-01"))
  }
  for (const [when, explain] of Object.entries(explained))
    liveEffect(
      `read while its settlement is not committed: handling is refused, and ${when} it is found`,
      () =>
        Effect.gen(function* () {
          const { handle, id, one, other, paymentId, read, settle, tenant, transfer } = yield* twoInstances
          const receiver = freshAddress()
          const { merchant } = yield* one.keys.createMerchant({
            name: "Where it is received by now",
            receivers: { test: receiver, live: receiver }
          })
          yield* one.sql.withTransaction(
            Effect.gen(function* () {
              expect(Option.isSome(yield* settle)).toBeTrue()
              expect(yield* Effect.promise(() => Effect.runPromise(read(merchant.id)))).toBeTrue()
            })
          )
          const present = { ...tenant, merchantId: merchant.id }
          expect(Option.getOrThrow(yield* other.transferRepo.findTransfer(present, id)).paymentId).toBeNull()
          expect(yield* handle).toBeFalse()
          expect(yield* other.transferRepo.handleTransfer(present, id, person)).toBeFalse()
          yield* explain(other.transferRepo, id)
          expect(Option.isNone(yield* other.transferRepo.findTransfer(present, id))).toBeTrue()
          expect(yield* transfer).toMatchObject({ paymentId, handledBy: null })
        })
    )
})
