// The order of a webhook, and the feed of events (docs/contract.md 4.1 and 6).
import { expect } from "bun:test"
import { intentUrl } from "../shop.ts"
import { payments, refused, someHash, table, unknownId } from "./table.ts"

const { cases, add } = table()
const events = "/api/v1/events"

add("6", "an event is returned with its payment, on its own and in the feed", async ({ fresh }) => {
  const shop = await fresh()
  const { payment, transactionId } = await shop.settle()
  const key = shop.keys.readOnly
  const list = await shop.call({ method: "GET", path: events, key })
  expect(list.status).toBe(200)
  expect(list.body.hasMore).toBe(false)
  expect(list.body.events).toHaveLength(1)
  const [listed] = list.body.events
  expect<unknown>(listed).toMatchObject({
    event: { type: "payment.settled", livemode: false, transactionId },
    payment
  })
  const id = listed?.event.id ?? ""
  for (const written of [id, id.toUpperCase()]) {
    const one = await shop.call({ method: "GET", path: `${events}/${written}`, key })
    expect<unknown>(one.body).toEqual(listed)
  }
})
add("6", "the feed continues after the last handled event", async ({ fresh }) => {
  const shop = await fresh()
  for (let count = 0; count < 3; count++) await shop.settle()
  const key = shop.keys.full
  const read: Array<string> = []
  for (let page = 0; page < 3; page++) {
    const last = read.at(-1)
    const { body } = await shop.call({
      method: "GET",
      path: `${events}?limit=1${last === undefined ? "" : `&after=${last}`}`,
      key
    })
    expect(body.hasMore).toBe(page < 2)
    read.push(...body.events.map((one) => one.event.id))
  }
  expect(new Set(read).size).toBe(3)
  const rest = await shop.call({ method: "GET", path: `${events}?after=${read.at(-1)}`, key })
  expect<unknown>(rest.body).toEqual({ events: [], hasMore: false })
})
add("6", "an event of another tenant or environment is unknown", async ({ fresh, other }) => {
  const shop = await fresh()
  await shop.settle()
  const { body } = await shop.call({ method: "GET", path: events, key: shop.keys.full })
  const id = body.events[0]?.event.id ?? ""
  for (const key of [other.keys.full, shop.keys.liveFull]) {
    refused(await shop.call({ method: "GET", path: `${events}/${id}`, key }), 404, "EVENT_NOT_FOUND")
    refused(await shop.call({ method: "GET", path: `${events}?after=${id}`, key }), 400, "INVALID_REQUEST")
  }
})
add("6", "an event is resent to the present endpoint, and not without one", async ({ fresh }) => {
  const shop = await fresh()
  await shop.settle()
  const key = shop.keys.full
  const { body } = await shop.call({ method: "GET", path: events, key })
  const [settled] = body.events
  expect(settled?.delivery).toBe("cancelled")
  const path = `${events}/${settled?.event.id}/resend`
  refused(await shop.call({ method: "POST", path, key }), 404, "WEBHOOK_ENDPOINT_NOT_FOUND")
  refused(
    await shop.call({ method: "POST", path, key: shop.keys.readOnly }),
    403,
    "MANAGE_PERMISSION_REQUIRED"
  )
  await shop.call({
    method: "POST",
    path: "/api/v1/webhook-endpoint",
    key,
    body: { url: "https://hooks.example.com/a" }
  })
  const sent = await shop.call({ method: "POST", path, key })
  expect(sent.body.delivery).toMatchObject({ id: settled?.event.id ?? "", status: "delivered" })
  refused(
    await shop.call({ method: "POST", path: path.replace(/[0-9a-f]{8}-/, "00000000-"), key }),
    404,
    "EVENT_NOT_FOUND"
  )
})
for (const query of ["after=x", "after=", `after=${unknownId}`, "limit=0", "limit=101", "before=1"]) {
  add("6", `the feed refuses ?${query}`, async ({ shop }) => {
    refused(
      await shop.call({ method: "GET", path: `${events}?${query}`, key: shop.keys.full }),
      400,
      "INVALID_REQUEST"
    )
  })
}
add("4.1", "lists the payments of a transaction, and of an order", async ({ fresh }) => {
  const shop = await fresh()
  const { payment, transactionId } = await shop.settle()
  await shop.open()
  const list = async (query: string) => {
    const { body } = await shop.call({ method: "GET", path: `${payments}?${query}`, key: shop.keys.full })
    return body.payments.map((one: { readonly id: string }) => one.id)
  }
  expect(await list(`transactionId=${transactionId}`)).toEqual([payment.id])
  expect(await list(`transactionId=0x${transactionId.slice(2).toUpperCase()}`)).toEqual([payment.id])
  expect(await list(`transactionId=${someHash}`)).toEqual([])
  expect(await list(`intentUrl=${encodeURIComponent(intentUrl)}`)).toHaveLength(2)
  expect(await list(`intentUrl=${encodeURIComponent(intentUrl)}&transactionId=${transactionId}`)).toEqual([
    payment.id
  ])
  expect(await list("intentUrl=https%3A%2F%2Fshop.example.com%2Forders%2F1043")).toEqual([])
})
for (const query of ["transactionId=0x12", "transactionId=", "intentUrl=", `intentUrl=${"x".repeat(2049)}`]) {
  add("4.1", `list refuses ?${query.slice(0, 40)}`, async ({ shop }) => {
    refused(
      await shop.call({ method: "GET", path: `${payments}?${query}`, key: shop.keys.full }),
      400,
      "INVALID_REQUEST"
    )
  })
}

export const eventsCases = cases
