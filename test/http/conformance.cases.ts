// The cases of the conformance table: what the specification says, section by section.
import { expect } from "bun:test"
import { Effect } from "effect"
import { playgroundAmounts } from "../../src/checkout/Api.ts"
import { networks } from "../../src/domain/Chain.ts"
import { type Answer, send } from "../support/contractCheck.ts"
import { receiver, type TestService } from "../support/service.ts"
import { badAmounts, badBodies, badIntentUrls, goodAmounts, goodIntentUrls } from "./inputs.ts"
import { buyer, intentUrl, type Shop, stranger, tokenChangesOf } from "./shop.ts"

export interface World {
  readonly shop: Shop
  /** Another merchant of the same deployment. */
  readonly other: Shop
  readonly service: TestService
  /** A further merchant that no other case touches. */
  readonly fresh: () => Promise<Shop>
}

export interface Case {
  /** Section of the interface specification. */
  readonly section: string
  readonly name: string
  readonly run: (world: World) => Promise<void>
}

export const cases: Array<Case> = []
const add = (section: string, name: string, run: Case["run"]) => cases.push({ section, name, run })

const refused = (answer: Answer, status: number, code: string) =>
  expect({ status: answer.status, code: answer.body?.error?.code }).toEqual({ status, code })

const unknownId = "01a1fc34-7205-710e-9410-874fee9a4996"
const someHash = `0x${"ab".repeat(32)}`
const intents = "/api/v1/payment-intents"
const payments = "/api/v1/payments"
const endpointPath = "/api/v1/webhook-endpoint"

// ---- 4.1 create a payment intent

for (const [input, shown] of goodAmounts) {
  add("4.1", `creates an intent over ${input}, shown as ${shown}`, async ({ shop }) => {
    const answer = await shop.createIntent(input)
    expect(answer.status).toBe(201)
    expect(answer.body.intent.amount).toBe(shown)
    const opened = await shop.call({
      method: "POST",
      path: payments,
      key: shop.keys.publishable,
      body: { intentToken: answer.body.intentToken }
    })
    expect(opened.body.payment.amount).toBe(shown)
  })
}
for (const input of badAmounts) {
  add("4.1", `refuses the amount ${JSON.stringify(input)}`, async ({ shop }) => {
    const answer = await shop.call({
      method: "POST",
      path: intents,
      key: shop.keys.full,
      body: { amount: input, intentUrl }
    })
    refused(answer, 400, "INVALID_REQUEST")
    expect(
      answer.body.error.details.some((one: { path: string }) => one.path.startsWith("body.amount"))
    ).toBe(true)
  })
}
for (const url of goodIntentUrls) {
  add("4.1", `takes the intentUrl ${url.slice(0, 60)}`, async ({ shop }) => {
    const answer = await shop.call({
      method: "POST",
      path: intents,
      key: shop.keys.full,
      body: { amount: "1", intentUrl: url }
    })
    expect(answer.status).toBe(201)
    const opened = await shop.call({
      method: "POST",
      path: payments,
      key: shop.keys.publishable,
      body: { intentToken: answer.body.intentToken }
    })
    expect(opened.body.payment.intentUrl).toBe(url)
  })
}
for (const url of badIntentUrls) {
  add("4.1", `refuses the intentUrl ${JSON.stringify(url).slice(0, 70)}`, async ({ shop }) => {
    const answer = await shop.call({
      method: "POST",
      path: intents,
      key: shop.keys.full,
      body: { amount: "1", intentUrl: url }
    })
    refused(answer, 400, "INVALID_REQUEST")
  })
}
for (const [name, body, code] of badBodies({ amount: "1.00", intentUrl })) {
  add("4.1", `create intent refuses ${name}`, async ({ shop }) => {
    const answer = await shop.call({ method: "POST", path: intents, key: shop.keys.full, body })
    refused(answer, code === "PAYLOAD_TOO_LARGE" ? 413 : 400, code)
  })
}
add(
  "2.2",
  "the intent holds amount, currency, mode, receiver and token, and nothing else",
  async ({ shop }) => {
    const { body } = await shop.createIntent("12.5")
    expect(body.intent).toEqual({
      amount: "12.50",
      currency: "USD",
      mode: "test",
      receiver,
      token: { address: networks.test.usdc.address, chainId: 84532 }
    })
    expect(Object.keys(body).sort()).toEqual(["intent", "intentToken"])
  }
)
add("2.2", "a live intent names Arbitrum One", async ({ shop }) => {
  const { body } = await shop.createIntent("1", "live")
  expect(body.intent).toMatchObject({
    mode: "live",
    token: { address: networks.live.usdc.address, chainId: 42161 }
  })
})
add("2.2", "the token is a JWS that commits to the amount", async ({ shop }) => {
  const { body } = await shop.createIntent("3.21")
  const claims = JSON.parse(Buffer.from(body.intentToken.split(".")[1], "base64url").toString())
  expect(claims).toMatchObject({ amount: "3.21", intentUrl, env: "test", receiver })
  expect(claims.exp - claims.iat).toBe(300)
})

// ---- 4.3 open a payment

add("4.3", "opens a pending payment whose id is the token's jti", async ({ shop }) => {
  const intent = await shop.createIntent("10")
  const opened = await shop.call({
    method: "POST",
    path: payments,
    key: shop.keys.publishable,
    body: { intentToken: intent.body.intentToken }
  })
  expect(opened.status).toBe(201)
  const { jti } = JSON.parse(Buffer.from(intent.body.intentToken.split(".")[1], "base64url").toString())
  expect(opened.body.payment).toMatchObject({
    id: jti,
    status: "pending",
    amount: "10.00",
    currency: "USD",
    payerType: "human",
    intentUrl
  })
})
add("3", "the same token again answers 200 with the same payment", async ({ shop }) => {
  const intent = await shop.createIntent("10")
  const open = () =>
    shop.call({
      method: "POST",
      path: payments,
      key: shop.keys.publishable,
      body: { intentToken: intent.body.intentToken }
    })
  const first = await open()
  const second = await open()
  expect([first.status, second.status]).toEqual([201, 200])
  expect(second.body).toEqual(first.body)
})
add("3", "the same token opened 100 times at once gives one 201 and 99 times 200", async ({ shop }) => {
  const intent = await shop.createIntent("10")
  const all = await Promise.all(
    Array.from({ length: 100 }, () =>
      shop.call({
        method: "POST",
        path: payments,
        key: shop.keys.publishable,
        body: { intentToken: intent.body.intentToken }
      })
    )
  )
  expect(all.filter((one) => one.status === 201)).toHaveLength(1)
  expect(all.filter((one) => one.status === 200)).toHaveLength(99)
  expect(new Set(all.map((one) => JSON.stringify(one.body))).size).toBe(1)
})
for (const [name, forge] of Object.entries({
  "a token of another service": (token: string) => token.replace(/\.[^.]+$/, `.${"A".repeat(43)}`),
  "a token whose amount was raised": (token: string) => {
    const [header, payload, signature] = token.split(".")
    const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString())
    return [
      header,
      Buffer.from(JSON.stringify({ ...claims, amount: "0.01" })).toString("base64url"),
      signature
    ].join(".")
  },
  "alg none": (token: string) =>
    `${Buffer.from('{"alg":"none","typ":"intent+jwt","kid":"test"}').toString("base64url")}.${token.split(".")[1]}.`,
  "no signature": (token: string) => token.split(".").slice(0, 2).join("."),
  garbage: () => "x",
  "a token with a space": (token: string) => `${token} `,
  "five parts": (token: string) => `${token}.x.y`
})) {
  add("4.3", `refuses ${name} with INVALID_INTENT_TOKEN`, async ({ shop }) => {
    const intent = await shop.createIntent("10")
    const answer = await shop.call({
      method: "POST",
      path: payments,
      key: shop.keys.publishable,
      body: { intentToken: forge(intent.body.intentToken) }
    })
    refused(answer, 400, "INVALID_INTENT_TOKEN")
  })
}
add("5", "another merchant's publishable key cannot open the intent", async ({ shop, other }) => {
  const intent = await shop.createIntent("10")
  const answer = await shop.call({
    method: "POST",
    path: payments,
    key: other.keys.publishable,
    body: { intentToken: intent.body.intentToken }
  })
  refused(answer, 403, "INTENT_TOKEN_KEY_MISMATCH")
})
add("5", "the live publishable key cannot open a test intent", async ({ shop }) => {
  const intent = await shop.createIntent("10")
  const answer = await shop.call({
    method: "POST",
    path: payments,
    key: shop.keys.livePublishable,
    body: { intentToken: intent.body.intentToken }
  })
  refused(answer, 403, "INTENT_TOKEN_KEY_MISMATCH")
})
for (const [name, body, code] of badBodies({ intentToken: "x" })) {
  add("4.3", `open refuses ${name}`, async ({ shop }) => {
    const answer = await shop.call({ method: "POST", path: payments, key: shop.keys.publishable, body })
    refused(answer, code === "PAYLOAD_TOO_LARGE" ? 413 : 400, code)
  })
}

// ---- 2.1 the payment object

const isoMillis = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
add("2.1", "a pending payment carries exactly the fields of a pending payment", async ({ shop }) => {
  const { body } = await shop.open()
  expect(Object.keys(body.payment).sort()).toEqual(
    [
      "amount",
      "createdAt",
      "currency",
      "env",
      "id",
      "intentUrl",
      "livemode",
      "payerType",
      "refCode",
      "status",
      "token"
    ].sort()
  )
  expect(body.payment.createdAt).toMatch(isoMillis)
  expect(body.payment.refCode).toMatch(/^PAY-[A-Z0-9]{8}$/)
  expect(body.payment).toMatchObject({
    env: "test",
    livemode: false,
    token: { address: networks.test.usdc.address, chainId: 84532 }
  })
})
add("2.1", "a live payment has livemode true and the live token", async ({ shop }) => {
  const { body } = await shop.open("1", "live")
  expect(body.payment).toMatchObject({
    env: "live",
    livemode: true,
    token: { address: networks.live.usdc.address, chainId: 42161 }
  })
})
add(
  "2.1",
  "a settled payment carries settledAt, reportedAt, reportedTransactionId, payerAddress and failureReason null",
  async ({ shop }) => {
    const { payment, transactionId } = await shop.settle()
    expect(payment).toMatchObject({
      status: "settled",
      payerAddress: buyer,
      reportedTransactionId: transactionId,
      failureReason: null
    })
    expect(payment.settledAt).toMatch(isoMillis)
    expect(payment.reportedAt).toMatch(isoMillis)
  }
)
add("2.1", "reference codes differ", async ({ shop }) => {
  const all = await Promise.all(Array.from({ length: 20 }, () => shop.open()))
  expect(new Set(all.map((one) => one.body.payment.refCode)).size).toBe(20)
})

// ---- 3 and 4.3 reporting

add("3", "a matching transfer settles: 200 and a webhook leaves", async ({ shop, service }) => {
  await shop.call({
    method: "POST",
    path: endpointPath,
    key: shop.keys.full,
    body: { url: "https://conformance.example.com/hook" }
  })
  const { transactionId } = await shop.settle("4.20", 4_200_000n)
  const sent = await Effect.runPromise(
    service.sender.sent.pipe(
      Effect.map((all) => all.filter((one) => new TextDecoder().decode(one.body).includes(transactionId))),
      Effect.delay("10 millis"),
      Effect.repeat({ until: (all) => all.length > 0 }),
      Effect.timeout("5 seconds")
    )
  )
  const event = JSON.parse(new TextDecoder().decode(sent[0]?.body))
  expect(event).toEqual({
    id: sent[0]?.id,
    type: "payment.settled",
    livemode: false,
    transactionId,
    tokenChanges: tokenChangesOf(4_200_000n)
  })
  await shop.call({ method: "DELETE", path: endpointPath, key: shop.keys.full })
})
add(
  "3",
  "a transfer that is not indexed answers 202 TEST_SETTLEMENT_PENDING with the payment",
  async ({ shop }) => {
    const { body } = await shop.open()
    const answer = await shop.report(body.payment.id, someHash, 10_000_000n)
    refused(answer, 202, "TEST_SETTLEMENT_PENDING")
    expect(answer.body.payment).toEqual(body.payment)
  }
)
add(
  "3",
  "a transfer without its confirmations answers 202, and 200 once it has them",
  async ({ shop, service }) => {
    const { body } = await shop.open()
    const transactionId = await shop.transfer(10_000_000n, { confirm: false })
    refused(await shop.report(body.payment.id, transactionId, 10_000_000n), 202, "TEST_SETTLEMENT_PENDING")
    await Effect.runPromise(service.chain.mine(2))
    await Bun.sleep(400)
    expect((await shop.report(body.payment.id, transactionId, 10_000_000n)).status).toBe(200)
  }
)
const mismatches: ReadonlyArray<readonly [string, string, (world: World) => Promise<Answer>]> = [
  [
    "too little",
    "amount",
    async ({ shop }) => {
      const { body } = await shop.open()
      return shop.report(body.payment.id, await shop.transfer(9_999_999n), 9_999_999n)
    }
  ],
  [
    "too much",
    "amount",
    async ({ shop }) => {
      const { body } = await shop.open()
      return shop.report(body.payment.id, await shop.transfer(10_000_001n), 10_000_001n)
    }
  ],
  [
    "another receiver",
    "receiver",
    async ({ shop }) => {
      const { body } = await shop.open()
      return shop.report(body.payment.id, await shop.transfer(10_000_000n, { to: stranger }), 10_000_000n)
    }
  ],
  [
    "another payer than the identity token's",
    "payer",
    async ({ shop }) => {
      const { body } = await shop.open()
      return shop.report(body.payment.id, await shop.transfer(10_000_000n, { from: stranger }), 10_000_000n)
    }
  ],
  [
    "declared changes that the chain does not show",
    "declared_changes",
    async ({ shop }) => {
      const { body } = await shop.open()
      return shop.report(body.payment.id, await shop.transfer(10_000_000n), 10_000_000n, {
        tokenChanges: tokenChangesOf(99_000_000n)
      })
    }
  ],
  [
    "a transfer that pays another payment already",
    "already_used",
    async ({ shop }) => {
      const { transactionId } = await shop.settle()
      const { body } = await shop.open()
      return shop.report(body.payment.id, transactionId, 10_000_000n)
    }
  ]
]
for (const [name, reason, run] of mismatches) {
  add("3", `${name} answers 422 with reason ${reason} and the payment stays pending`, async (world) => {
    const answer = await run(world)
    refused(answer, 422, "TEST_SETTLEMENT_MISMATCH")
    expect(answer.body.error.reason).toBe(reason)
    expect(answer.body.error.details[0].path).toBe(reason)
  })
}
add(
  "3",
  "identical evidence replays cleanly: 200 and the same body, also with a hash in capitals",
  async ({ shop }) => {
    const { payment, transactionId } = await shop.settle()
    const again = await shop.report(payment.id, transactionId, 10_000_000n)
    const capitals = await shop.report(payment.id, `0x${transactionId.slice(2).toUpperCase()}`, 10_000_000n)
    expect([again.status, capitals.status]).toEqual([200, 200])
    expect(again.body.payment).toEqual(payment)
    expect(capitals.body.payment).toEqual(payment)
  }
)
for (const [name, change] of Object.entries({
  "another transaction": { transactionId: someHash },
  "another amount": { tokenChanges: tokenChangesOf(1n) },
  "another buyer": { buyerDidToken: `buyer:${stranger}` }
})) {
  add(
    "3",
    `after settlement ${name} is 409 PAYMENT_REPORT_CONFLICT and changes nothing`,
    async ({ shop }) => {
      const { payment, transactionId } = await shop.settle()
      const { transactionId: otherId, ...rest } = { transactionId, ...change }
      refused(await shop.report(payment.id, otherId, 10_000_000n, rest), 409, "PAYMENT_REPORT_CONFLICT")
      const now = await shop.call({
        method: "GET",
        path: `${payments}/${payment.id}`,
        key: shop.keys.readOnly
      })
      expect(now.body.payment).toEqual(payment)
    }
  )
}
add(
  "3",
  "a live report is recorded, answers 202 LIVE_SETTLEMENT_GATED and stays pending",
  async ({ shop }) => {
    const { body } = await shop.open("10", "live")
    const answer = await shop.report(body.payment.id, someHash, 10_000_000n, { env: "live" })
    refused(answer, 202, "LIVE_SETTLEMENT_GATED")
    expect(answer.body.payment).toMatchObject({ status: "pending", reportedTransactionId: someHash })
    expect(answer.body.payment.settledAt).toBeUndefined()
    refused(
      await shop.report(body.payment.id, someHash, 10_000_000n, { env: "live" }),
      202,
      "LIVE_SETTLEMENT_GATED"
    )
  }
)
add("3", "a live report with other evidence is 409", async ({ shop }) => {
  const { body } = await shop.open("10", "live")
  await shop.report(body.payment.id, someHash, 10_000_000n, { env: "live" })
  refused(
    await shop.report(body.payment.id, `0x${"cd".repeat(32)}`, 10_000_000n, { env: "live" }),
    409,
    "PAYMENT_REPORT_CONFLICT"
  )
})
add("3", "fifty identical reports at once: fifty times 200 with one body", async ({ shop }) => {
  const { body } = await shop.open()
  const transactionId = await shop.transfer(10_000_000n)
  const all = await Promise.all(
    Array.from({ length: 50 }, () => shop.report(body.payment.id, transactionId, 10_000_000n))
  )
  expect(new Set(all.map((one) => `${one.status} ${JSON.stringify(one.body)}`)).size).toBe(1)
  expect(all[0]?.status).toBe(200)
})
for (const [name, token] of Object.entries({
  "a malformed identity token": "x",
  "an empty proof": "buyer:"
})) {
  add("4.3", `${name} is 401 INVALID_BUYER_TOKEN with a reason`, async ({ shop }) => {
    const { body } = await shop.open()
    const answer = await shop.report(body.payment.id, someHash, 1n, { buyerDidToken: token })
    refused(answer, 401, "INVALID_BUYER_TOKEN")
    expect(answer.body.error.reason).toBe("malformed")
  })
}
for (const transactionId of [
  "0x",
  "0x12",
  someHash.slice(2),
  `${someHash}00`,
  `0x${"zz".repeat(32)}`,
  ` ${someHash}`,
  ""
]) {
  add("4.3", `refuses the transactionId ${JSON.stringify(transactionId).slice(0, 20)}`, async ({ shop }) => {
    const { body } = await shop.open()
    refused(await shop.report(body.payment.id, transactionId, 1n), 400, "INVALID_REQUEST")
  })
}
for (const [name, tokenChanges] of Object.entries({
  none: [],
  "not a list": {},
  "a number as amount": [{ ...tokenChangesOf(1n)[0], amountAtomic: 1 }],
  "a negative amount": [{ ...tokenChangesOf(1n)[0], amountAtomic: "-1" }],
  "a decimal amount": [{ ...tokenChangesOf(1n)[0], amountAtomic: "1.5" }],
  "a leading zero": [{ ...tokenChangesOf(1n)[0], amountAtomic: "01" }],
  "a chain id as string": [{ ...tokenChangesOf(1n)[0], chainId: "84532" }],
  "a short address": [{ ...tokenChangesOf(1n)[0], receiver: "0x12" }],
  "an excess field": [{ ...tokenChangesOf(1n)[0], memo: "x" }],
  "a missing field": [{ amountAtomic: "1", chainId: 84532, receiver }],
  seventeen: Array.from({ length: 17 }, () => tokenChangesOf(1n)[0])
})) {
  add("4.3", `refuses tokenChanges with ${name}`, async ({ shop }) => {
    const { body } = await shop.open()
    refused(await shop.report(body.payment.id, someHash, 1n, { tokenChanges }), 400, "INVALID_REQUEST")
  })
}
for (const [name, body, code] of badBodies({
  buyerDidToken: `buyer:${buyer}`,
  transactionId: someHash,
  tokenChanges: tokenChangesOf(1n)
})) {
  add("4.3", `report refuses ${name}`, async ({ shop }) => {
    const opened = await shop.open()
    const answer = await shop.call({
      method: "PATCH",
      path: `${payments}/${opened.body.payment.id}`,
      key: shop.keys.publishable,
      body
    })
    refused(answer, code === "PAYLOAD_TOO_LARGE" ? 413 : 400, code)
  })
}

// ---- 4.1 retrieve and list

add("4.1", "retrieves a payment, also with the UUID in capitals", async ({ shop }) => {
  const { body } = await shop.open()
  for (const id of [body.payment.id, body.payment.id.toUpperCase()]) {
    const answer = await shop.call({ method: "GET", path: `${payments}/${id}`, key: shop.keys.readOnly })
    expect(answer.body).toEqual(body)
  }
})
for (const id of [
  "1",
  "x",
  "01a1fc34-7205-710e-9410",
  `${unknownId}0`,
  "01a1fc3472057100e9410874fee9a4996",
  "%00",
  "{}"
]) {
  add("4.1", `the id ${id} is no UUID: 400`, async ({ shop }) => {
    refused(
      await shop.call({ method: "GET", path: `${payments}/${id}`, key: shop.keys.full }),
      400,
      "INVALID_REQUEST"
    )
  })
}
add(
  "7",
  "unknown, another tenant's and the other environment's payment answer the same bytes but the request id",
  async ({ shop, other }) => {
    const mine = await shop.open()
    const theirs = await other.open()
    const live = await shop.open("1", "live")
    const texts: Array<string> = []
    for (const id of [unknownId, theirs.body.payment.id, live.body.payment.id]) {
      const answer = await shop.call({ method: "GET", path: `${payments}/${id}`, key: shop.keys.full })
      refused(answer, 404, "PAYMENT_NOT_FOUND")
      texts.push(answer.text.replace(answer.body.error.requestId, ""))
    }
    expect(new Set(texts).size).toBe(1)
    expect(mine.status).toBe(201)
  }
)
add(
  "7",
  "reporting an unknown, another tenant's or the other environment's payment answers the same 404",
  async ({ shop, other }) => {
    const theirs = await other.open()
    const live = await shop.open("1", "live")
    const texts: Array<string> = []
    for (const id of [unknownId, theirs.body.payment.id, live.body.payment.id]) {
      const answer = await shop.report(id, someHash, 1n)
      refused(answer, 404, "PAYMENT_NOT_FOUND")
      texts.push(answer.text.replace(answer.body.error.requestId, ""))
    }
    expect(new Set(texts).size).toBe(1)
  }
)
add(
  "4.1",
  "lists newest first, at most 20 by default, of this merchant and environment",
  async ({ other, shop }) => {
    for (let count = 0; count < 22; count++) await other.open()
    const live = await other.open("1", "live")
    const foreign = await shop.open()
    const answer = await other.call({ method: "GET", path: payments, key: other.keys.readOnly })
    expect(answer.status).toBe(200)
    expect(answer.body.payments).toHaveLength(20)
    expect(answer.body.hasMore).toBe(true)
    const times = answer.body.payments.map((one: { createdAt: string }) => one.createdAt)
    expect(times).toEqual([...times].sort().reverse())
    const ids = answer.body.payments.map((one: { id: string }) => one.id)
    expect(ids).not.toContain(live.body.payment.id)
    expect(ids).not.toContain(foreign.body.payment.id)
  }
)
add("4.1", "pages through all payments with startingAfter", async ({ other }) => {
  const seen: Array<string> = []
  let cursor = ""
  for (let page = 0; page < 100; page++) {
    const { body } = await other.call({
      method: "GET",
      path: `${payments}?limit=7${cursor}`,
      key: other.keys.full
    })
    seen.push(...body.payments.map((one: { id: string }) => one.id))
    if (!body.hasMore) break
    cursor = `&startingAfter=${seen.at(-1)}`
  }
  const { body } = await other.call({ method: "GET", path: `${payments}?limit=100`, key: other.keys.full })
  expect(seen.slice(0, 100)).toEqual(body.payments.map((one: { id: string }) => one.id))
  expect(new Set(seen).size).toBe(seen.length)
})
for (const limit of ["1", "20", "99", "100"]) {
  add("8", `takes limit=${limit}`, async ({ shop }) => {
    const answer = await shop.call({ method: "GET", path: `${payments}?limit=${limit}`, key: shop.keys.full })
    expect(answer.status).toBe(200)
    expect(answer.body.payments.length).toBeLessThanOrEqual(Number(limit))
  })
}
for (const query of [
  "limit=0",
  "limit=101",
  "limit=-1",
  "limit=1.5",
  "limit=1e1",
  "limit=",
  "limit=%2020",
  "limit=+20",
  "limit=020",
  "limit=abc",
  "limit=1&limit=2",
  "limit[]=1",
  "limit=１",
  "unknown=1",
  "limit=1&x=",
  "env=production",
  "env=",
  "startingAfter=x",
  "startingAfter=",
  `startingAfter=${unknownId}`
]) {
  add("4.1", `list refuses ?${query}`, async ({ shop }) => {
    refused(
      await shop.call({ method: "GET", path: `${payments}?${query}`, key: shop.keys.full }),
      400,
      "INVALID_REQUEST"
    )
  })
}
add("4.1", "env may name the key's environment", async ({ shop }) => {
  expect((await shop.call({ method: "GET", path: `${payments}?env=test`, key: shop.keys.full })).status).toBe(
    200
  )
  expect(
    (await shop.call({ method: "GET", path: `${payments}?env=live`, key: shop.keys.liveFull })).status
  ).toBe(200)
})
add("4.1", "env that names the other environment is 403 ENVIRONMENT_MISMATCH", async ({ shop }) => {
  refused(
    await shop.call({ method: "GET", path: `${payments}?env=live`, key: shop.keys.full }),
    403,
    "ENVIRONMENT_MISMATCH"
  )
  refused(
    await shop.call({ method: "GET", path: `${payments}?env=test`, key: shop.keys.liveFull }),
    403,
    "ENVIRONMENT_MISMATCH"
  )
})
add("4.1", "startingAfter of another tenant is no payment here", async ({ shop, other }) => {
  const theirs = await other.open()
  refused(
    await shop.call({
      method: "GET",
      path: `${payments}?startingAfter=${theirs.body.payment.id}`,
      key: shop.keys.full
    }),
    400,
    "INVALID_REQUEST"
  )
})

// ---- 2.3 and 4.1 the webhook endpoint

add("2.3", "create, retrieve, change, test and delete an endpoint", async ({ fresh, service }) => {
  const shop = await fresh()
  const at = (method: string, path = endpointPath, body?: unknown) =>
    shop.call({ method, path, key: shop.keys.full, ...(body === undefined ? {} : { body }) })
  expect((await at("GET")).body).toEqual({ endpoint: null })
  refused(
    await at("PATCH", endpointPath, { url: "https://a.example.com/x" }),
    404,
    "WEBHOOK_ENDPOINT_NOT_FOUND"
  )
  refused(await at("POST", `${endpointPath}/test`), 404, "WEBHOOK_ENDPOINT_NOT_FOUND")
  refused(await at("DELETE"), 404, "WEBHOOK_ENDPOINT_NOT_FOUND")

  const created = await at("POST", endpointPath, { url: "https://hooks.example.com/a" })
  expect(created.status).toBe(201)
  expect(created.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(created.body.endpoint).toMatchObject({
    url: "https://hooks.example.com/a",
    env: "test",
    health: "unverified",
    listening: false,
    lastDeliveredAt: null,
    verifiedAt: null,
    secretLast4: created.body.secret.slice(-4)
  })
  expect(Object.keys(created.body.endpoint).sort()).toEqual([
    "createdAt",
    "env",
    "health",
    "id",
    "lastDeliveredAt",
    "listening",
    "secretLast4",
    "updatedAt",
    "url",
    "verifiedAt"
  ])
  refused(
    await at("POST", endpointPath, { url: "https://hooks.example.com/b" }),
    409,
    "WEBHOOK_ENDPOINT_EXISTS"
  )
  const read = await at("GET")
  expect(read.body.endpoint).toEqual(created.body.endpoint)
  expect(read.text).not.toContain(created.body.secret)

  const tested = await at("POST", `${endpointPath}/test`)
  expect(tested.status).toBe(200)
  expect(tested.body.delivery).toMatchObject({ type: "test", status: "delivered" })
  expect(tested.body.delivery.attempts).toMatchObject([{ number: 1, responseStatus: 200 }])
  expect(tested.body.endpoint).toMatchObject({ health: "healthy", listening: true })
  expect(tested.body.endpoint.verifiedAt).toMatch(isoMillis)
  const sent = (await Effect.runPromise(service.sender.sent)).find(
    (one) => one.id === tested.body.delivery.id
  )
  expect(JSON.parse(new TextDecoder().decode(sent?.body))).toEqual({
    id: tested.body.delivery.id,
    type: "test",
    livemode: false
  })

  const changed = await at("PATCH", endpointPath, { url: "https://hooks.example.com/c" })
  expect(changed.body.endpoint).toMatchObject({
    url: "https://hooks.example.com/c",
    verifiedAt: null,
    health: "unverified"
  })
  expect(changed.text).not.toContain(created.body.secret)
  const deleted = await at("DELETE")
  expect([deleted.status, deleted.text]).toEqual([204, ""])
  expect((await at("GET")).body).toEqual({ endpoint: null })
})
add("2.3", "test and live endpoints are apart", async ({ fresh }) => {
  const shop = await fresh()
  await shop.call({
    method: "POST",
    path: endpointPath,
    key: shop.keys.liveFull,
    body: { url: "https://live.example.com/hook" }
  })
  expect(
    (await shop.call({ method: "GET", path: endpointPath, key: shop.keys.full })).body.endpoint
  ).toBeNull()
  expect(
    (await shop.call({ method: "GET", path: endpointPath, key: shop.keys.liveReadOnly })).body.endpoint.env
  ).toBe("live")
  await shop.call({ method: "DELETE", path: endpointPath, key: shop.keys.liveFull })
})
for (const [url, reason] of Object.entries({
  "http://hooks.example.com/": "scheme",
  "ftp://hooks.example.com/": "scheme",
  "https://127.0.0.1/": "ip_address",
  "https://[::1]/": "ip_address",
  "https://10.0.0.1/": "ip_address",
  "https://8.8.8.8/": "ip_address",
  "https://2130706433/": "ip_address",
  "https://localhost/": "own_host",
  "https://pay.example.com/": "own_host",
  "https://intranet/": "hostname",
  "https://shop.local/": "hostname",
  "https://shop.internal/": "hostname",
  "https://user:pw@hooks.example.com/": "credentials",
  "https://hooks.example.com/#x": "fragment",
  "https://hooks.example.com:22/": "port",
  "not a url": "not_a_url"
})) {
  add("4.1", `the webhook url ${url} is refused: ${reason}`, async ({ shop }) => {
    for (const method of ["POST", "PATCH"]) {
      const answer = await shop.call({ method, path: endpointPath, key: shop.keys.full, body: { url } })
      refused(answer, 400, "INVALID_WEBHOOK_URL")
      expect(answer.body.error.reason).toBe(reason)
    }
  })
}
for (const [name, body, code] of badBodies({ url: "https://hooks.example.com/" })) {
  add("4.1", `create endpoint refuses ${name}`, async ({ shop }) => {
    const answer = await shop.call({ method: "POST", path: endpointPath, key: shop.keys.full, body })
    refused(answer, code === "PAYLOAD_TOO_LARGE" ? 413 : 400, code)
  })
}
add("8", "test sends are limited to 10 a minute, with a truthful retry-after", async ({ other }) => {
  await other.call({
    method: "POST",
    path: endpointPath,
    key: other.keys.full,
    body: { url: "https://limits.example.com/hook" }
  })
  const statuses: Array<number> = []
  for (let count = 0; count < 11; count++) {
    statuses.push(
      (await other.call({ method: "POST", path: `${endpointPath}/test`, key: other.keys.full })).status
    )
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429])
  await other.call({ method: "DELETE", path: endpointPath, key: other.keys.full })
})

// ---- 4.2 playground

const playground = (pk: string, amount: string) =>
  `/api/v1/checkout/playground-intent?pk=${encodeURIComponent(pk)}&amount=${amount}`
for (const amount of playgroundAmounts) {
  add("4.2", `mints a playground intent over ${amount} that opens`, async ({ shop }) => {
    const answer = await shop.call({ method: "GET", path: playground(shop.keys.publishable, amount) })
    expect(answer.status).toBe(200)
    expect(answer.body.intent).toMatchObject({ amount, mode: "test" })
    const opened = await shop.call({
      method: "POST",
      path: payments,
      key: shop.keys.publishable,
      body: { intentToken: answer.body.intentToken }
    })
    expect(opened.status).toBe(201)
    expect(opened.body.payment.intentUrl).toEndWith("/playground")
  })
}
for (const amount of ["0.5", "1", "1.000", "3.00", "100.00", "", "-1.00"]) {
  add("4.2", `the playground refuses the amount ${JSON.stringify(amount)}`, async ({ shop }) => {
    refused(
      await shop.call({ method: "GET", path: playground(shop.keys.publishable, amount) }),
      400,
      "INVALID_REQUEST"
    )
  })
}
add("4.2", "a live key answers 403 PLAYGROUND_TESTNET_ONLY", async ({ shop }) => {
  refused(
    await shop.call({ method: "GET", path: playground(shop.keys.livePublishable, "1.00") }),
    403,
    "PLAYGROUND_TESTNET_ONLY"
  )
})
add("4.2", "a secret key in the query is refused", async ({ shop }) => {
  refused(
    await shop.call({ method: "GET", path: playground(shop.keys.full, "1.00") }),
    403,
    "KEY_KIND_NOT_ALLOWED"
  )
})
add("4.2", "an unknown key is 401, a missing one 400", async ({ shop }) => {
  refused(await shop.call({ method: "GET", path: playground("pk_test_x", "1.00") }), 401, "INVALID_API_KEY")
  refused(
    await shop.call({ method: "GET", path: "/api/v1/checkout/playground-intent?amount=1.00" }),
    400,
    "INVALID_REQUEST"
  )
})
add("4.2", "the GET is open to cross-origin requests", async ({ shop }) => {
  const answer = await shop.call({
    method: "GET",
    path: playground(shop.keys.publishable, "1.00"),
    headers: { origin: "https://shop.example.com" }
  })
  expect(answer.headers.get("access-control-allow-origin")).toBe("*")
  expect(answer.headers.get("access-control-allow-credentials")).toBeNull()
})

// ---- 4.3 context, balance, funds

for (const env of ["test", "live"] as const) {
  add("4.3", `the checkout context of ${env}`, async ({ shop }) => {
    const key = env === "test" ? shop.keys.publishable : shop.keys.livePublishable
    const { body, status } = await shop.call({ method: "GET", path: "/api/v1/checkout-context", key })
    expect(status).toBe(200)
    const { chainId, name, explorerUrl, usdc } = networks[env]
    expect(body).toMatchObject({
      merchant: { name: "Shop" },
      env,
      livemode: env === "live",
      chain: { id: chainId, name, explorerUrl },
      token: { address: usdc.address, chainId, symbol: "USDC", decimals: 6 },
      receiver,
      faucet: { enabled: env === "test" },
      playgroundAmounts: ["0.50", "1.00", "2.00", "5.00"]
    })
  })
}
add("4.3", "reads real balances of an address in any letter case", async ({ shop, service }) => {
  await Effect.runPromise(service.chain.fund(stranger, { usdcAtomic: 77n, gasWei: 5n }))
  const balance = await Effect.runPromise(service.chain.balance(stranger))
  for (const address of [stranger, stranger.toLowerCase(), `0x${stranger.slice(2).toUpperCase()}`]) {
    const { body } = await shop.call({
      method: "GET",
      path: `/api/v1/checkout/test-balance?address=${address}`,
      key: shop.keys.publishable
    })
    expect(body).toEqual({
      balance: { usdcAtomic: balance.usdcAtomic.toString(), gasWei: balance.gasWei.toString() }
    })
  }
})
for (const query of [
  "",
  "?address=",
  "?address=0x12",
  "?address=x",
  `?address=${buyer}&address=${buyer}`,
  `?address=${buyer}&x=1`,
  `?address=${buyer}00`
]) {
  add("4.3", `test-balance refuses ${query || "no address"}`, async ({ shop }) => {
    refused(
      await shop.call({
        method: "GET",
        path: `/api/v1/checkout/test-balance${query}`,
        key: shop.keys.publishable
      }),
      400,
      "INVALID_REQUEST"
    )
  })
}
add("4.3", "the faucet grants to the verified buyer: 201", async ({ shop }) => {
  const answer = await shop.call({
    method: "POST",
    path: "/api/v1/checkout/test-funds",
    key: shop.keys.publishable,
    body: { buyerDidToken: `buyer:${buyer}` }
  })
  expect(answer.status).toBe(201)
  expect(answer.body.grant).toMatchObject({ address: buyer, usdcAtomic: "10000000" })
  expect(Object.keys(answer.body).sort()).toEqual(["balance", "grant"])
})
add("4.3", "the faucet refuses an identity token that does not verify", async ({ shop }) => {
  refused(
    await shop.call({
      method: "POST",
      path: "/api/v1/checkout/test-funds",
      key: shop.keys.publishable,
      body: { buyerDidToken: "x" }
    }),
    401,
    "INVALID_BUYER_TOKEN"
  )
})
for (const [name, body, code] of badBodies({ buyerDidToken: `buyer:${buyer}` })) {
  add("4.3", `test-funds refuses ${name}`, async ({ shop }) => {
    const answer = await shop.call({
      method: "POST",
      path: "/api/v1/checkout/test-funds",
      key: shop.keys.publishable,
      body
    })
    refused(answer, code === "PAYLOAD_TOO_LARGE" ? 413 : 400, code)
  })
}
add(
  "1",
  "test-rail endpoints refuse live keys before anything else of the request is judged",
  async ({ shop }) => {
    const key = shop.keys.livePublishable
    refused(
      await shop.call({ method: "GET", path: `/api/v1/checkout/test-balance?address=${buyer}`, key }),
      403,
      "LIVE_MODE_NO_TEST_FUNDS"
    )
    refused(
      await shop.call({ method: "GET", path: "/api/v1/checkout/test-balance", key }),
      403,
      "LIVE_MODE_NO_TEST_FUNDS"
    )
    refused(
      await shop.call({
        method: "POST",
        path: "/api/v1/checkout/test-funds",
        key,
        body: { buyerDidToken: `buyer:${buyer}` }
      }),
      403,
      "LIVE_MODE_NO_TEST_FUNDS"
    )
    refused(
      await shop.call({ method: "POST", path: "/api/v1/checkout/test-funds", key, body: {} }),
      403,
      "LIVE_MODE_NO_TEST_FUNDS"
    )
  }
)
add("1", "a test key reads no live payment and a live key no test payment", async ({ shop }) => {
  const test = await shop.open()
  const live = await shop.open("1", "live")
  refused(
    await shop.call({ method: "GET", path: `${payments}/${live.body.payment.id}`, key: shop.keys.full }),
    404,
    "PAYMENT_NOT_FOUND"
  )
  refused(
    await shop.call({ method: "GET", path: `${payments}/${test.body.payment.id}`, key: shop.keys.liveFull }),
    404,
    "PAYMENT_NOT_FOUND"
  )
})

// ---- 5 authentication

for (const [name, header] of Object.entries({
  none: undefined,
  empty: "",
  "another scheme": "Basic eDp5",
  "no key": "Bearer",
  "no key but a space": "Bearer ",
  garbage: "Bearer x",
  "a key without scheme": "sk_test_x",
  "a short key": "Bearer sk_test_abc"
})) {
  add("5", `authorization header ${name}: 401 with www-authenticate`, async ({ service }) => {
    const answer = await send(service.baseUrl, {
      method: "GET",
      path: payments,
      headers: header === undefined ? {} : { authorization: header }
    })
    refused(answer, 401, "INVALID_API_KEY")
    expect(answer.headers.get("www-authenticate")).toBe("Bearer")
  })
}
add("5", "the scheme's letter case does not matter", async ({ shop }) => {
  const answer = await shop.call({
    method: "GET",
    path: payments,
    headers: { authorization: `bearer ${shop.keys.full}` }
  })
  expect(answer.status).toBe(200)
})
add("5", "401 comes before 400: a bad body without a key is 401", async ({ service }) => {
  refused(await send(service.baseUrl, { method: "POST", path: intents, body: "{" }), 401, "INVALID_API_KEY")
})
add("5", "a rotated key is refused at the next request", async ({ service }) => {
  const merchant = await Effect.runPromise(service.newMerchant)
  const principal = await Effect.runPromise(service.auth.authenticate(merchant.keys.test.secret))
  const call = () => send(service.baseUrl, { method: "GET", path: payments, key: merchant.keys.test.secret })
  expect((await call()).status).toBe(200)
  await Effect.runPromise(service.auth.rotateKey(principal.merchant.id, principal.keyId))
  refused(await call(), 401, "INVALID_API_KEY")
})

// ---- 7 errors, 8 limits and rules, 9 versioning

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
  add("8", `${method} ${path} takes no Idempotency-Key`, async ({ shop }) => {
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
  "/",
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
  add("7", `HEAD ${path} answers as GET without a body`, async ({ shop }) => {
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
  add("5", `OPTIONS ${path} opens nothing`, async ({ service }) => {
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
add("7", "an inbound x-request-id is taken over when it is a sane token", async ({ shop }) => {
  const given = await shop.call({
    method: "GET",
    path: payments,
    key: shop.keys.full,
    headers: { "x-request-id": "order-1042.try-1" }
  })
  expect(given.headers.get("x-request-id")).toBe("order-1042.try-1")
  for (const bad of [
    "short",
    "a".repeat(65),
    "has space in it",
    "<script>alert(1)</script>",
    "semi;colon;here"
  ]) {
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
    expect(
      JSON.stringify(answer.body.error.details.map((one: { message: string }) => one.message))
    ).not.toContain(marker)
  }
})
add("9", "health and readiness answer", async ({ service }) => {
  expect((await send(service.baseUrl, { method: "GET", path: "/healthz" })).body).toEqual({ status: "ok" })
  expect((await send(service.baseUrl, { method: "GET", path: "/readyz" })).body).toEqual({ status: "ready" })
})
add("9", "the API reference renders without another host", async ({ service }) => {
  const page = await send(service.baseUrl, { method: "GET", path: "/docs" })
  expect(page.headers.get("content-type")).toContain("text/html")
  expect(page.text).not.toMatch(/<(script|link)[^>]+(src|href)="https?:/)
})
add("9", "the OpenAPI document is 3.1 and knows every path of the specification", async ({ service }) => {
  const { body } = await send(service.baseUrl, { method: "GET", path: "/openapi.json" })
  expect(body.openapi).toStartWith("3.1")
  expect(Object.keys(body.paths).sort()).toEqual(
    [
      "/api/v1/checkout-context",
      "/api/v1/checkout/playground-intent",
      "/api/v1/checkout/test-balance",
      "/api/v1/checkout/test-funds",
      "/api/v1/payment-intents",
      "/api/v1/payments",
      "/api/v1/payments/{id}",
      "/api/v1/webhook-endpoint",
      "/api/v1/webhook-endpoint/test"
    ].sort()
  )
})
