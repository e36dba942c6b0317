// Keys (docs/contract.md 5).
import { expect } from "bun:test"
import { Effect } from "effect"
import { send } from "../../support/contractCheck.ts"
import { intents, payments, refused, table } from "./table.ts"

const { cases, add } = table()

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

export const authenticationCases = cases
