// The rules of payment links: amounts, bounds, expiry, closing.
import { describe, expect } from "bun:test"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Address } from "../../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { PaymentIntents } from "../../../src/payments/intents/PaymentIntents.ts"
import { NewLink } from "../../../src/payments/links/Api.ts"
import { LinkRepo } from "../../../src/payments/links/LinkRepo.ts"
import { Links } from "../../../src/payments/links/Links.ts"
import { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { testConfig } from "../../support/memory.ts"
import { testEffect } from "../../support/run.ts"

const layerWith = (random: Layer.Layer<SecureRandom.SecureRandom>) =>
  Links.layer.pipe(
    Layer.provide(PaymentIntents.layer),
    Layer.provideMerge(Layer.mergeAll(LinkRepo.layer, KeyAuth.layer, PaymentRepo.layer)),
    Layer.provide([testConfig(), random, testDatabase.layer])
  )
const layer = layerWith(SecureRandom.layerWebCrypto)
const usd = (dollars: number) => AtomicUsdc.make(BigInt(dollars) * 1_000_000n)

const shop = Effect.gen(function* () {
  const keys = yield* KeyAuth
  const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
  const { merchant } = yield* keys.createMerchant({
    name: "Shop",
    receivers: { test: receiver, live: receiver }
  })
  return { merchant, env: "test" } as const
})

const day = new Date("2026-03-01T00:00:00Z")

/** Set before anything sleeps, so that moving the clock wakes nothing. */
const onThatDay = <E>(name: string, effect: () => Effect.Effect<unknown, E, Layer.Success<typeof layer>>) =>
  testEffect(name, () => Effect.andThen(TestClock.setTime(day.getTime()), Effect.provide(effect(), layer)))

/** Eighteen bytes that base64url encodes as hyphens. */
const hyphens = Layer.succeed(
  SecureRandom.SecureRandom,
  SecureRandom.make((size) =>
    size === 18
      ? Uint8Array.from({ length: size }, (_, index) => [0xfb, 0xef, 0xbe][index % 3] ?? 0)
      : crypto.getRandomValues(new Uint8Array(size))
  )
)

describe("payment links", () => {
  testEffect("an id does not begin with a hyphen, which a command would read as an option", () =>
    Effect.gen(function* () {
      const links = yield* Links
      const { id } = yield* links.create(yield* shop, { description: "Tea", amount: usd(5) })
      expect(id).toBe(`_${"-".repeat(23)}`)
    }).pipe(Effect.provide(layerWith(hyphens)))
  )

  onThatDay("a fixed amount is the only one that the link accepts", () =>
    Effect.gen(function* () {
      const links = yield* Links
      const { id } = yield* links.create(yield* shop, { description: "Tea", amount: usd(5) })
      expect(yield* links.open(id, {})).toMatchObject({ publishableKey: expect.stringMatching(/^pk_test_/) })
      const refusal = yield* Effect.flip(links.open(id, { amount: usd(4) }))
      expect(refusal).toMatchObject({
        details: [{ path: "body.amount", message: "Must be 5.00, or absent." }]
      })
    })
  )

  onThatDay("bounds include their ends, and nothing beyond", () =>
    Effect.gen(function* () {
      const links = yield* Links
      const { id } = yield* links.create(yield* shop, {
        description: "Gift",
        minAmount: usd(5),
        maxAmount: usd(10)
      })
      for (const amount of [usd(5), usd(10)]) yield* links.open(id, { amount })
      for (const amount of [usd(4), usd(11), undefined])
        expect(yield* Effect.flip(links.open(id, amount === undefined ? {} : { amount }))).toMatchObject({
          details: [{ message: "Must be from 5.00 to 10.00." }]
        })
    })
  )

  onThatDay("refuses both or half of the amounts, inverted bounds, and an expiry in the past", () =>
    Effect.gen(function* () {
      const links = yield* Links
      const owner = yield* shop
      for (const [input, path] of [
        [{ amount: usd(5), minAmount: usd(5), maxAmount: usd(6) }, "body.amount"],
        [{ minAmount: usd(5) }, "body.amount"],
        [{}, "body.amount"],
        [{ minAmount: usd(6), maxAmount: usd(5) }, "body.maxAmount"],
        [{ amount: usd(5), expiresAt: "2026-02-28T23:59:59Z" }, "body.expiresAt"]
      ] as const)
        expect(yield* Effect.flip(links.create(owner, { description: "x", ...input }))).toMatchObject({
          details: [{ path }]
        })
      expect(yield* links.list(owner)).toEqual({ links: [], hasMore: false })
    })
  )

  testEffect("an expiry must be a real calendar instant", () =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownEffect(NewLink)
      const until = (expiresAt: string) => ({ description: "Tea", amount: "5.00", expiresAt })
      for (const day of ["2028-02-29T00:00:00Z", "2027-12-31T23:59:59.9Z", "9999-12-31T23:59:59.999Z"])
        expect(yield* decode(until(day))).toMatchObject({ expiresAt: day })
      for (const [day, said] of [
        ["2027-02-29T00:00:00Z", "a date that exists"],
        ["2027-04-31T12:00:00.000Z", "a date that exists"],
        ["9999-12-31T24:00:00Z", "ISO 8601 in UTC"]
      ] as const)
        expect(String(yield* Effect.flip(decode(until(day))))).toContain(said)
    })
  )

  onThatDay("expires to the second, and closes at once", () =>
    Effect.gen(function* () {
      const links = yield* Links
      const owner = yield* shop
      const terms = { description: "Tea", amount: usd(5) }
      const expiring = yield* links.create(owner, { ...terms, expiresAt: "2026-03-01T00:00:10Z" })
      const closing = yield* links.create(owner, terms)
      yield* TestClock.adjust("9 seconds")
      expect((yield* links.read(expiring.id)).state).toBe("open")
      yield* TestClock.adjust("1 second")
      expect(yield* Effect.flip(links.open(expiring.id, {}))).toMatchObject({ reason: "expired" })
      yield* links.close(owner, closing.id)
      expect(yield* Effect.flip(links.open(closing.id, {}))).toMatchObject({ reason: "closed" })
      expect(DateTime.toEpochMillis(yield* DateTime.now)).toBe(day.getTime() + 10_000)
    })
  )

  onThatDay("every link is listed, page by page, and another merchant's link is no valid cursor", () =>
    Effect.gen(function* () {
      const links = yield* Links
      const owner = yield* shop
      const made = yield* Effect.forEach(Array.from({ length: 5 }), () =>
        Effect.tap(links.create(owner, { description: "Tea", amount: usd(5) }), TestClock.adjust("1 second"))
      )
      const ids = made.map((one) => one.id).toReversed()
      const first = yield* links.list(owner, { limit: 3 })
      expect([first.links.map((one) => one.id), first.hasMore]).toEqual([ids.slice(0, 3), true])
      const rest = yield* links.list(owner, { limit: 3, startingAfter: ids[2] })
      expect([rest.links.map((one) => one.id), rest.hasMore]).toEqual([ids.slice(3), false])
      const live = { ...owner, env: "live" as const }
      expect(yield* Effect.flip(links.list(live, { startingAfter: ids[2] }))).toMatchObject({
        details: [{ path: "query.startingAfter" }]
      })
    })
  )

  onThatDay("a rotated key closes no link; a merchant without a publishable key has no open one", () =>
    Effect.gen(function* () {
      const [links, keys] = [yield* Links, yield* KeyAuth]
      const owner = yield* shop
      const publishable = Effect.map(keys.listKeys(owner.merchant.id), (all) =>
        all.filter((one) => one.kind === "publishable" && one.env === "test" && one.revokedAt === null)
      )
      const before = yield* publishable
      const { id } = yield* links.create(owner, { description: "Tea", amount: usd(5) })
      // No new key is created.
      expect(yield* publishable).toHaveLength(before.length)
      const first = yield* links.open(id, {})
      for (const key of yield* publishable) yield* keys.rotateKey(owner.merchant.id, key.id)
      const second = yield* links.open(id, {})
      expect(second.publishableKey).not.toBe(first.publishableKey)
      yield* keys.authenticate(second.publishableKey)
      expect((yield* links.read(id)).state).toBe("open")

      for (const key of yield* publishable) yield* keys.revokeKey(owner.merchant.id, key.id)
      expect(yield* Effect.flip(links.open(id, {}))).toMatchObject({ reason: "closed" })
      expect((yield* links.list(owner)).links[0]).toMatchObject({ id, state: "closed" })
    })
  )

  onThatDay("a link that is paid once gives every visitor the same payment", () =>
    Effect.gen(function* () {
      const links = yield* Links
      const repo = yield* LinkRepo
      const { id } = yield* links.create(yield* shop, { description: "Tea", amount: usd(5), once: true })
      yield* Effect.all(
        Array.from({ length: 8 }, () => links.open(id, {})),
        { concurrency: "unbounded" }
      )
      const first = (yield* repo.find(id)).pipe(Option.getOrThrow).paymentId
      yield* links.open(id, {})
      expect((yield* repo.find(id)).pipe(Option.getOrThrow).paymentId).toBe(first)
      expect(first).not.toBeNull()
    })
  )
})
