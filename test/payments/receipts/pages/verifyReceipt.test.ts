// A receipt verifies against the keys of its service, and nothing else does.
import { describe, expect, test } from "bun:test"
import { CompactSign, exportJWK, generateKeyPair } from "jose"
import { namesUnknownKey, verifyReceipt } from "../../../../src/checkout/pages/receipts/verifyReceipt.ts"

const claims = {
  iss: "https://pay.example",
  jti: "r1",
  refCode: "PAY-00000001",
  merchant: "Shop",
  amount: "10.00",
  env: "test",
  settledAt: "2026-01-01T00:00:00.000Z",
  payer: "0x1",
  receiver: "0x2",
  transactionId: "0x3"
}

const keyOf = async (kid: string) => {
  const pair = await generateKeyPair("ES256", { extractable: true })
  return { ...pair, kid, jwk: { ...(await exportJWK(pair.publicKey)), kid } }
}
const key = await keyOf("one")
const other = await keyOf("two")
const sign = (payload: object, by = key, kid = by.kid) =>
  new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: "ES256", kid })
    .sign(by.privateKey)
const keys = { keys: [other.jwk, key.jwk] }

describe("verifyReceipt", () => {
  test("verifies a receipt that the service signed", async () => {
    expect(await verifyReceipt(` ${await sign(claims)}\n`, keys)).toMatchObject(claims)
  })

  test("verifies a receipt whose lines a mail program has wrapped", async () => {
    const wrapped = (await sign(claims)).replaceAll(/(.{76})/g, "$1\r\n")
    expect(await verifyReceipt(wrapped, keys)).toMatchObject(claims)
  })

  test("distinguishes a receipt by a newer key from a text that is no receipt", async () => {
    const jws = await sign(claims)
    expect(namesUnknownKey(jws, { keys: [] })).toBe(true)
    expect(namesUnknownKey(jws, { keys: [other.jwk] })).toBe(true)
    expect(namesUnknownKey(jws, keys)).toBe(false)
    for (const text of ["", "a.b.c", "no receipt", "e30.e30.e30"])
      expect(namesUnknownKey(text, { keys: [] })).toBe(false)
  })

  test("refuses a changed amount", async () => {
    const [head, , signature] = (await sign(claims)).split(".")
    const body = Buffer.from(JSON.stringify({ ...claims, amount: "1.00" })).toString("base64url")
    expect(await verifyReceipt(`${head}.${body}.${signature}`, keys)).toBeUndefined()
  })

  test("refuses the signature of another key under this one's name", async () => {
    expect(await verifyReceipt(await sign(claims, other, "one"), keys)).toBeUndefined()
  })

  test("refuses a key that the service does not publish", async () => {
    expect(await verifyReceipt(await sign(claims), { keys: [other.jwk] })).toBeUndefined()
  })

  test("refuses a signed text that is no receipt", async () => {
    const { refCode: _, ...rest } = claims
    expect(await verifyReceipt(await sign(rest), keys)).toBeUndefined()
  })

  test.each(["", "a.b.c", "no receipt", "..", "e30.e30.e30.e30"])("refuses %p", async (text) => {
    expect(await verifyReceipt(text, keys)).toBeUndefined()
  })

  test.each([[undefined], [null], [[]], [{}], [{ keys: "none" }], [{ keys: [null] }]])(
    "refuses keys %p",
    async (set) => {
      expect(await verifyReceipt(await sign(claims), set)).toBeUndefined()
    }
  )
})
