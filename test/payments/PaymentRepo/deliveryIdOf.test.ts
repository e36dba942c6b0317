// The id of a settlement's delivery is derived from the transfer.
import { expect, test } from "bun:test"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { deliveryIdOf, laterDeliveryIdOf } from "../../../src/payments/PaymentRepo/deliveryIdOf.ts"

const transfer = {
  chainId: 84532,
  transactionId: TransactionHash.make(`0x${"ab".repeat(32)}`),
  payer: Address.make("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"),
  receiver: Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
  value: AtomicUsdc.make(10_000_000n),
  ordinal: 0
} as const

test("is the same for the same transfer in every release: a UUID of version 8", () => {
  expect(deliveryIdOf(transfer)).toBe(deliveryIdOf({ ...transfer }))
  expect(deliveryIdOf(transfer)).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  )
  expect(deliveryIdOf(transfer)).toBe("437ef516-8b97-846d-a04a-94489caf67a3")
})

test("differs for every other transfer", () => {
  const others = [
    { ...transfer, ordinal: 1 },
    { ...transfer, value: AtomicUsdc.make(10_000_001n) },
    { ...transfer, payer: transfer.receiver },
    { ...transfer, receiver: transfer.payer },
    { ...transfer, chainId: 42161 as const },
    { ...transfer, transactionId: TransactionHash.make(`0x${"ac".repeat(32)}`) }
  ]
  expect(new Set([transfer, ...others].map(deliveryIdOf)).size).toBe(7)
})

test("differs for each payment that the transfer pays later", () => {
  const payments = ["01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002"].map(
    (id) => PaymentId.make(id)
  )
  const later = payments.map((id) => laterDeliveryIdOf(transfer, id))
  expect(new Set([deliveryIdOf(transfer), ...later]).size).toBe(3)
  expect(later).toEqual(payments.map((id) => laterDeliveryIdOf({ ...transfer }, id)))
})
