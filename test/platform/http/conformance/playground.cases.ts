// The playground (docs/contract.md 4.2).
import { expect } from "bun:test"
import { playgroundAmounts } from "../../../../src/checkout/Api.ts"
import { payments, refused, table } from "./table.ts"

const { cases, add } = table()

const playground = (pk: string, amount: string) =>
  `/api/v1/checkout/playground-intent?pk=${encodeURIComponent(pk)}&amount=${amount}`
for (const amount of playgroundAmounts) {
  add("4.2", `creates a playground intent over ${amount} that opens`, async ({ shop }) => {
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
add("4.2", "a live key gets 403 PLAYGROUND_TESTNET_ONLY", async ({ shop }) => {
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

export const playgroundCases = cases
