// Payments that are opened in one turn of the event loop: one statement, and none makes another fail.

import { describe, expect, test } from "bun:test"
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { parseAddress } from "../../../src/chain/Address.ts"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import type { OpenPayment } from "../../../src/payments/PaymentRepo/PaymentStore.ts"
import { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import { countingDatabase, testDatabase } from "../../support/database.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { liveEffect } from "../../support/run.ts"

const receiver = Option.getOrThrow(Option.fromNullishOr(parseAddress(`0x${"b".repeat(40)}`)))

const newMerchant = Effect.gen(function* () {
  const keys = yield* KeyAuth
  const own = freshAddress()
  const { merchant } = yield* Effect.orDie(
    keys.createMerchant({ name: "Shop", receivers: { test: own, live: own } })
  )
  return merchant.id
})

const inputOf = (merchantId: MerchantId, cents: number) =>
  Effect.map(
    Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7()),
    (id): OpenPayment => ({
      id: PaymentId.make(id),
      merchantId,
      env: "test",
      amount: AtomicUsdc.make(BigInt(cents) * 10_000n),
      intentUrl: `https://shop.example.com/${cents}`,
      receiver,
      payerType: "human",
      at: new Date("2026-05-01T12:00:00.123Z")
    })
  )

const together = { concurrency: "unbounded" } as const

describe("Opening together on Postgres", () => {
  const database = testDatabase
  const services = Layer.mergeAll(PaymentRepo.layer, KeyAuth.layer).pipe(Layer.provide(database.layer))
  const it = <E>(
    name: string,
    effect: Effect.Effect<unknown, E, PaymentRepo | KeyAuth | SecureRandom.SecureRandom>,
    random = SecureRandom.layerWebCrypto
  ) => liveEffect(name, () => Effect.provide(effect, services.pipe(Layer.provideMerge(random))))

  it(
    "each gets its own payment as stored, and a repeated token creates one payment",
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const inputs = yield* Effect.forEach([yield* newMerchant, yield* newMerchant], (merchant) =>
        Effect.forEach([1, 2, 3, 4, 5], (cents) => inputOf(merchant, cents))
      )
      const all = inputs.flat()
      const stored = yield* repo.open(all[3] ?? (yield* Effect.die("no input")))
      const opened = yield* Effect.forEach([...all, ...all], repo.open, together)
      for (const [index, { payment }] of opened.entries()) {
        const input = all[index % all.length]
        expect(payment).toMatchObject({ id: input?.id, amount: input?.amount, intentUrl: input?.intentUrl })
        const found = yield* repo.find(payment, payment.id)
        expect(payment).toEqual(Option.getOrThrow(found))
      }
      expect(opened.map(({ created }) => created)).toEqual(
        [...all, ...all].map((input, index) => index < all.length && input.id !== stored.payment.id)
      )
    })
  )

  it(
    "a payment that the database refuses fails on its own",
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const good = yield* inputOf(yield* newMerchant, 1)
      const bad = yield* inputOf(MerchantId.make("01a1fc34-7205-710e-9410-874fee9a4997"), 2)
      const further = { ...(yield* inputOf(good.merchantId, 3)) }
      const exits = yield* Effect.forEach(
        [good, bad, further],
        (input) => Effect.exit(repo.open(input)),
        together
      )
      expect(exits.map((exit) => Exit.isSuccess(exit))).toEqual([true, false, true])
      expect(Option.isSome(yield* repo.find(further, further.id))).toBe(true)
      expect(Option.isNone(yield* repo.find(bad, bad.id))).toBe(true)
    })
  )

  it(
    "a reference code that exists is drawn again, for one payment and for a whole turn",
    Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const merchant = yield* newMerchant
      const inputs = yield* Effect.forEach([1, 2, 3, 4], (cents) => inputOf(merchant, cents))
      const [first, ...rest] = inputs
      const one = yield* repo.open(first ?? (yield* Effect.die("no input")))
      const opened = yield* Effect.forEach(rest, repo.open, together)
      expect(opened.every(({ created }) => created)).toBe(true)
      expect(new Set([one, ...opened].map(({ payment }) => payment.refCode)).size).toBe(4)
    }),
    repeatingRandom
  )
})

/** Returns the same bytes for the first six reference codes. */
const repeatingRandom = Layer.effect(
  SecureRandom.SecureRandom,
  Effect.map(SecureRandom.SecureRandom, (random) => {
    let draws = 0
    return {
      ...random,
      randomBytes: (size: number) =>
        size === 16 && ++draws <= 6 ? Effect.succeed(new Uint8Array(16)) : random.randomBytes(size)
    }
  })
).pipe(Layer.provide(SecureRandom.layerWebCrypto))

describe("Opening together over HTTP", () => {
  test("twenty at once cost one round trip", async () => {
    let roundTrips = 0
    const database = countingDatabase(() => roundTrips++)
    const services = Layer.mergeAll(PaymentRepo.layer, KeyAuth.layer).pipe(
      Layer.provide(database.layer),
      Layer.provideMerge(SecureRandom.layerWebCrypto)
    )
    const scope = Effect.runSync(Scope.make())
    const context = await Effect.runPromise(Scope.provide(Layer.build(services), scope))
    const cost = await Effect.gen(function* () {
      const repo = yield* PaymentRepo
      const merchant = yield* newMerchant
      const inputs = yield* Effect.forEach(Array.from({ length: 40 }), (_, cents) =>
        inputOf(merchant, cents + 1)
      )
      yield* Effect.forEach(inputs.slice(0, 20), repo.open, together)
      const before = roundTrips
      yield* Effect.forEach(inputs.slice(20), repo.open, together)
      return roundTrips - before
    }).pipe(Effect.provide(context), Effect.runPromise)
    expect(cost).toBe(1)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })
})
