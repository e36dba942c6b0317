// The payment object (docs/contract.md 2.1).
import { expect } from "bun:test"
import { networks } from "../../../../src/domain/networks.ts"
import { buyer } from "../shop.ts"
import { isoMillis, table } from "./table.ts"

const { cases, add } = table()

add("2.1", "a pending payment has exactly the fields of a pending payment", async ({ shop }) => {
  const { body } = await shop.open()
  expect(Object.keys(body.payment).sort()).toEqual(
    [
      "amount",
      "createdAt",
      "currency",
      "env",
      "id",
      "intentUrl",
      "livemode",
      "payerType",
      "refCode",
      "status",
      "token"
    ].sort()
  )
  expect(body.payment.createdAt).toMatch(isoMillis)
  expect(body.payment.refCode).toMatch(/^PAY-[A-Z0-9]{8}$/)
  expect(body.payment).toMatchObject({
    env: "test",
    livemode: false,
    token: { address: networks.test.usdc.address, chainId: 84532 }
  })
})
add("2.1", "a live payment has livemode true and the live token", async ({ shop }) => {
  const { body } = await shop.open("1", "live")
  expect(body.payment).toMatchObject({
    env: "live",
    livemode: true,
    token: { address: networks.live.usdc.address, chainId: 42161 }
  })
})
add(
  "2.1",
  "a settled payment has settledAt, reportedAt, reportedTransactionId, payerAddress and failureReason null",
  async ({ shop }) => {
    const { payment, transactionId } = await shop.settle()
    expect(payment).toMatchObject({
      status: "settled",
      payerAddress: buyer,
      reportedTransactionId: transactionId,
      failureReason: null
    })
    expect(payment.settledAt).toMatch(isoMillis)
    expect(payment.reportedAt).toMatch(isoMillis)
  }
)
add("2.1", "reference codes differ", async ({ shop }) => {
  const all = await Promise.all(Array.from({ length: 20 }, () => shop.open()))
  expect(new Set(all.map((one) => one.body.payment.refCode)).size).toBe(20)
})

export const paymentObjectCases = cases
