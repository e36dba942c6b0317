// Managing the webhook endpoint (docs/contract.md 2.3 and 4.1).
import { expect } from "bun:test"
import { Effect } from "effect"
import { badBodies } from "../inputs.ts"
import { endpointPath, isoMillis, refused, table } from "./table.ts"

const { cases, add } = table()

add("2.3", "create, retrieve, change, test and delete an endpoint", async ({ fresh, service }) => {
  const shop = await fresh()
  const at = (method: string, path = endpointPath, body?: unknown) =>
    shop.call({ method, path, key: shop.keys.full, ...(body === undefined ? {} : { body }) })
  expect<unknown>((await at("GET")).body).toEqual({ endpoint: null })
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
  expect<unknown>((await at("GET")).body).toEqual({ endpoint: null })
})
add("6.1", "a test event says that it is not live, in live too", async ({ fresh, service }) => {
  const shop = await fresh()
  const key = shop.keys.liveFull
  await shop.call({ method: "POST", path: endpointPath, key, body: { url: "https://live.example.com/hook" } })
  const { body } = await shop.call({ method: "POST", path: `${endpointPath}/test`, key })
  const { id } = body.delivery
  const sent = (await Effect.runPromise(service.sender.sent)).find((one) => one.id === id)
  expect(JSON.parse(new TextDecoder().decode(sent?.body))).toEqual({ id, type: "test", livemode: false })
  await shop.call({ method: "DELETE", path: endpointPath, key })
})
add("2.3", "test and live endpoints are separate", async ({ fresh }) => {
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
add("8", "test sends are limited to 10 a minute, with an exact retry-after", async ({ other }) => {
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

export const webhookEndpointCases = cases
