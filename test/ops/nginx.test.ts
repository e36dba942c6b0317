// nginx and ModSecurity, configured as in proxy.md, pass everything that merchants, buyers and agents send.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"
import { agentForm, type Person, password, receiver, request, signUp } from "../dashboard/person.ts"
import { serviceForFile } from "../support/forFile.ts"
import { missingNginx, nginxBefore } from "../support/nginx.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile({ trustedProxyHops: 1 })
const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
/** While the site is being built, /docs answers 503, which ModSecurity may block. */
beforeAll(async () => {
  while ((await fetch(`${service.baseUrl}/docs`)).headers.has("refresh"));
}, 180_000)

const nginxWith = (paranoiaLevel?: number) =>
  Effect.runPromise(
    freePort(0).pipe(
      Effect.flatMap((port) => nginxBefore(port, Number(new URL(service.baseUrl).port), paranoiaLevel)),
      Scope.provide(scope)
    )
  )

const texts = [
  "O'Brien & Söhne <b>",
  "../../etc/passwd",
  "' or 1=1 --",
  "Union Select Wine; drop table orders",
  "<script>alert(1)</script>",
  "$(whoami)",
  "https://127.0.0.1/?select=from"
]
const secret = (length: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(length)))
/** Ends like the start of an HTML event handler, as one base64 text in a thousand does. */
const base64 = `${secret(3_000).toString("base64")}/onWz5A==`
const hash = `0x${secret(32).toString("hex")}`
const uuid = "01a22474-6122-7773-92a2-fd4a89b35617"

type Sent = readonly [method: string, path: string, body?: unknown]

const ofMerchant = (text: string): ReadonlyArray<Sent> => [
  ["POST", "/payment-links", { description: text, amount: "5.00" }],
  ["POST", "/refunds", { paymentId: uuid, reason: text }],
  ["POST", "/payment-intents", { amount: "5.00", intentUrl: `https://shop.example.com/?name=${text}` }],
  ["GET", `/payments?intentUrl=${encodeURIComponent("https://127.0.0.1/?order=1&select=from")}`],
  ["POST", "/webhook-endpoint", { url: `https://shop.example.com/?hook=${text}` }],
  ["PATCH", "/webhook-endpoint", { url: "https://shop.example.com/hook" }],
  ["DELETE", "/webhook-endpoint"],
  ["GET", "/exports/payments?format=csv&from=2026-01-01&to=2026-01-31&timeZone=Europe%2FBerlin"],
  ["POST", "/x402/verify", x402(text)],
  ["POST", "/x402/settle", x402(text)],
  [
    "POST",
    "/agent/x402/payments",
    { requestId: "1", resource: "https://127.0.0.1/", paymentRequired: x402(text) }
  ]
]

const x402 = (description: string) => ({
  x402Version: 2,
  paymentPayload: {
    resource: { url: "http://127.0.0.1/weather", description },
    payload: { signature: hash, authorization: { from: receiver, nonce: hash } }
  },
  paymentRequirements: {
    scheme: "exact",
    network: "eip155:84532",
    asset: receiver,
    extra: { name: description }
  }
})

const ofBuyer = (token: string): ReadonlyArray<Sent> => [
  ["POST", "/payments", { intentToken: token }],
  ["POST", "/payments/resume", { resumeCode: secret(26).toString("base64url") }],
  ...["PATCH", "POST"].map(
    (method): Sent => [
      method,
      `/payments/${uuid}${method === "POST" ? "/report" : ""}`,
      {
        buyerDidToken: base64,
        transactionId: hash,
        tokenChanges: [{ amountAtomic: "1", chainId: 84532, receiver, tokenAddress: receiver }]
      }
    ]
  ),
  ["DELETE", `/payments/${uuid}/attempts/${uuid}`, { buyerDidToken: base64 }],
  [
    "POST",
    `/payments/${uuid}/authorization`,
    { payer: receiver, validAfter: "1", validBefore: "2", signature: hash }
  ],
  ["GET", `/checkout/test-balance?address=${receiver}`]
]

const ofMember = (path: string, text: string): ReadonlyArray<Sent> => [
  ["GET", `${path}/payments?search=${encodeURIComponent(text.replaceAll("../", ""))}`],
  ["PATCH", `${path}/settings`, { name: text, was: { name: text } }],
  [
    "PATCH",
    `${path}/settings`,
    { logoUrl: `https://127.0.0.1/${text}`, was: { logoUrl: `https://127.0.0.1/${text}` } }
  ],
  ["PATCH", `${path}/settings`, { identityAudience: text, was: { identityAudience: text } }],
  ["PATCH", `${path}/branding`, { support: text, was: { support: text }, logo: base64 }],
  ["POST", `${path}/keys`, { kind: "secret", permission: "read", name: text }],
  ["POST", `${path}/agents`, { ...agentForm, name: text }],
  ["POST", `${path}/incoming-transfers/${uuid}/handle`, { note: text }],
  ["POST", `${path}/alerts/${uuid}/acknowledge`, { note: text }],
  ["POST", `${path}/notification-preferences/hooks`, { url: "https://127.0.0.1/hook" }],
  ["PUT", `${path}/notification-preferences`, { events: [] }],
  ["DELETE", `${path}/members/invitations/${uuid}`],
  ["POST", "/sign-up", { email: "o'brien@example.com", password: text, merchantName: text, receiver }],
  ["POST", "/confirm", { password: text }],
  ["POST", "/password", { current: text, next: `${text} ${password}` }],
  [
    "POST",
    "/sign-in/passkey",
    { id: secret(32).toString("base64url"), response: { signature: secret(72).toString("base64url") } }
  ]
]

/** The requests that the service has not answered. */
const sendAll = async (
  baseUrl: string,
  sent: ReadonlyArray<Sent>,
  headers: Readonly<Record<string, string>>
) => {
  const unanswered: Array<string> = []
  for (const [method, path, body] of sent) {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    await response.arrayBuffer()
    // nginx's own answers have no request id.
    if (!response.headers.has("x-request-id"))
      unanswered.push(`${response.status} ${method} ${path} ${JSON.stringify(body)}`)
  }
  return unanswered
}

const everything = async (baseUrl: string, person: Person) => {
  const created = await fetch(`${baseUrl}/api/v1/payment-intents`, {
    method: "POST",
    headers: { authorization: `Bearer ${person.keys.test.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ amount: "5.00", intentUrl: "https://shop.example.com/orders/1042" })
  })
  expect(created.status).toBe(201)
  const { intentToken } = await created.json()
  const api = (sent: ReadonlyArray<Sent>) =>
    sent.map(([method, path, body]): Sent => [method, `/api/v1${path}`, body])
  const inDashboard = texts
    .flatMap((text) => ofMember(`/merchants/${person.merchantId}/test`, text))
    .map(([method, path, body]): Sent => [method, `/dashboard/api${path}`, body])
  return [
    ...(await sendAll(baseUrl, api(texts.flatMap(ofMerchant)), {
      authorization: `Bearer ${person.keys.test.secret}`,
      "user-agent": "quittance-python"
    })),
    ...(await sendAll(baseUrl, api(ofBuyer(intentToken)), {
      authorization: `Bearer ${person.keys.test.publishable}`,
      origin: "https://shop.example.com"
    })),
    ...(await sendAll(baseUrl, inDashboard, {
      cookie: `${person.cookie}; quittance_browser=CFn--YJUwIDcAmyLXTZ-FF`,
      "sec-fetch-site": "same-origin"
    })),
    ...(await sendAll(
      baseUrl,
      ["/docs", "/dashboard", "/pay", "/counter", "/checkout.js", "/openapi.json"].map((path) => [
        "GET",
        path
      ]),
      {}
    ))
  ]
}

const reason = missingNginx === undefined ? "" : `: there is no ${missingNginx}`

for (const level of [undefined, 1, 2]) {
  const name = level === undefined ? "nginx" : `ModSecurity at paranoia level ${level}`
  test.skipIf(missingNginx !== undefined)(`${name} passes every valid request${reason}`, async () => {
    const nginx = await nginxWith(level)
    const person = await signUp(service.baseUrl)
    const unanswered = await everything(nginx.baseUrl, person)
    // The log is written after the answer.
    await Bun.sleep(100)
    expect({ unanswered, blocked: nginx.blocked() }).toEqual({ unanswered: [], blocked: [] })
    for (const text of texts)
      expect(
        (await request(nginx.baseUrl, "POST", "/sign-in", { body: { email: person.email, password: text } }))
          .status
      ).toBeOneOf([401, 429])
  })
}

test.skipIf(missingNginx !== undefined)(
  `ModSecurity still blocks an attack on any other field, path and method${reason}`,
  async () => {
    const { baseUrl } = await nginxWith(1)
    const attack = encodeURIComponent("' or 1=1 --")
    for (const [method, path] of [
      ["GET", `/api/v1/payments?status=${attack}`],
      ["GET", `/dashboard?search=${attack}`],
      ["PROPFIND", "/api/v1/payments"]
    ] as const)
      expect([path, (await fetch(`${baseUrl}${path}`, { method })).status]).toEqual([path, 403])
  }
)
