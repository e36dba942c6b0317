// The message that the owner of a receiving address signs: valid for one move, from one holder.
import { expect, test } from "bun:test"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { receiverMessage } from "../../../src/merchants/Receivers/receiverMessage.ts"
import { receiver } from "../../support/rawReceipts.ts"

const merchant = (digit: number) => MerchantId.make(`00000000-0000-4000-8000-00000000000${digit}`)
const place = { merchantId: merchant(1), env: "live", address: receiver } as const
const holder = { merchantId: merchant(2), since: new Date("2026-01-01T00:00:00Z") }

test("names merchant, environment and address in lines that a person can read", () => {
  const lines = receiverMessage(place, holder).split("\n")
  expect(lines).toContain(`Merchant: ${place.merchantId}`)
  expect(lines).toContain("Environment: live")
  expect(lines).toContain(`Address: ${receiver}`)
})

test("differs for another merchant, environment, holder, or time of holding", () => {
  const texts = [
    receiverMessage(place, holder),
    receiverMessage({ ...place, merchantId: merchant(3) }, holder),
    receiverMessage({ ...place, env: "test" }, holder),
    receiverMessage(place, { ...holder, merchantId: merchant(4) }),
    receiverMessage(place, { ...holder, since: new Date("2026-01-01T00:00:00.001Z") })
  ]
  expect(new Set(texts).size).toBe(texts.length)
})
