// The contract of every KeyAuth implementation.

import { expect } from "bun:test"
import { Effect, type Layer, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import { parseAddress } from "../../../src/chain/Address.ts"
import { generateKey } from "../../../src/merchants/keys/KeyAuth/KeyFormat.ts"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { liveEffect } from "../../support/run.ts"

const receiver = Option.getOrThrow(Option.fromNullishOr(parseAddress(`0x${"b".repeat(40)}`)))
const receivers = { test: receiver, live: receiver }

/** Runs the contract on a layer that is rebuilt for each test. */
export const keyAuthContract = (layer: Layer.Layer<KeyAuth | SecureRandom.SecureRandom>): void => {
  const it = <E>(
    name: string,
    effect: () => Effect.Effect<unknown, E, KeyAuth | SecureRandom.SecureRandom>
  ) => liveEffect(name, () => Effect.provide(effect(), layer))

  it("a merchant starts with four keys, each of its kind, environment and permission", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const { merchant, keys: first } = yield* keys.createMerchant({ name: "Shop", receivers })
      expect(yield* keys.authenticate(first.test.secret)).toMatchObject({
        kind: "secret",
        env: "test",
        permission: "manage"
      })
      expect(yield* keys.authenticate(first.test.publishable)).toMatchObject({
        kind: "publishable",
        env: "test",
        permission: "read"
      })
      expect(yield* keys.authenticate(first.live.secret)).toMatchObject({
        kind: "secret",
        env: "live",
        permission: "manage"
      })
      expect(yield* keys.authenticate(first.live.publishable)).toMatchObject({
        kind: "publishable",
        env: "live"
      })
      expect((yield* keys.authenticate(first.test.secret)).merchant).toEqual(merchant)
      expect(first.test.secret).toMatch(/^sk_test_[0-9A-Za-z]{49}$/)
      expect(first.live.publishable).toMatch(/^pk_live_[0-9A-Za-z]{49}$/)
    }))

  it("concurrent look-ups are not mixed up, and distinguish current keys from revoked ones", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const shops = yield* Effect.forEach(["One", "Two", "Three"], (name) =>
        keys.createMerchant({ name, receivers: { test: freshAddress(), live: freshAddress() } })
      )
      const [first] = shops
      const revoked = first?.keys.live.secret ?? ""
      const { keyId, merchant } = yield* keys.authenticate(revoked)
      yield* keys.revokeKey(merchant.id, keyId)
      const unknown = yield* generateKey("secret", "test")
      const own = shops.flatMap((shop) => [shop.keys.test.secret, shop.keys.test.publishable])
      const found = yield* Effect.forEach(
        [...own, revoked, unknown, ...own],
        (key) =>
          Effect.option(Effect.map(keys.authenticate(key), (one) => `${one.merchant.name} ${one.kind}`)),
        { concurrency: "unbounded" }
      )
      const names = shops.flatMap(({ merchant: { name } }) => [`${name} secret`, `${name} publishable`])
      expect(found.map(Option.getOrNull)).toEqual([...names, null, null, ...names])
    }))

  it("a receiving address belongs to one merchant of an environment, also if several claim it at once", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const other = freshAddress()
      yield* keys.createMerchant({ name: "Shop", receivers: { test: receiver, live: other } })
      // Each environment separately.
      yield* keys.createMerchant({ name: "Crossed", receivers: { test: other, live: receiver } })
      const refused = yield* Effect.flip(
        keys.createMerchant({ name: "Thief", receivers: { test: receiver, live: freshAddress() } })
      )
      expect(refused.code).toBe("RECEIVER_TAKEN")
      const wanted = freshAddress()
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, index) => `Shop ${index}`),
        (name) => Effect.result(keys.createTestMerchant({ name, receivers: { test: wanted, live: wanted } })),
        { concurrency: "unbounded" }
      )
      expect(outcomes.filter((one) => one._tag === "Success")).toHaveLength(1)
      expect((yield* keys.listMerchants).map(({ name }) => name)).not.toContain("Thief")
      expect(yield* keys.listMerchants).toHaveLength(3)
    }))

  it("a merchant with only test keys has no live key", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const made = yield* keys.createTestMerchant({ name: "Shop", receivers })
      expect(Object.keys(made.keys)).toEqual(["test"])
      expect((yield* keys.authenticate(made.keys.test.secret)).permission).toBe("manage")
      const kinds = (yield* keys.listKeys(made.merchant.id)).map(({ kind, env }) => `${kind} ${env}`)
      expect(kinds.sort()).toEqual(["publishable test", "secret test"])
    }))

  it("refuses missing, malformed, mistyped and unknown keys with the same answer", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const { keys: first } = yield* keys.createMerchant({ name: "Shop", receivers })
      const good = first.test.secret
      const typo = good.slice(0, -1) + (good.endsWith("a") ? "b" : "a")
      const unknown = yield* generateKey("secret", "test")
      const bad = [
        "",
        "x",
        "sk_test_",
        typo,
        unknown,
        good.toLowerCase(),
        ` ${good}`,
        `${good} `,
        good.replace("test", "live"),
        `${good}\u0000`
      ]
      const errors = yield* Effect.forEach(bad, (key) => Effect.flip(keys.authenticate(key)))
      expect(new Set(errors.map((error) => `${error.code} ${error.message}`)).size).toBe(1)
    }))

  it("a name survives a rotation; a publishable key is stored in full, a secret key not at all", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const { merchant, keys: first } = yield* keys.createMerchant({ name: "Shop", receivers })
      const { keyId } = yield* keys.authenticate(first.test.publishable)
      expect(yield* keys.nameKey(merchant.id, keyId, "Web shop")).toBe(true)
      const renewed = Option.getOrThrow(yield* keys.rotateKey(merchant.id, keyId))
      const listed = yield* keys.listKeys(merchant.id)
      expect(listed.find(({ id }) => id === renewed.id)).toMatchObject({
        name: "Web shop",
        publicKey: renewed.key
      })
      expect(JSON.stringify(listed)).not.toContain(first.test.secret)
      for (const one of listed) expect(one.publicKey === null).toBe(one.kind !== "publishable")
      expect(yield* keys.nameKey(merchant.id, keyId, "Revoked")).toBe(false)
    }))

  it("rotation revokes at once: the next request with the old key is refused", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const { merchant, keys: first } = yield* keys.createMerchant({ name: "Shop", receivers })
      const old = yield* keys.authenticate(first.live.secret)
      const issued = Option.getOrThrow(yield* keys.rotateKey(merchant.id, old.keyId))
      expect((yield* Effect.flip(keys.authenticate(first.live.secret))).code).toBe("INVALID_API_KEY")
      expect(yield* keys.authenticate(issued.key)).toMatchObject({
        kind: "secret",
        env: "live",
        permission: "manage",
        keyId: issued.id
      })
      expect(Option.isNone(yield* keys.rotateKey(merchant.id, old.keyId))).toBe(true)
    }))

  it("an agent's key cannot be rotated: it belongs to the agent", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const { merchant } = yield* keys.createMerchant({ name: "Shop", receivers })
      const { id, key } = yield* keys.createKey(merchant.id, {
        kind: "agent",
        env: "test",
        permission: "manage"
      })
      expect(Option.isNone(yield* keys.rotateKey(merchant.id, id))).toBe(true)
      expect(yield* keys.authenticate(key)).toMatchObject({ keyId: id, kind: "agent" })
    }))

  it("of several rotations of one key at once, one issues a successor", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const { merchant, keys: first } = yield* keys.createMerchant({ name: "Shop", receivers })
      const { keyId } = yield* keys.authenticate(first.test.secret)
      const all = yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => keys.rotateKey(merchant.id, keyId),
        {
          concurrency: "unbounded"
        }
      )
      expect(all.filter(Option.isSome)).toHaveLength(1)
    }))

  it("revocation is final, and no merchant can change another's key", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const { merchant, keys: first } = yield* keys.createMerchant({ name: "Shop", receivers })
      const other = yield* keys.createMerchant({
        name: "Other",
        receivers: { test: freshAddress(), live: freshAddress() }
      })
      const { keyId } = yield* keys.authenticate(first.test.secret)
      expect(yield* keys.revokeKey(other.merchant.id, keyId)).toBe(false)
      expect(Option.isNone(yield* keys.rotateKey(other.merchant.id, keyId))).toBe(true)
      expect(yield* keys.revokeKey(merchant.id, keyId)).toBe(true)
      expect(yield* keys.revokeKey(merchant.id, keyId)).toBe(false)
      expect((yield* Effect.flip(keys.authenticate(first.test.secret))).code).toBe("INVALID_API_KEY")
    }))

  it("lists keys without anything that works as a key", () =>
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const { merchant, keys: first } = yield* keys.createMerchant({ name: "Shop", receivers })
      const issued = yield* keys.createKey(merchant.id, { kind: "secret", env: "test", permission: "read" })
      const listed = yield* keys.listKeys(merchant.id)
      expect(listed).toHaveLength(5)
      expect(listed.find((one) => one.id === issued.id)).toMatchObject({
        prefix: "sk_test_",
        lastFour: issued.key.slice(-4),
        permission: "read",
        revokedAt: null
      })
      const text = JSON.stringify(listed)
      for (const key of [issued.key, first.test.secret, first.live.secret]) {
        expect(text).not.toContain(key.slice(8, -4))
      }
      expect((yield* keys.listMerchants).map((one) => one.id)).toContain(merchant.id)
    }))
}
