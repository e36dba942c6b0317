// Retrieving and listing payments (docs/contract.md 4.1, 7 and 8).
import { expect } from "bun:test"
import { payments, refused, someHash, table, unknownId } from "./table.ts"

const { cases, add } = table()

add("4.1", "retrieves a payment, also with the UUID in capitals", async ({ shop }) => {
  const { body } = await shop.open()
  for (const id of [body.payment.id, body.payment.id.toUpperCase()]) {
    const answer = await shop.call({ method: "GET", path: `${payments}/${id}`, key: shop.keys.readOnly })
    expect<unknown>(answer.body).toEqual({ payment: body.payment })
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
  "unknown, another tenant's and the other environment's payment get the same bytes except for the request id",
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
  "reporting an unknown, another tenant's or the other environment's payment gets the same 404",
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
  add("8", `accepts limit=${limit}`, async ({ shop }) => {
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

export const readingCases = cases
