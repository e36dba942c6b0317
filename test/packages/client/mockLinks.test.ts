// Payment links of the mock, as the client sees them.
import { describe, expect, test } from "bun:test"
import { mockQuittance } from "../../../src/packages/client/mockQuittance.ts"
import { Quittance } from "../../../src/packages/client/Quittance.ts"
import { verifyDelivery } from "../../../src/packages/client/verifyWebhook.ts"

const shop = () => {
  const mock = mockQuittance()
  return { mock, quittance: new Quittance(mock.options) }
}

describe("The mock's payment links", () => {
  test("are created, listed newest first, and closed", async () => {
    const { quittance } = shop()
    const fixed = await quittance.paymentLinks.create({ description: "Repair", amount: "25" })
    const chosen = await quittance.paymentLinks.create({
      description: "Donation",
      minAmount: "1",
      maxAmount: "9.5"
    })
    expect(fixed).toMatchObject({ amount: "25.00", once: false, state: "open" })
    expect(chosen).toMatchObject({ minAmount: "1.00", maxAmount: "9.50" })
    expect(await quittance.paymentLinks.list()).toEqual({ links: [chosen, fixed], hasMore: false })
    expect(await Array.fromAsync(quittance.paymentLinks.list({ limit: 1 }))).toEqual([chosen, fixed])
    await quittance.paymentLinks.close(fixed.id)
    expect((await quittance.paymentLinks.list()).links.map(({ state }) => state)).toEqual(["open", "closed"])
  })

  test("are paid: the delivery's order is the link's page", async () => {
    const { mock, quittance } = shop()
    const link = await quittance.paymentLinks.create({ description: "Repair", amount: "25", once: true })
    const { body, headers } = await mock.settleLink(link.id)
    const { event, order } = await verifyDelivery(body, headers, mock.webhookSecret)
    expect(order?.intentUrl).toBe(link.url)
    expect(await quittance.payments.forEvent(event)).toMatchObject({ status: "settled", amount: "25.00" })
    expect((await quittance.paymentLinks.list()).links[0]?.state).toBe("paid")
    expect(mock.settleLink(link.id)).rejects.toThrow("is paid")
  })

  test("accept the buyer's amount if they have none", async () => {
    const { mock, quittance } = shop()
    const { id, url } = await quittance.paymentLinks.create({
      description: "Donation",
      minAmount: "1",
      maxAmount: "9"
    })
    await mock.settleLink(id, "3.5")
    await mock.settleLink(id, "9")
    const { payments } = await quittance.payments.list({ intentUrl: url })
    expect(payments.map(({ amount }) => amount)).toEqual(["9.00", "3.50"])
    expect(mock.settleLink(id)).rejects.toThrow("Pass the amount")
    expect(mock.settleLink(id, "0.5")).rejects.toThrow("from 1.00 to 9.00")
  })

  test("refuse everything that the service refuses", async () => {
    const { quittance } = shop()
    const { create, close } = quittance.paymentLinks
    const invalid = { code: "INVALID_REQUEST", status: 400 }
    expect(create({ description: "", amount: "1" })).rejects.toMatchObject(invalid)
    expect(create({ description: "x", amount: "one" })).rejects.toMatchObject(invalid)
    expect(create({ description: "x", amount: "1", minAmount: "1", maxAmount: "2" })).rejects.toMatchObject(
      invalid
    )
    expect(close("none")).rejects.toMatchObject({ code: "PAYMENT_LINK_NOT_FOUND", status: 404 })
  })
})
