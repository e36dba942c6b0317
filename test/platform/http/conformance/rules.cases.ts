// Rules for every request and answer (docs/contract.md 7, 8 and 9).
import { expect } from "bun:test"
import { send } from "../../../support/contractCheck.ts"
import { buyer, intentUrl, type Shop, tokenChangesOf } from "../shop.ts"
import { endpointPath, intents, payments, refused, someHash, table, unknownId } from "./table.ts"

const { cases, add } = table()

const mutations: ReadonlyArray<readonly [string, string, (shop: Shop) => string, unknown]> = [
  ["POST", intents, (shop) => shop.keys.full, { amount: "1", intentUrl }],
  ["POST", payments, (shop) => shop.keys.publishable, { intentToken: "x" }],
  [
    "PATCH",
    `${payments}/${unknownId}`,
    (shop) => shop.keys.publishable,
    { buyerDidToken: "x", transactionId: someHash, tokenChanges: tokenChangesOf(1n) }
  ],
  ["POST", endpointPath, (shop) => shop.keys.full, { url: "https://hooks.example.com/" }],
  ["PATCH", endpointPath, (shop) => shop.keys.full, { url: "https://hooks.example.com/" }],
  ["DELETE", endpointPath, (shop) => shop.keys.full, undefined],
  ["POST", `${endpointPath}/test`, (shop) => shop.keys.full, undefined],
  [
    "POST",
    "/api/v1/checkout/test-funds",
    (shop) => shop.keys.publishable,
    { buyerDidToken: `buyer:${buyer}` }
  ]
]
for (const [method, path, key, body] of mutations) {
  add("8", `${method} ${path} does not support Idempotency-Key`, async ({ shop }) => {
    const answer = await shop.call({
      method,
      path,
      key: key(shop),
      body,
      headers: { "idempotency-key": "x" }
    })
    refused(answer, 400, "IDEMPOTENCY_KEY_NOT_ACCEPTED")
  })
  if (body !== undefined) {
    for (const contentType of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=utf-16",
      "multipart/form-data; boundary=x",
      "application/jsonp"
    ]) {
      add("7", `${method} ${path} as ${contentType} is 415`, async ({ shop }) => {
        const answer = await shop.call({
          method,
          path,
          key: key(shop),
          body,
          headers: { "content-type": contentType }
        })
        refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")
      })
    }
    add("7", `${method} ${path} as application/json; charset=utf-8 is read`, async ({ shop }) => {
      const answer = await shop.call({
        method,
        path,
        key: key(shop),
        body,
        headers: { "content-type": "Application/JSON; Charset=UTF-8" }
      })
      expect(answer.status).not.toBe(415)
    })
  }
}
for (const [path, allow] of Object.entries({
  [intents]: "POST",
  [payments]: "GET, HEAD, POST",
  [`${payments}/${unknownId}`]: "GET, HEAD, PATCH",
  [endpointPath]: "DELETE, GET, HEAD, PATCH, POST",
  [`${endpointPath}/test`]: "POST",
  "/api/v1/checkout-context": "GET, HEAD",
  "/api/v1/checkout/test-balance": "GET, HEAD",
  "/api/v1/checkout/test-funds": "POST",
  "/api/v1/checkout/playground-intent": "GET, HEAD",
  "/healthz": "GET, HEAD",
  "/readyz": "GET, HEAD",
  "/openapi.json": "GET, HEAD",
  "/docs": "GET, HEAD",
  "/docs/errors": "GET, HEAD"
})) {
  add("7", `PUT ${path} is 405 with allow: ${allow}`, async ({ shop }) => {
    const answer = await shop.call({ method: "PUT", path, key: shop.keys.full, body: {} })
    refused(answer, 405, "METHOD_NOT_ALLOWED")
    expect(answer.headers.get("allow")).toBe(allow)
  })
}
for (const path of [
  "/api",
  "/api/v1",
  "/api/v1/",
  "/api/v2/payments",
  "/api/v1/payments/",
  "/api/v1//payments",
  "/API/v1/payments",
  "/api/v1/Payments",
  "/api/v1/payments/x/y",
  "/api/v1/%70ayments/x/",
  "/api/v1/payments%2f",
  "/api/v1/..%2fpayments",
  "/.env",
  "/metrics",
  "/docs/",
  "/healthz/"
]) {
  add("9", `GET ${path} is 404 in the envelope`, async ({ shop }) => {
    refused(await shop.call({ method: "GET", path, key: shop.keys.full }), 404, "NOT_FOUND")
  })
}
for (const [path, key] of [
  [payments, "full"],
  ["/api/v1/checkout-context", "publishable"],
  ["/healthz", "full"],
  ["/openapi.json", "full"]
] as const) {
  add("7", `HEAD ${path} is answered like GET, without a body`, async ({ shop }) => {
    const answer = await shop.call({ method: "HEAD", path, key: shop.keys[key] })
    expect([answer.status, answer.text]).toEqual([200, ""])
  })
}
for (const [path, methods] of Object.entries({
  [payments]: "POST",
  [`${payments}/${unknownId}`]: "PATCH",
  "/api/v1/checkout-context": "GET",
  "/api/v1/checkout/test-balance": "GET",
  "/api/v1/checkout/test-funds": "POST",
  "/api/v1/checkout/playground-intent": "GET"
})) {
  add("4.3", `the preflight of ${path} allows ${methods}`, async ({ service }) => {
    const answer = await send(service.baseUrl, {
      method: "OPTIONS",
      path,
      headers: {
        origin: "https://shop.example.com",
        "access-control-request-method": methods,
        "access-control-request-headers": "authorization,content-type"
      }
    })
    expect(answer.status).toBe(204)
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    expect(answer.headers.get("access-control-allow-methods")).toBe(methods)
    expect(answer.headers.get("access-control-allow-headers")).toContain("authorization")
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull()
  })
}
for (const path of [intents, endpointPath, `${endpointPath}/test`, "/healthz", "/docs"]) {
  add("5", `OPTIONS ${path} allows nothing`, async ({ service }) => {
    const answer = await send(service.baseUrl, {
      method: "OPTIONS",
      path,
      headers: { origin: "https://shop.example.com" }
    })
    refused(answer, 405, "METHOD_NOT_ALLOWED")
    expect(answer.headers.get("access-control-allow-origin")).toBeNull()
  })
}
for (const [method, path, key, open] of [
  ["POST", payments, "publishable", true],
  ["GET", payments, "full", false],
  ["GET", `${payments}/${unknownId}`, "full", false],
  ["PATCH", `${payments}/${unknownId}`, "publishable", true],
  ["GET", endpointPath, "full", false],
  ["POST", intents, "full", false],
  ["GET", "/api/v1/checkout-context", "publishable", true]
] as const) {
  add(
    "5",
    `${method} ${path} is ${open ? "" : "not "}open to other origins, errors included`,
    async ({ shop }) => {
      const body = method === "GET" ? undefined : {}
      for (const used of [shop.keys[key], undefined]) {
        const answer = await shop.call({
          method,
          path,
          key: used,
          body,
          headers: { origin: "https://shop.example.com" }
        })
        expect(answer.headers.get("access-control-allow-origin")).toBe(open ? "*" : null)
      }
    }
  )
}
add("7", "an inbound x-request-id is reused if it is a safe token", async ({ shop }) => {
  const given = await shop.call({
    method: "GET",
    path: payments,
    key: shop.keys.full,
    headers: { "x-request-id": "order-1042.try-1" }
  })
  expect(given.headers.get("x-request-id")).toBe("order-1042.try-1")
  for (const bad of ["a".repeat(129), "has space in it", "<script>alert(1)</script>", "semi;colon;here"]) {
    const answer = await shop.call({
      method: "GET",
      path: payments,
      key: shop.keys.full,
      headers: { "x-request-id": bad }
    })
    expect(answer.headers.get("x-request-id")).not.toBe(bad)
  }
})
add("7", "the envelope names a page that explains the code", async ({ shop, service }) => {
  const answer = await shop.call({ method: "GET", path: "/nothing", key: shop.keys.full })
  expect(answer.body.error.docUrl).toBe("http://localhost:8787/docs/errors#NOT_FOUND")
  const page = await send(service.baseUrl, { method: "GET", path: "/docs/errors" })
  expect(page.text).toContain('id="NOT_FOUND"')
})
add("7", "rejected input is not echoed", async ({ shop }) => {
  const marker = "zq9secretmarker"
  for (const body of [
    { amount: marker, intentUrl: marker },
    { amount: "1", intentUrl, [marker]: 1 }
  ]) {
    const answer = await shop.call({ method: "POST", path: intents, key: shop.keys.full, body })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body.error.details?.map((one) => one.message))).not.toContain(marker)
  }
})
add("9", "health and readiness answer", async ({ service }) => {
  expect<unknown>((await send(service.baseUrl, { method: "GET", path: "/healthz" })).body).toEqual({
    status: "ok"
  })
  expect<unknown>((await send(service.baseUrl, { method: "GET", path: "/readyz" })).body).toEqual({
    status: "ready"
  })
})
add("9", "the API reference renders without another host", async ({ service }) => {
  const page = await send(service.baseUrl, { method: "GET", path: "/docs" })
  expect(page.headers.get("content-type")).toContain("text/html")
  expect(page.text).not.toMatch(/<(script|link)[^>]+(src|href)="https?:/)
})
for (const path of ["/healthz", "/readyz", "/openapi.json", "/docs", "/docs/errors"]) {
  add("8", `${path} refuses an unknown query parameter`, async ({ service }) => {
    refused(await send(service.baseUrl, { method: "GET", path: `${path}?zzz=1` }), 400, "INVALID_REQUEST")
  })
}

add("9", "the OpenAPI document is 3.1 and has every path of the contract", async ({ service }) => {
  const { text } = await send(service.baseUrl, { method: "GET", path: "/openapi.json" })
  const body = JSON.parse(text)
  expect(body.openapi).toStartWith("3.1")
  expect(Object.keys(body.paths).sort()).toEqual(
    [
      "/api/v1/agent",
      "/api/v1/agent/test-funds",
      "/api/v1/agent/x402/payments",
      "/api/v1/agent/x402/payments/{id}/release",
      "/api/v1/payments/resume",
      "/api/v1/payments/{id}/address",
      "/api/v1/payments/{id}/attempts",
      "/api/v1/payments/{id}/attempts/{attemptId}",
      "/api/v1/payments/{id}/attempts/{attemptId}/decline",
      "/api/v1/payments/{id}/authorization",
      "/api/v1/payments/{id}/receipt",
      "/api/v1/payments/{id}/report",
      "/api/v1/payments/{id}/x402",
      "/api/v1/receipts/{id}",
      "/api/v1/receipts/{id}/mail",
      "/api/v1/refunds",
      "/api/v1/statement",
      "/api/v1/exports/{kind}",
      "/api/v1/refunds/{id}",
      "/api/v1/refunds/{id}/cancel",
      "/api/v1/refunds/{id}/transaction",
      "/api/v1/settlement-levels",
      "/api/v1/x402/settle",
      "/api/v1/x402/supported",
      "/api/v1/x402/verify",
      "/api/v1/checkout-context",
      "/api/v1/checkout/playground-intent",
      "/api/v1/checkout/test-balance",
      "/api/v1/checkout/test-delivery",
      "/api/v1/checkout/test-funds",
      "/api/v1/links/{id}",
      "/api/v1/events",
      "/api/v1/events/{id}",
      "/api/v1/events/{id}/resend",
      "/api/v1/payment-intents",
      "/api/v1/payment-links",
      "/api/v1/payment-links/{id}",
      "/api/v1/payments",
      "/api/v1/payments/{id}",
      "/api/v1/webhook-endpoint",
      "/api/v1/webhook-endpoint/test",
      "/healthz",
      "/openapi.json",
      "/readyz"
    ].sort()
  )
})

for (const [method, path, key, body] of [
  ...mutations,
  ["GET", `${payments}/${unknownId}`, (shop: Shop) => shop.keys.full, undefined],
  ["GET", endpointPath, (shop: Shop) => shop.keys.full, undefined],
  ["GET", "/api/v1/checkout-context", (shop: Shop) => shop.keys.publishable, undefined]
] as typeof mutations) {
  add("8", `${method} ${path} refuses an unknown query parameter`, async ({ shop }) => {
    const answer = await shop.call({ method, path: `${path}?zzz=1`, key: key(shop), body })
    refused(answer, 400, "INVALID_REQUEST")
    expect(answer.body.error.details?.[0]?.path).toBe("query.zzz")
  })
}
for (const [method, path] of [
  ["DELETE", endpointPath],
  ["POST", `${endpointPath}/test`]
] as const) {
  add("8", `${method} ${path} accepts no body`, async ({ fresh }) => {
    const shop = await fresh()
    const send = (body: unknown, headers = {}) =>
      shop.call({ method, path, key: shop.keys.full, body, headers })
    refused(await send({ x: 1 }), 400, "INVALID_REQUEST")
    refused(await send("{bad"), 400, "INVALID_JSON")
    refused(await send("x", { "content-type": "text/plain" }), 415, "UNSUPPORTED_MEDIA_TYPE")
    refused(await send({}), 404, "WEBHOOK_ENDPOINT_NOT_FOUND")
    refused(await send(undefined), 404, "WEBHOOK_ENDPOINT_NOT_FOUND")
  })
}

export const rulesCases = cases
