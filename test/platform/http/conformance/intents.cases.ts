// Creating intents (docs/contract.md 2.2 and 4.1).
import { expect } from "bun:test"
import { networks } from "../../../../src/domain/networks.ts"
import { receiver } from "../../../support/service.ts"
import { badAmounts, badBodies, badIntentUrls, goodAmounts, goodIntentUrls } from "../inputs.ts"
import { intentUrl } from "../shop.ts"
import { intents, payments, refused, table } from "./table.ts"

const { cases, add } = table()

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
    expect(answer.body.error.details?.some((one) => one.path.startsWith("body.amount"))).toBe(true)
  })
}
for (const url of goodIntentUrls) {
  add("4.1", `accepts the intentUrl ${url.slice(0, 60)}`, async ({ shop }) => {
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
  "the intent has amount, currency, mode, receiver and token, and nothing else",
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
  const claims = JSON.parse(Buffer.from(body.intentToken.split(".")[1] ?? "", "base64url").toString())
  expect(claims).toMatchObject({ amount: "3.21", intentUrl, env: "test", receiver })
  expect(claims.exp - claims.iat).toBe(300)
})

export const intentsCases = cases
