// Keys (docs/contract.md 5).
import { expect } from "bun:test"
import { Effect } from "effect"
import { send } from "../../../support/contractCheck.ts"
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
for (const [name, place] of Object.entries<
  (key: string) => { readonly query?: string; readonly headers?: Readonly<Record<string, string>> }
>({
  "in the query": (key) => ({
    query: ["pk", "key", "api_key", "apiKey", "token", "access_token", "authorization"]
      .map((name) => `${name}=${key}`)
      .join("&")
  }),
  "as a Basic user": (key) => ({ headers: { authorization: `Basic ${btoa(`${key}:`)}` } }),
  "as a Basic password": (key) => ({ headers: { authorization: `Basic ${btoa(`:${key}`)}` } }),
  "in X-API-Key": (key) => ({ headers: { "x-api-key": key } }),
  "in a cookie": (key) => ({ headers: { cookie: `authorization=${key}; quittance_session=${key}` } }),
  "under another scheme": (key) => ({ headers: { authorization: `Token ${key}` } }),
  "behind two schemes": (key) => ({ headers: { authorization: `Bearer Bearer ${key}` } }),
  "behind another key": (key) => ({ headers: { authorization: `Bearer x, Bearer ${key}` } }),
  "without its last character": (key) => ({ headers: { authorization: `Bearer ${key.slice(0, -1)}` } }),
  "with one character more": (key) => ({ headers: { authorization: `Bearer ${key}A` } }),
  "in upper case": (key) => ({ headers: { authorization: `Bearer ${key.toUpperCase()}` } }),
  "with %00 behind it": (key) => ({ headers: { authorization: `Bearer ${key}%00` } }),
  "of the other environment": (key) => ({
    headers: { authorization: `Bearer ${key.replace("_test_", "_live_")}` }
  }),
  "of another kind": (key) => ({ headers: { authorization: `Bearer ${key.replace("sk_", "pk_")}` } })
})) {
  add("5", `a key ${name} is no key`, async ({ service, shop }) => {
    const { query = "", headers = {} } = place(shop.keys.full)
    const answer = await send(service.baseUrl, { method: "GET", path: `${payments}?${query}`, headers })
    refused(answer, 401, "INVALID_API_KEY")
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
