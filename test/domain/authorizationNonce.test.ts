import { expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { authorizationNonceOf } from "../../src/domain/authorizationNonce.ts"

const id = "01a1fc34-7205-710e-9410-874fee9a4996"
const hash = (text: string) => `0x${createHash("sha256").update(text, "utf8").digest("hex")}`

test("a payment's nonce is the SHA-256 of its name, whatever the id's case", () => {
  expect<string>(authorizationNonceOf(id)).toBe(hash(`quittance:payment:${id}`))
  expect(authorizationNonceOf(id.toUpperCase())).toBe(authorizationNonceOf(id))
})

test("after a cancellation the payment has another nonce, and always the same one", () => {
  expect<string>(authorizationNonceOf(id, 1)).toBe(hash(`quittance:payment:${id}:1`))
  expect(authorizationNonceOf(id, 2)).not.toBe(authorizationNonceOf(id, 1))
})
