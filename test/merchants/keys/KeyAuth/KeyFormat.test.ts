// Keys: 32 random bytes and a checksum that catches typos without a query.
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import fc from "fast-check"
import { generateKey, parseKey } from "../../../../src/merchants/keys/KeyAuth/KeyFormat.ts"

const newKey = () =>
  Effect.runSync(generateKey("secret", "test").pipe(Effect.provide(SecureRandom.layerWebCrypto)))

describe("KeyFormat", () => {
  test("kind and environment follow from the prefix", () => {
    for (const [kind, prefix] of [
      ["secret", "sk"],
      ["publishable", "pk"],
      ["agent", "ak"]
    ] as const) {
      for (const env of ["test", "live"] as const) {
        const key = Effect.runSync(generateKey(kind, env).pipe(Effect.provide(SecureRandom.layerWebCrypto)))
        expect(key).toMatch(new RegExp(`^${prefix}_${env}_[0-9A-Za-z]{49}$`))
        expect(parseKey(key)).toEqual({ kind, env })
      }
    }
  })

  test("every key is different", () => {
    expect(new Set(Array.from({ length: 1_000 }, newKey)).size).toBe(1_000)
  })

  test("one changed, swapped or dropped character is refused", () => {
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
    console.log(`key typos: seed ${seed}`)
    fc.assert(
      fc.property(
        fc.integer({ min: 8, max: 56 }),
        fc.constantFrom(..."0123456789ABCxyz_ "),
        fc.integer({ min: 0, max: 2 }),
        (at, letter, kind) => {
          const key = newKey()
          const typo =
            kind === 0
              ? key.slice(0, at) + letter + key.slice(at + 1)
              : kind === 1
                ? key.slice(0, at) + key.slice(at + 1)
                : key.slice(0, at - 1) + key.charAt(at) + key.charAt(at - 1) + key.slice(at + 1)
          return typo === key || parseKey(typo) === undefined
        }
      ),
      { numRuns: 2_000, seed }
    )
  })
})
