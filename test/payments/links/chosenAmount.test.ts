// A link that is paid once, whose buyer chooses the amount: another amount replaces the payment, as long as nobody has
// begun to pay it.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { buyer, makeShop } from "../../platform/http/shop.ts"
import { serviceForFile } from "../../support/forFile.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()
const shop = await makeShop(service)

describe("a link that is paid once, with an amount that the buyer chooses", () => {
  const newLink = async () => {
    const made = await shop.call({
      method: "POST",
      path: "/api/v1/payment-links",
      key: shop.keys.full,
      body: { description: "Gift", minAmount: "5.00", maxAmount: "50.00", once: true }
    })
    return `/api/v1/links/${made.body.link.id}`
  }
  const asked = (link: string, amount: string) => shop.call({ method: "POST", path: link, body: { amount } })
  /** The payment that the checkout shows to a buyer who types the amount. */
  const opened = async (link: string, amount: string) => {
    const { intentToken } = (await asked(link, amount)).body
    const key = shop.keys.publishable
    const answer = await shop.call({ method: "POST", path: "/api/v1/payments", key, body: { intentToken } })
    return answer.body.payment
  }
  /** Announces a wallet; a refusal contains the payment with its error. */
  const announce = (id: string, attemptId: string = crypto.randomUUID()) =>
    fetch(`${service.baseUrl}/api/v1/payments/${id}/attempts`, {
      method: "POST",
      headers: { authorization: `Bearer ${shop.keys.publishable}`, "content-type": "application/json" },
      body: JSON.stringify({ buyerDidToken: `buyer:${buyer}:${id}`, method: "transfer", attemptId })
    })
  const statusOf = async (id: string) =>
    (await shop.call({ method: "GET", path: `/api/v1/payments/${id}`, key: shop.keys.full })).body.payment
      .status

  test("a new amount replaces the payment, and the first one can no longer be paid", async () => {
    const link = await newLink()
    const first = await opened(link, "10.00")
    expect((await opened(link, "10.00")).id).toBe(first.id)
    const refused = await asked(link, "51.00")
    expect([refused.status, refused.body.error.code]).toEqual([400, "INVALID_REQUEST"])
    expect(await statusOf(first.id)).toBe("pending")
    const second = await opened(link, "20.00")
    expect([second.id === first.id, second.amount, second.status]).toEqual([false, "20.00", "pending"])
    expect(await statusOf(first.id)).toBe("failed")
    const late = await announce(first.id)
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining("PAYMENT_FAILED")])
    expect((await announce(second.id)).status).toBe(201)
    const hash = await shop.transfer(20_000_000n)
    expect((await shop.report(second.id, hash, 20_000_000n)).status).toBe(200)
    const again = await asked(link, "30.00")
    expect([again.status, again.body.error.reason]).toEqual([409, "paid"])
  })

  test("after a wallet declined, the amount may change; while it may have paid, it may not", async () => {
    const link = await newLink()
    const first = await opened(link, "10.00")
    const attemptId = crypto.randomUUID()
    expect((await announce(first.id, attemptId)).status).toBe(201)
    expect((await opened(link, "20.00")).id).toBe(first.id)
    const declined = await shop.call({
      method: "DELETE",
      path: `/api/v1/payments/${first.id}/attempts/${attemptId}`,
      key: shop.keys.publishable
    })
    expect(declined.status).toBe(204)
    expect((await opened(link, "20.00")).amount).toBe("20.00")
  })

  test("two who type at once, and one who begins to pay at the same time, get one payment", async () => {
    for (let round = 0; round < 8; round++) {
      const link = await newLink()
      const first = await opened(link, "10.00")
      const [paying] = await Promise.all([announce(first.id), asked(link, "20.00"), asked(link, "30.00")])
      const status = await statusOf(first.id)
      expect(status).toBe(paying.status === 201 ? "pending" : "failed")
      const present = await opened(link, "10.00")
      if (status === "pending") expect(present.id).toBe(first.id)
      else expect(present.id).not.toBe(first.id)
    }
  })

  test("if the replaced payment is paid late, nobody is asked to pay again", async () => {
    const link = await newLink()
    const first = await opened(link, "10.00")
    const second = await opened(link, "20.00")
    expect([await statusOf(first.id), second.status]).toEqual(["failed", "pending"])
    // Sent, and reported, by a wallet that has not announced it.
    const paid = await shop.report(first.id, await shop.transfer(10_000_000n), 10_000_000n)
    expect([paid.status, paid.body.payment.status]).toEqual([200, "settled"])
    for (const amount of ["20.00", "30.00"]) {
      const again = await asked(link, amount)
      expect([again.status, again.body.error?.reason]).toEqual([409, "paid"])
    }
    expect((await shop.call({ method: "GET", path: link })).body.link.state).toBe("paid")
  })

  test("the existing payment stays if the merchant cannot open another", async () => {
    const link = await newLink()
    const first = await opened(link, "10.00")
    const moved = (places: string) =>
      Effect.runPromise(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE merchants SET moved_receivers = ${places}::text[] WHERE id = ${shop.merchant.id}`
        ).pipe(Effect.provideContext(service.context), Effect.orDie)
      )
    // The receiving address has moved to another merchant.
    await moved("{test}")
    const refused = await asked(link, "20.00")
    expect([refused.status, refused.body.error?.code]).toEqual([409, "RECEIVER_TAKEN"])
    expect(await statusOf(first.id)).toBe("pending")
    await moved("{}")
    expect((await opened(link, "10.00")).id).toBe(first.id)
  })
})
