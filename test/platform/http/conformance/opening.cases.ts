// Opening payments (docs/contract.md 3 and 4.3).
import { expect } from "bun:test"
import { badBodies } from "../inputs.ts"
import { intentUrl } from "../shop.ts"
import { payments, refused, table } from "./table.ts"

const { cases, add } = table()

add("4.3", "opens a pending payment whose id is the token's jti", async ({ shop }) => {
  const intent = await shop.createIntent("10")
  const opened = await shop.call({
    method: "POST",
    path: payments,
    key: shop.keys.publishable,
    body: { intentToken: intent.body.intentToken }
  })
  expect(opened.status).toBe(201)
  const { jti } = JSON.parse(Buffer.from(intent.body.intentToken.split(".")[1] ?? "", "base64url").toString())
  expect(opened.body.payment).toMatchObject({
    id: jti,
    status: "pending",
    amount: "10.00",
    currency: "USD",
    payerType: "human",
    intentUrl
  })
})
add("3", "the same token again returns 200 with the same payment", async ({ shop }) => {
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
add("3", "the same token opened 100 times at once returns 201 once and 200 99 times", async ({ shop }) => {
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

export const openingCases = cases
