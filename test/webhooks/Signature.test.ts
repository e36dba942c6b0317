// Signatures against vectors that openssl made, and against the libraries that merchants verify with.
//
// For each vector in signature-vectors.json, with $body the decoded bytes:
//   printf '%s.' "$timestamp" | cat - body | openssl dgst -sha256 -hmac "$secret" -r
//   printf '%s.%s.' "$id" "$timestamp" | cat - body | openssl dgst -sha256 -mac HMAC \
//     -macopt hexkey:$(printf %s "${secret#whsec_}" | base64 -d | xxd -p -c 64) -binary | base64
import { describe, expect, test } from "bun:test"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { verifyDelivery } from "../../src/packages/client/verifyWebhook.ts"
import {
  makeWebhookSecret,
  serviceSignature,
  signatureHeaders,
  standardSignature
} from "../../src/webhooks/Signature.ts"
import { verifiers } from "../support/merchantLibraries.ts"
import vectors from "./WebhookSender/signature-vectors.json"

const newSecret = makeWebhookSecret.pipe(Effect.provide(SecureRandom.layerWebCrypto))

describe("golden vectors made by openssl", () => {
  for (const [index, vector] of vectors.entries()) {
    test(`vector ${index}: ${vector.bodyBase64.length} base64 digits of body at ${vector.timestamp}`, () => {
      const { id, secret, timestamp } = vector
      const body = Buffer.from(vector.bodyBase64, "base64")
      expect(serviceSignature({ timestamp, body }, secret)).toBe(`t=${timestamp},v1=${vector.serviceHex}`)
      expect(standardSignature({ id, timestamp, body }, secret)).toBe(`v1,${vector.standardBase64}`)
      expect(signatureHeaders({ id, timestamp, body }, Redacted.make(secret))).toEqual({
        "x-service-signature": `t=${timestamp},v1=${vector.serviceHex}`,
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": `v1,${vector.standardBase64}`
      })
    })
  }
})

test("a secret is whsec_ and the base64 of 32 bytes, new each time, and hidden from logs", async () => {
  const [first, second] = await Effect.runPromise(Effect.all([newSecret, newSecret]))
  const text = Redacted.value(first)
  expect(text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(Buffer.from(text.slice("whsec_".length), "base64")).toHaveLength(32)
  expect(Redacted.value(second)).not.toBe(text)
  expect(`${first} ${JSON.stringify(first)}`).not.toContain(text.slice(6, 20))
})

describe("the order's headers", () => {
  const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
  const order = {
    paymentId: "01a1fc34-7205-710e-9410-874fee9a4996",
    intentUrl: "https://shop.example.com/orders/1042?größe=1"
  }
  const body = Buffer.from('{"id":"5f0c3a52-9d1e-8b47-a3c6-20f1d4e8b975","type":"test","livemode":false}')
  const signable = { id: "5f0c3a52-9d1e-8b47-a3c6-20f1d4e8b975", timestamp: 1_795_230_000, body, order }
  const headers = signatureHeaders(signable, Redacted.make(secret))

  test("are omitted if the URL is longer than servers accept as a header", () => {
    const long = { ...order, intentUrl: `https://shop.example.com/${"注".repeat(1_000)}` }
    expect(signatureHeaders({ ...signable, order: long }, Redacted.make(secret))).not.toHaveProperty(
      "quittance-intent-url"
    )
    expect(signatureHeaders({ ...signable, order: long }, Redacted.make(secret))).not.toHaveProperty(
      "quittance-order-signature"
    )
  })

  // printf 'quittance-order\n%s\n%s\n%s\n' "$timestamp" "$payment" "$url" | cat - body | openssl dgst -sha256 -hmac "$secret" -r
  test("are visible ASCII, signed as openssl signs them", () => {
    expect(headers).toMatchObject({
      "quittance-payment-id": order.paymentId,
      "quittance-intent-url": "https://shop.example.com/orders/1042?gr%C3%B6%C3%9Fe=1",
      "quittance-order-signature":
        "t=1795230000,v1=5536b38fe9b201826a676a69b62dd228e42d3c93ba13b068636229aaf59e6943"
    })
  })
  test("are absent from a test event, and change no other header", () => {
    const plain = signatureHeaders({ ...signable, order: undefined }, Redacted.make(secret))
    expect(Object.keys(plain)).toHaveLength(4)
    expect(headers).toMatchObject({ ...plain })
  })
  test("differ from a body's signature: neither is accepted for the other", async () => {
    const now = signable.timestamp
    const stolen = { ...headers, "quittance-order-signature": headers["x-service-signature"] }
    expect(verifyDelivery(body, stolen, secret, { now })).rejects.toMatchObject({
      reason: "order_not_signed"
    })
    const lines = `quittance-order\n${now}\n${headers["quittance-payment-id"]}\n${headers["quittance-intent-url"]}\n`
    const forged = { "x-service-signature": headers["quittance-order-signature"] ?? "" }
    expect(verifyDelivery(lines + body, forged, secret, { now })).rejects.toMatchObject({
      reason: "no_match"
    })
  })
})

describe("one delivery and one secret string verify unchanged with", () => {
  const body = JSON.stringify({ id: "7f3c2a4e-5b1d-4c7e-9a43-1f0d6b8e2c55", type: "test", note: "café" })
  const deliver = async () => {
    const secret = await Effect.runPromise(newSecret)
    const timestamp = Math.floor(Date.now() / 1000)
    const signable = { id: "7f3c2a4e-5b1d-4c7e-9a43-1f0d6b8e2c55", timestamp, body: Buffer.from(body) }
    return { secret: Redacted.value(secret), headers: { ...signatureHeaders(signable, secret) } }
  }

  for (const [name, verify] of Object.entries(verifiers)) {
    test(name, async () => {
      const { secret, headers } = await deliver()
      verify(body, headers, secret)
      expect(() => verify(body.replace("test", "tost"), headers, secret)).toThrow()
      expect(() =>
        verify(
          body,
          headers,
          secret.replace(/^whsec_(.)/, (_, first) => `whsec_${first === "A" ? "B" : "A"}`)
        )
      ).toThrow()
    })
  }
})
