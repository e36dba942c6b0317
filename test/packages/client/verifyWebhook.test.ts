// Verification of webhooks: forty cases on which our verifier and three well-known libraries agree, except for the
// limit on future times, which only ours has.
import { describe, expect, test } from "bun:test"
import { createHmac } from "node:crypto"
import { Webhook as StandardWebhook } from "standardwebhooks"
import Stripe from "stripe"
import { Webhook as SvixWebhook } from "svix"
import {
  idempotencyKey,
  signTestWebhook,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError
} from "../../../src/packages/client/verifyWebhook.ts"
import { verifyWithMerchantLibraries } from "../../support/merchantLibraries.ts"

const secret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString("base64")}`
const now = Math.floor(Date.now() / 1000)
const event: WebhookEvent = { id: "01a1fc34-7205-710e-9410-874fee9a4996", type: "test", livemode: false }
const body = JSON.stringify(event)

interface Signed {
  readonly body: string
  readonly timestamp: number
  readonly secret: string
}

const headerOf = ({ body: text, timestamp, secret: key }: Signed) =>
  `t=${timestamp},v1=${createHmac("sha256", key).update(`${timestamp}.${text}`).digest("hex")}`
const trioOf = ({ body: text, timestamp, secret: key }: Signed) => ({
  "webhook-id": event.id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64"))
    .update(`${event.id}.${timestamp}.${text}`)
    .digest("base64")}`
})

const ours = (text: string, header: string) =>
  verifyWebhook(text, header, secret, { now }).then(
    () => "ok",
    (error) => (error instanceof WebhookVerificationError ? error.reason : "crash")
  )
const stripe = new Stripe("sk_test_x")
const byStripe = async (text: string, header: string) =>
  stripe.webhooks.constructEventAsync(text, header, secret, 300).then(
    () => true,
    () => false
  )
const attempt = (verify: () => unknown) => {
  try {
    verify()
    return true
  } catch {
    return false
  }
}
const byStandard = (text: string, trio: Record<string, string>) =>
  attempt(() => new StandardWebhook(secret).verify(text, trio))
const bySvix = (text: string, trio: Record<string, string>) =>
  attempt(() => new SvixWebhook(secret).verify(text, trio))

/** The signed text, the text that arrives, and whether it must verify. */
const agreed: ReadonlyArray<readonly [string, Signed, string, boolean]> = [
  ...[0, 1, 10, 30, 60, 120, 240, 290, 295].map(
    (age) => [`${age} s old`, { body, timestamp: now - age, secret }, body, true] as const
  ),
  ...[305, 310, 400, 600, 3_600, 86_400, now].map(
    (age) => [`${age} s old`, { body, timestamp: now - age, secret }, body, false] as const
  ),
  ...[
    "{}",
    '{"id":"x"}',
    ` ${body}`,
    `${body} `,
    `${body}\n`,
    body.replace("false", "true"),
    body.replace("test", "tesт"),
    "",
    "null"
  ].map(
    (text) =>
      [
        `the body changed to ${JSON.stringify(text).slice(0, 30)}`,
        { body, timestamp: now, secret },
        text,
        false
      ] as const
  ),
  ["signed with another secret", { body, timestamp: now, secret: otherSecret }, body, false],
  ["signed with the secret in capitals", { body, timestamp: now, secret: secret.toUpperCase() }, body, false],
  ...[
    "ünïcödé",
    "日本",
    "🂡",
    "a\u0000b",
    "\\u0000",
    '"quotes"',
    "x".repeat(60_000),
    "\r\n",
    "\u2028",
    "é",
    "null",
    "\ufeffbom",
    "</script>"
  ].map((text) => {
    const signed = JSON.stringify({ ...event, note: text })
    return [
      `a body with ${JSON.stringify(text).slice(0, 20)}`,
      { body: signed, timestamp: now, secret },
      signed,
      true
    ] as const
  })
]

describe("verifyWebhook and three libraries agree", () => {
  test("on at least forty cases", () => expect(agreed.length).toBeGreaterThanOrEqual(40))
  for (const [name, signed, arrived, valid] of agreed) {
    test(`${name}: ${valid ? "verifies" : "is refused"}`, async () => {
      expect((await ours(arrived, headerOf(signed))) === "ok").toBe(valid)
      expect(await byStripe(arrived, headerOf(signed))).toBe(valid)
      expect(byStandard(arrived, trioOf(signed))).toBe(valid)
      expect(bySvix(arrived, trioOf(signed))).toBe(valid)
    })
  }

  for (const ahead of [31, 60, 3_600]) {
    test(`${ahead} s in the future: ours refuses it, stripe accepts it, and the others up to 300 s`, async () => {
      const signed = { body, timestamp: now + ahead, secret }
      expect(await ours(body, headerOf(signed))).toBe("in_the_future")
      expect(await byStripe(body, headerOf(signed))).toBe(true)
      expect(byStandard(body, trioOf(signed))).toBe(ahead <= 300)
      expect(bySvix(body, trioOf(signed))).toBe(ahead <= 300)
    })
  }
})

describe("verifyWebhook", () => {
  const good = headerOf({ body, timestamp: now, secret })
  const hex = good.slice(-64)
  const verdicts: ReadonlyArray<readonly [string, string, string]> = [
    ["exactly 300 s old", headerOf({ body, timestamp: now - 300, secret }), "ok"],
    ["301 s old", headerOf({ body, timestamp: now - 301, secret }), "too_old"],
    ["exactly 30 s ahead", headerOf({ body, timestamp: now + 30, secret }), "ok"],
    ["31 s ahead", headerOf({ body, timestamp: now + 31, secret }), "in_the_future"],
    ["no header", "", "missing_header"],
    ["only a time", `t=${now}`, "malformed_header"],
    ["only a signature", `v1=${hex}`, "malformed_header"],
    ["another version", `t=${now},v0=${hex}`, "malformed_header"],
    ["capital hex", `t=${now},v1=${hex.toUpperCase()}`, /[a-f]/.test(hex) ? "malformed_header" : "ok"],
    ["short hex", `t=${now},v1=${hex.slice(1)}`, "malformed_header"],
    ["long hex", `t=${now},v1=${hex}0`, "malformed_header"],
    ["two signatures", `t=${now},v1=${hex},v1=${hex}`, "malformed_header"],
    ["spaces", `t=${now}, v1=${hex}`, "malformed_header"],
    ["a negative time", `t=-1,v1=${hex}`, "malformed_header"],
    ["a decimal time", `t=${now}.5,v1=${hex}`, "malformed_header"],
    ["the order turned round", `v1=${hex},t=${now}`, "malformed_header"],
    ["a time moved by one second", `t=${now + 1},v1=${hex}`, "no_match"],
    ["one bit flipped", good.slice(0, -1) + (good.endsWith("0") ? "1" : "0"), "no_match"],
    ["zeros", `t=${now},v1=${"0".repeat(64)}`, "no_match"]
  ]
  for (const [name, header, verdict] of verdicts) {
    test(`${name}: ${verdict}`, async () => expect(await ours(body, header)).toBe(verdict))
  }

  test("accepts text, bytes and buffers; header value, Headers and objects in any letter case", async () => {
    const bytes = new TextEncoder().encode(body)
    for (const raw of [body, bytes, bytes.buffer, Buffer.from(body)]) {
      for (const headers of [
        good,
        new Headers({ "x-service-signature": good }),
        { "X-Service-Signature": good },
        { "x-service-signature": [good] }
      ]) {
        expect(await verifyWebhook(raw, headers, secret, { now })).toEqual(event)
      }
    }
    const twice = verifyWebhook(body, { "x-service-signature": [good, good] }, secret, { now })
    expect(twice).rejects.toMatchObject({ reason: "malformed_header" })
    const none = verifyWebhook(body, { "x-service-signature": [] }, secret, { now })
    expect(none).rejects.toMatchObject({ reason: "missing_header" })
  })

  test("tries several secrets, as after a regeneration", async () => {
    expect(await verifyWebhook(body, good, [otherSecret, secret], { now })).toEqual(event)
  })

  test("each refusal says how to correct it", async () => {
    const refused = async (run: () => Promise<unknown>) =>
      run().then(
        () => undefined,
        (error: unknown) => (error instanceof WebhookVerificationError ? error : undefined)
      )
    const parsed = await refused(() => verifyWebhook(JSON.parse(body), good, secret, { now }))
    expect(parsed).toMatchObject({ reason: "parsed_body" })
    expect(parsed?.message).toContain("raw bytes")
    const missing = await refused(() => verifyWebhook(body, {}, secret, { now }))
    expect(missing).toMatchObject({ reason: "missing_header" })
    const noEvent = headerOf({ body: "[]", timestamp: now, secret })
    expect(await refused(() => verifyWebhook("[]", noEvent, secret, { now }))).toMatchObject({
      reason: "malformed_body"
    })
  })

  test("signTestWebhook sends what the service sends: the other libraries accept it with the same secret", async () => {
    const request = await signTestWebhook(event, secret)
    const headers: Record<string, string> = { ...request.headers }
    verifyWithMerchantLibraries(request.body, headers, secret)
    expect(() => verifyWithMerchantLibraries(request.body, headers, otherSecret)).toThrow()
    // With a secret that encodes no key there is only our own signature.
    const plain = await signTestWebhook(event, "a secret of one's own")
    expect(Object.keys(plain.headers)).toEqual(["content-type", "x-service-signature"])
  })

  test("verifyWebhook accepts what signTestWebhook creates; the idempotency key is type and id", async () => {
    const request = await signTestWebhook(event, secret)
    expect(await verifyWebhook(request.body, request.headers, secret)).toEqual(event)
    expect(idempotencyKey(event)).toBe(`test:${event.id}`)
  })
})
