// One database round trip a request in addition to the key's.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { countingDatabase } from "../../support/database.ts"
import { forFile } from "../../support/forFile.ts"
import { startService } from "../../support/service.ts"
import { makeShop } from "./shop.ts"

setDefaultTimeout(60_000)

let roundTrips = 0
const database = countingDatabase(() => {
  roundTrips++
})
const service = await forFile(startService(database))
const shop = await makeShop(service)

describe("Round trips", () => {
  /** Round trips of one request: the least of several, because workers poll in between. */
  const cost = async (request: () => Promise<unknown>) => {
    const counts: Array<number> = []
    for (let round = 0; round < 8; round++) {
      const before = roundTrips
      await request()
      counts.push(roundTrips - before)
    }
    return Math.min(...counts)
  }

  test("creating an intent costs only the key's round trip", async () => {
    expect(await cost(() => shop.createIntent())).toBe(1)
  })
  test("opening, first and replayed, costs one round trip plus the key's", async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => shop.createIntent()))
    const open = (token: string) =>
      shop.call({
        method: "POST",
        path: "/api/v1/payments",
        key: shop.keys.publishable,
        body: { intentToken: token }
      })
    expect(await cost(() => open(tokens.pop()?.body.intentToken ?? ""))).toBe(2)
    const again = (await shop.createIntent()).body.intentToken
    await open(again)
    expect(await cost(() => open(again))).toBe(2)
  })
  test("retrieving and listing cost one round trip plus the key's", async () => {
    const { body } = await shop.open()
    const get = (path: string) => shop.call({ method: "GET", path, key: shop.keys.full })
    expect(await cost(() => get(`/api/v1/payments/${body.payment.id}`))).toBe(2)
    expect(await cost(() => get("/api/v1/payments"))).toBe(2)
  })
  test("the replay of a settled payment's report costs one round trip plus the key's", async () => {
    const { payment, transactionId } = await shop.settle()
    expect(await cost(() => shop.report(payment.id, transactionId, 10_000_000n))).toBe(2)
  })
  test("a report that is not indexed yet costs one round trip plus the key's", async () => {
    const { body } = await shop.open()
    expect(await cost(() => shop.report(body.payment.id, `0x${"ab".repeat(32)}`, 10_000_000n))).toBe(2)
  })
})
