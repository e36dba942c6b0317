// Key roles by route, in full: every kind of key, every route, own and other merchants' objects. The expectation is
// written out here, independent of the contract.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Api } from "../../../src/app/Api.ts"
import { generateKey } from "../../../src/merchants/keys/KeyAuth/KeyFormat.ts"
import { endpointsOf } from "../../../src/platform/http/Routing/pathTable.ts"
import { serviceForFile } from "../../support/forFile.ts"
import { buyer, intentUrl, makeShop, type Shop, tokenChangesOf } from "./shop.ts"

setDefaultTimeout(60_000)

type KeyName = keyof Shop["keys"] | "revoked" | "malformed" | "unknown" | "none"

const keyNames: ReadonlyArray<KeyName> = [
  "full",
  "readOnly",
  "publishable",
  "agent",
  "liveFull",
  "liveReadOnly",
  "livePublishable",
  "liveAgent",
  "revoked",
  "malformed",
  "unknown",
  "none"
]

/** The kinds of key that each route accepts; all others are refused. */
const doors: Readonly<
  Record<
    string,
    {
      readonly method: string
      readonly path: string
      readonly body?: unknown
      readonly opens: ReadonlyArray<KeyName>
    }
  >
> = {
  "paymentIntents.create": {
    method: "POST",
    path: "/api/v1/payment-intents",
    body: { amount: "1", intentUrl },
    opens: ["full", "liveFull"]
  },
  "payments.list": {
    method: "GET",
    path: "/api/v1/payments",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "payments.retrieve": {
    method: "GET",
    path: "/api/v1/payments/{id}",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "events.list": {
    method: "GET",
    path: "/api/v1/events",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "events.retrieve": {
    method: "GET",
    path: "/api/v1/events/01a1fc34-7205-710e-9410-874fee9a4996",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "events.resend": {
    method: "POST",
    path: "/api/v1/events/01a1fc34-7205-710e-9410-874fee9a4996/resend",
    opens: ["full", "liveFull"]
  },
  "paymentLinks.create": {
    method: "POST",
    path: "/api/v1/payment-links",
    body: { description: "Chess lesson", amount: "1" },
    opens: ["full", "liveFull"]
  },
  "paymentLinks.list": {
    method: "GET",
    path: "/api/v1/payment-links",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "paymentLinks.close": {
    method: "DELETE",
    path: "/api/v1/payment-links/AAAAAAAAAAAAAAAAAAAAAAAA",
    opens: ["full", "liveFull"]
  },
  "books.export": {
    method: "GET",
    path: "/api/v1/exports/payments?from=2026-01-01&to=2026-01-31",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "books.statement": {
    method: "GET",
    path: "/api/v1/statement?from=2026-01-01&to=2026-01-31",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "settlementLevels.retrieve": {
    method: "GET",
    path: "/api/v1/settlement-levels",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "settlementLevels.update": {
    method: "PATCH",
    path: "/api/v1/settlement-levels",
    body: {},
    opens: ["full", "liveFull"]
  },
  "refunds.create": {
    method: "POST",
    path: "/api/v1/refunds",
    body: { paymentId: "00000000-0000-4000-8000-000000000000" },
    opens: ["full", "liveFull"]
  },
  "refunds.list": {
    method: "GET",
    path: "/api/v1/refunds",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "refunds.retrieve": {
    method: "GET",
    path: "/api/v1/refunds/00000000-0000-4000-8000-000000000000",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "refunds.report": {
    method: "POST",
    path: "/api/v1/refunds/00000000-0000-4000-8000-000000000000/transaction",
    body: { transactionId: `0x${"a".repeat(64)}` },
    opens: ["full", "liveFull"]
  },
  "refunds.cancel": {
    method: "POST",
    path: "/api/v1/refunds/00000000-0000-4000-8000-000000000000/cancel",
    opens: ["full", "liveFull"]
  },
  "receipts.issue": {
    method: "POST",
    path: "/api/v1/payments/{id}/receipt",
    opens: ["publishable", "livePublishable"]
  },
  "payments.showAddress": {
    method: "POST",
    path: "/api/v1/payments/{id}/address",
    opens: ["publishable", "livePublishable"]
  },
  "relaying.terms": {
    method: "GET",
    path: "/api/v1/payments/{id}/authorization?payer=0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    opens: ["publishable", "livePublishable"]
  },
  "relaying.pay": {
    method: "POST",
    path: "/api/v1/payments/{id}/authorization",
    body: {
      payer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      validAfter: "0",
      validBefore: "1",
      signature: "0x00"
    },
    opens: ["publishable", "livePublishable"]
  },
  "payments.open": {
    method: "POST",
    path: "/api/v1/payments",
    body: { intentToken: "x" },
    opens: ["publishable", "livePublishable"]
  },
  "payments.report": {
    method: "PATCH",
    path: "/api/v1/payments/{id}",
    body: {
      buyerDidToken: `buyer:${buyer}`,
      transactionId: `0x${"ab".repeat(32)}`,
      tokenChanges: tokenChangesOf(1n)
    },
    opens: ["publishable", "livePublishable"]
  },
  "payments.resume": {
    method: "POST",
    path: "/api/v1/payments/resume",
    body: { resumeCode: "x" },
    opens: ["publishable", "livePublishable"]
  },
  "payments.reportByPost": {
    method: "POST",
    path: "/api/v1/payments/{id}/report",
    body: {
      buyerDidToken: `buyer:${buyer}`,
      transactionId: `0x${"ab".repeat(32)}`,
      tokenChanges: tokenChangesOf(1n)
    },
    opens: ["publishable", "livePublishable"]
  },
  "payments.announceAttempt": {
    method: "POST",
    path: "/api/v1/payments/{id}/attempts",
    body: { buyerDidToken: `buyer:${buyer}`, method: "transfer" },
    opens: ["publishable", "livePublishable"]
  },
  "payments.attempts": {
    method: "GET",
    path: "/api/v1/payments/{id}/attempts",
    opens: ["publishable", "livePublishable"]
  },
  "payments.declineAttempt": {
    method: "DELETE",
    path: "/api/v1/payments/{id}/attempts/00000000-0000-4000-8000-000000000000",
    opens: ["publishable", "livePublishable"]
  },
  "payments.declineAttemptByPost": {
    method: "POST",
    path: "/api/v1/payments/{id}/attempts/00000000-0000-4000-8000-000000000000/decline",
    opens: ["publishable", "livePublishable"]
  },
  "webhookEndpoint.retrieve": {
    method: "GET",
    path: "/api/v1/webhook-endpoint",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "webhookEndpoint.create": {
    method: "POST",
    path: "/api/v1/webhook-endpoint",
    body: { url: "https://roles.example.com/" },
    opens: ["full", "liveFull"]
  },
  "webhookEndpoint.update": {
    method: "PATCH",
    path: "/api/v1/webhook-endpoint",
    body: { url: "https://roles.example.com/" },
    opens: ["full", "liveFull"]
  },
  "webhookEndpoint.delete": {
    method: "DELETE",
    path: "/api/v1/webhook-endpoint",
    opens: ["full", "liveFull"]
  },
  "webhookEndpoint.test": {
    method: "POST",
    path: "/api/v1/webhook-endpoint/test",
    opens: ["full", "liveFull"]
  },
  "checkout.context": {
    method: "GET",
    path: "/api/v1/checkout-context",
    opens: ["publishable", "livePublishable"]
  },
  "agent.retrieve": { method: "GET", path: "/api/v1/agent", opens: ["agent", "liveAgent"] },
  "agent.pay": {
    method: "POST",
    path: "/api/v1/agent/x402/payments",
    body: {
      requestId: "roles",
      resource: "https://api.example.com/",
      paymentRequired: { x402Version: 1, accepts: [{}] }
    },
    opens: ["agent", "liveAgent"]
  },
  "agent.release": {
    method: "POST",
    path: "/api/v1/agent/x402/payments/00000000-0000-4000-8000-000000000000/release",
    opens: ["agent", "liveAgent"]
  },
  "agentTestRail.funds": { method: "POST", path: "/api/v1/agent/test-funds", opens: ["agent", "liveAgent"] },
  "x402.supported": {
    method: "GET",
    path: "/api/v1/x402/supported",
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "x402.verify": {
    method: "POST",
    path: "/api/v1/x402/verify",
    body: { x402Version: 1, paymentPayload: {}, paymentRequirements: {} },
    opens: ["full", "readOnly", "liveFull", "liveReadOnly"]
  },
  "x402.settle": {
    method: "POST",
    path: "/api/v1/x402/settle",
    body: { x402Version: 1, paymentPayload: {}, paymentRequirements: {} },
    opens: ["full", "liveFull"]
  },
  "testRail.balance": {
    method: "GET",
    path: `/api/v1/checkout/test-balance?address=${buyer}`,
    opens: ["publishable", "livePublishable"]
  },
  "testRail.delivery": {
    method: "GET",
    path: "/api/v1/checkout/test-delivery?paymentId=01a1fc34-7205-710e-9410-874fee9a4996",
    opens: ["publishable", "livePublishable"]
  },
  "testRail.funds": {
    method: "POST",
    path: "/api/v1/checkout/test-funds",
    body: { buyerDidToken: "x" },
    opens: ["publishable", "livePublishable"]
  }
}

const shut = (key: KeyName, name: string): { readonly status: number; readonly code: string } =>
  ["revoked", "malformed", "unknown", "none"].includes(key)
    ? { status: 401, code: "INVALID_API_KEY" }
    : /^(agentT|t)estRail\./.test(name) && key.startsWith("live")
      ? { status: 403, code: "LIVE_MODE_NO_TEST_FUNDS" }
      : key === "readOnly" || key === "liveReadOnly"
        ? doors[name]?.opens.includes("full") === true
          ? { status: 403, code: "MANAGE_PERMISSION_REQUIRED" }
          : { status: 403, code: "KEY_KIND_NOT_ALLOWED" }
        : { status: 403, code: "KEY_KIND_NOT_ALLOWED" }

const service = await serviceForFile()
const ids: Record<string, string> = {}
const keys = new Map<KeyName, string | undefined>()
const shop = await makeShop(service)
const other = await makeShop(service)
ids["own test"] = (await shop.open()).body.payment.id
ids["own live"] = (await shop.open("1", "live")).body.payment.id
ids["other's test"] = (await other.open()).body.payment.id
ids["other's live"] = (await other.open("1", "live")).body.payment.id
for (const [name, key] of Object.entries(shop.keys)) keys.set(name as KeyName, key)
const doomed = await Effect.runPromise(
  Effect.gen(function* () {
    const principal = yield* service.auth.authenticate(shop.keys.full)
    const issued = yield* service.auth.createKey(principal.merchant.id, {
      kind: "secret",
      env: "test",
      permission: "manage"
    })
    yield* service.auth.revokeKey(principal.merchant.id, issued.id)
    return issued.key
  })
)
keys.set("revoked", doomed)
keys.set("malformed", `${shop.keys.full.slice(0, -1)}_`)
keys.set(
  "unknown",
  await Effect.runPromise(generateKey("secret", "test").pipe(Effect.provide(SecureRandom.layerWebCrypto)))
)
keys.set("none", undefined)

describe("Key roles by route", () => {
  test("every endpoint for keys is covered, and the others are listed", () => {
    const calledBy = (by: string) =>
      endpointsOf(Api)
        .filter(({ access }) => access.by === by)
        .map(({ name }) => name)
        .sort()
    expect(Object.keys(doors).sort()).toEqual(calledBy("key"))
    expect(calledBy("anyone")).toEqual([
      "playground.intent",
      "publicLinks.open",
      "publicLinks.read",
      "publicReceipts.mail",
      "publicReceipts.read",
      "x402Payment.pay"
    ])
    expect(endpointsOf(Api)).toHaveLength(Object.keys(doors).length + calledBy("anyone").length)
  })

  for (const [name, door] of Object.entries(doors)) {
    for (const key of keyNames) {
      const objects = door.path.includes("{id}")
        ? ["own test", "own live", "other's test", "other's live"]
        : [""]
      for (const object of objects) {
        const opens = door.opens.includes(key)
        test(`${key} key at ${name} ${object}: ${opens ? "is accepted" : "is refused"}`, async () => {
          const answer = await shop.call({
            method: door.method,
            path: door.path.replace("{id}", ids[object] ?? ""),
            key: keys.get(key),
            body: door.body
          })
          const code = answer.body?.error?.code
          if (!opens) {
            expect<unknown>({ status: answer.status, code }).toEqual(shut(key, name))
            return
          }
          expect(["INVALID_API_KEY", "KEY_KIND_NOT_ALLOWED", "MANAGE_PERMISSION_REQUIRED"]).not.toContain(
            code
          )
          if (object === "") return
          const own = object === (key.startsWith("live") ? "own live" : "own test")
          expect(code === "PAYMENT_NOT_FOUND").toBe(!own)
        })
      }
    }
  }
})
