// The mock compared with the contract, because shops' tests rely on it.
import { describe, expect, test } from "bun:test"
import { mockQuittance } from "../../../src/packages/client/mockQuittance.ts"
import { Quittance } from "../../../src/packages/client/Quittance.ts"
import { verifyDelivery } from "../../../src/packages/client/verifyWebhook.ts"

const intentUrl = "https://shop.example.com/orders/1042"

const shop = () => {
  const mock = mockQuittance()
  return { mock, quittance: new Quittance(mock.options) }
}

describe("The mock", () => {
  test("settles a payment once, and delivers its event again on request", async () => {
    const { mock, quittance } = shop()
    const { paymentId } = await quittance.paymentIntents.create({ amount: "10.00", intentUrl })
    const first = await mock.settle(paymentId)
    const settled = await quittance.payments.retrieve(paymentId)
    const second = await mock.settle(paymentId)
    expect({ event: second.event, body: second.body }).toEqual({ event: first.event, body: first.body })
    const { event, order } = await verifyDelivery(second.body, second.headers, mock.webhookSecret)
    expect(event).toEqual(first.event)
    expect(order).toEqual({ paymentId, intentUrl })
    expect(await quittance.payments.retrieve(paymentId)).toEqual(settled)
    expect((await quittance.events.list()).events.map((one) => one.event.id)).toEqual([first.event.id])
  })
  test("lists a payment only once a buyer has opened it, like the service", async () => {
    const { mock, quittance } = shop()
    const { paymentId } = await quittance.paymentIntents.create({ amount: "10", intentUrl })
    const unknown = { code: "PAYMENT_NOT_FOUND", status: 404 }
    await expect(quittance.payments.retrieve(paymentId)).rejects.toMatchObject(unknown)
    expect((await quittance.payments.list({ intentUrl })).payments).toEqual([])
    const opened = mock.open(paymentId)
    expect(opened).toMatchObject({ id: paymentId, status: "pending", amount: "10.00", intentUrl })
    expect(mock.open(paymentId)).toEqual(opened)
    expect(await quittance.payments.retrieve(paymentId)).toEqual(opened)
    expect((await quittance.payments.list({ intentUrl })).payments).toEqual([opened])
    await mock.settle(paymentId)
    expect(mock.open(paymentId).status).toBe("settled")
    // Settling an intent also opens it.
    const other = await quittance.paymentIntents.create({ amount: "3", intentUrl })
    await mock.settle(other.paymentId)
    const { payments } = await quittance.payments.list({ intentUrl })
    expect(payments.map(({ id }) => id)).toEqual([other.paymentId, paymentId])
    expect(() => mock.open("none")).toThrow("create its intent first")
  })
  test("refuses the amounts, orders and cursors that the service refuses", async () => {
    const { mock, quittance } = shop()
    const invalid = { code: "INVALID_REQUEST", status: 400 }
    for (const amount of ["0", "0.00", "0.0000001", "-1", "1e3"])
      await expect(quittance.paymentIntents.create({ amount, intentUrl })).rejects.toMatchObject(invalid)
    for (const url of [
      "http://shop.example.com/orders/1042",
      `${intentUrl}#paid`,
      "https://me:secret@shop.example.com/orders/1042",
      "ftp://shop.example.com/orders/1042",
      `${intentUrl}?${"x".repeat(2048)}`
    ])
      await expect(quittance.paymentIntents.create({ amount: "1", intentUrl: url })).rejects.toMatchObject(
        invalid
      )
    await expect(quittance.paymentLinks.create({ description: "Free", amount: "0" })).rejects.toMatchObject(
      invalid
    )

    const { paymentId } = await quittance.paymentIntents.create({
      amount: "1",
      intentUrl: "http://localhost:3000/"
    })
    const { event } = await mock.settle(paymentId)
    expect((await quittance.events.list({ after: event.id })).events).toEqual([])
    const unknown = crypto.randomUUID()
    for (const list of [
      quittance.events.list({ after: unknown }),
      quittance.payments.list({ startingAfter: unknown }),
      quittance.paymentLinks.list({ startingAfter: unknown })
    ])
      await expect(Promise.resolve(list)).rejects.toMatchObject(invalid)
  })
})
