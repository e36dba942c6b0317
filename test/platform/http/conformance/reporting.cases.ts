// Reporting settlements (docs/contract.md 3 and 4.3).
import { expect } from "bun:test"
import { Effect } from "effect"
import type { Answer } from "../../../support/contractCheck.ts"
import { receiver } from "../../../support/service.ts"
import { badBodies } from "../inputs.ts"
import { buyer, stranger, tokenChangesOf } from "../shop.ts"
import { endpointPath, payments, refused, someHash, table, type World } from "./table.ts"

const { cases, add } = table()

add("3", "a matching transfer settles: 200 and a webhook is sent", async ({ shop, service }) => {
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
  "a transfer that is not indexed gets 202 TEST_SETTLEMENT_PENDING with the payment",
  async ({ shop }) => {
    const { body } = await shop.open()
    const answer = await shop.report(body.payment.id, someHash, 10_000_000n)
    refused(answer, 202, "TEST_SETTLEMENT_PENDING")
    expect(answer.body.payment).toEqual(body.payment)
  }
)
add(
  "3",
  "a transfer without its confirmations gets 202, and 200 once it has them",
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
  add("3", `${name} gets 422 with reason ${reason} and the payment stays pending`, async (world) => {
    const answer = await run(world)
    refused(answer, 422, "TEST_SETTLEMENT_MISMATCH")
    expect(answer.body.error.reason).toBe(reason)
    expect(answer.body.error.details?.[0]?.path).toBe(reason)
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
add("3", "a live report is recorded, gets 202 LIVE_SETTLEMENT_GATED and stays pending", async ({ shop }) => {
  const { body } = await shop.open("10", "live")
  const answer = await shop.report(body.payment.id, someHash, 10_000_000n, { env: "live" })
  refused(answer, 202, "LIVE_SETTLEMENT_GATED")
  expect(answer.body.payment.status).toBe("pending")
  // docs/contract.md 2.1: present when settled.
  for (const field of ["payerAddress", "reportedAt", "reportedTransactionId", "settledAt"] as const)
    expect(answer.body.payment[field]).toBeUndefined()
  refused(
    await shop.report(body.payment.id, someHash, 10_000_000n, { env: "live" }),
    202,
    "LIVE_SETTLEMENT_GATED"
  )
})
add("3", "a first live report locks nothing in: another buyer's is recorded as well", async ({ shop }) => {
  const { body } = await shop.open("10", "live")
  await shop.report(body.payment.id, someHash, 10_000_000n, { env: "live" })
  refused(
    await shop.report(body.payment.id, `0x${"cd".repeat(32)}`, 10_000_000n, {
      env: "live",
      buyerDidToken: `buyer:${stranger}`
    }),
    202,
    "LIVE_SETTLEMENT_GATED"
  )
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

export const reportingCases = cases
