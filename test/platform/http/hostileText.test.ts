// Text that Postgres cannot store, at every endpoint with a body, and in every target: 400 with the place, never 500.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/app/Api.ts"
import { DashboardApi } from "../../../src/dashboard/api/Api.ts"
import { endpointsOf } from "../../../src/platform/http/Routing/pathTable.ts"
import { agentForm, password, signUp } from "../../dashboard/person.ts"
import { serviceForFile } from "../../support/forFile.ts"
import { makeShop, tokenChangesOf } from "./shop.ts"

setDefaultTimeout(60_000)

interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly takesBody: boolean
}

const endpoints: Array<Endpoint> = []
for (const contract of [Api, DashboardApi]) {
  HttpApi.reflect(contract as typeof Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) =>
      void endpoints.push({
        name: `${group.identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path,
        takesBody: endpoint.payload.size > 0
      })
  })
}

const advice = "Send text without U+0000 and without unpaired surrogates."
const id = "01a1fc34-7205-710e-9410-874fee9a4996"

const service = await serviceForFile()
const person = await signUp(service.baseUrl)
const shop = await makeShop(service, { ...person, id: person.merchantId })

describe("Text that Postgres cannot store", () => {
  const keyOf = (name: string) => {
    const access = endpointsOf(Api).find((one) => one.name === name)?.access
    const kind = access?.by === "key" ? access.kinds[0] : undefined
    return kind === "agent"
      ? shop.keys.agent
      : kind === "publishable"
        ? shop.keys.publishable
        : shop.keys.full
  }
  const pathOf = ({ path }: Endpoint) =>
    path
      .replace(":merchantId", person.merchantId)
      .replace(":env", "test")
      .replace(/:[A-Za-z]+/g, id)

  /** The body is sent as it is: escapes are the client's. */
  const send = async (endpoint: Endpoint, options: { readonly query?: string; readonly body?: string }) => {
    const response = await fetch(`${service.baseUrl}${pathOf(endpoint)}${options.query ?? ""}`, {
      method: endpoint.method,
      headers: {
        ...(endpoint.path.startsWith("/dashboard")
          ? { cookie: person.cookie, "sec-fetch-site": "same-origin" }
          : { authorization: `Bearer ${keyOf(endpoint.name)}` }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(options.body === undefined ? {} : { body: options.body })
    })
    return { status: response.status, body: await response.json().catch(() => undefined) }
  }

  const refusal = (path: string) => ({
    status: 400,
    body: { error: { code: "INVALID_REQUEST", details: [{ path, message: advice }] } }
  })

  test("the walk sees both contracts", () => {
    expect(endpoints.filter(({ takesBody }) => takesBody).length).toBeGreaterThan(20)
  })

  for (const endpoint of endpoints.filter(({ takesBody }) => takesBody)) {
    test(`${endpoint.name}: in a value, however deep, and in a key`, async () => {
      const bodies: ReadonlyArray<readonly [string, string]> = [
        [String.raw`{"a":{"b":["fine","x\u0000y"]}}`, "body.a.b.1"],
        [String.raw`{"a":"\ud800"}`, "body.a"],
        [String.raw`{"a":"\uDC00\uD800"}`, "body.a"],
        [String.raw`{"a":{"\u0000":1}}`, "body.a"],
        [String.raw`{"a\udfff":1}`, "body"]
      ]
      for (const [body, place] of bodies) {
        expect(await send(endpoint, { body })).toMatchObject(refusal(place))
      }
      // A complete surrogate pair, and an escaped backslash before the letters, are ordinary text.
      for (const body of [String.raw`{"a":"\ud83d\udc5b"}`, String.raw`{"a":"\\u0000"}`]) {
        const { body: answer } = await send(endpoint, { body })
        expect(JSON.stringify(answer ?? {})).not.toContain(advice)
      }
    })
  }

  for (const endpoint of endpoints) {
    test(`${endpoint.name}: in the target`, async () => {
      const { status, body } = await send(endpoint, { query: "?limit=%00" })
      expect([status, body?.error?.code]).toEqual([400, "INVALID_REQUEST"])
    })
  }

  test("in names, ids and notes that are otherwise valid it changes nothing", async () => {
    const at = `/dashboard/api/merchants/${person.merchantId}/test`
    const settled = await shop.settle()
    const bad = "x\u0000"
    const requirements = {
      scheme: "exact",
      network: "base-sepolia",
      maxAmountRequired: "1000",
      asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
      payTo: shop.merchant.receiver,
      resource: "https://api.example.com/",
      description: "",
      mimeType: "",
      maxTimeoutSeconds: 60,
      extra: { name: "USDC", version: "2" }
    }
    const paid = (changes: object) => ({
      requestId: "one",
      resource: "https://api.example.com/",
      paymentRequired: { x402Version: 1, accepts: [requirements] },
      ...changes
    })
    const profile = { name: "Shop", logoUrl: null, identityAudience: null }
    const cases: ReadonlyArray<readonly [string, string, unknown]> = [
      ["POST", "/api/v1/agent/x402/payments", paid({ requestId: bad })],
      ["POST", "/api/v1/agent/x402/payments", paid({ requestId: "\ud800" })],
      ["POST", "/api/v1/agent/x402/payments", paid({ resource: `https://api.example.com/${bad}` })],
      ["POST", "/api/v1/payment-intents", { amount: "1.00", intentUrl: `https://shop.example.com/${bad}` }],
      [
        "PATCH",
        `/api/v1/payments/${settled.payment.id}`,
        { buyerDidToken: bad, transactionId: settled.transactionId, tokenChanges: [] }
      ],
      ["POST", `${at}/agents`, { ...agentForm, name: bad }],
      ["POST", `${at}/agents`, { ...agentForm, allowedHosts: [`${bad}.example.com`] }],
      ["PATCH", `${at}/settings`, { ...profile, name: bad }],
      ["PATCH", `${at}/settings`, { ...profile, identityAudience: "\udc00" }],
      ["POST", `${at}/members`, { email: `${bad}@example.com`, role: "owner" }],
      [
        "POST",
        "/dashboard/api/sign-up",
        { email: "u@example.com", password, merchantName: bad, receiver: shop.merchant.receiver }
      ],
      ["POST", "/dashboard/api/sign-in", { email: "u@example.com", password: bad }]
    ]
    for (const [method, path, body] of cases) {
      const agent = path.startsWith("/api/v1/agent")
      const key = agent ? shop.keys.agent : method === "PATCH" ? shop.keys.publishable : shop.keys.full
      const response = await fetch(`${service.baseUrl}${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          ...(path.startsWith("/dashboard")
            ? { cookie: person.cookie, "sec-fetch-site": "same-origin" }
            : { authorization: `Bearer ${key}` })
        },
        body: JSON.stringify(body)
      })
      const { error } = await response.json()
      expect([path, response.status, error.code]).toEqual([path, 400, "INVALID_REQUEST"])
    }
    const settings = await person.call("GET", `/merchants/${person.merchantId}/test/settings`)
    expect(settings.body.profile).toMatchObject(profile)
  })
})

describe("Every 401", () => {
  test("says how to authenticate: keys, buyer tokens, people", async () => {
    const opened = await shop.open()
    const { payment } = opened.body
    const json = { "content-type": "application/json" }
    const asked: ReadonlyArray<readonly [string, string, Record<string, string>, unknown]> = [
      ["GET", "/api/v1/payments", {}, undefined],
      ["GET", "/api/v1/payments", { authorization: "Bearer sk_test_x" }, undefined],
      [
        "PATCH",
        `/api/v1/payments/${payment.id}`,
        { ...json, authorization: `Bearer ${shop.keys.publishable}` },
        { buyerDidToken: "nobody", transactionId: `0x${"0".repeat(64)}`, tokenChanges: tokenChangesOf(1n) }
      ],
      [
        "POST",
        "/api/v1/checkout/test-funds",
        { ...json, authorization: `Bearer ${shop.keys.publishable}` },
        { buyerDidToken: "nobody" }
      ],
      ["GET", "/dashboard/api/session", {}, undefined],
      [
        "POST",
        "/dashboard/api/sign-in",
        { ...json, "sec-fetch-site": "same-origin" },
        { email: "nobody@example.com", password }
      ]
    ]
    const codes: Array<string> = []
    for (const [method, path, headers, body] of asked) {
      const response = await fetch(`${service.baseUrl}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      codes.push((await response.json()).error.code)
      expect([path, response.status, response.headers.get("www-authenticate")]).toEqual([path, 401, "Bearer"])
    }
    expect(new Set(codes)).toEqual(
      new Set(["INVALID_API_KEY", "INVALID_BUYER_TOKEN", "SIGN_IN_REQUIRED", "SIGN_IN_FAILED"])
    )
  })
})
