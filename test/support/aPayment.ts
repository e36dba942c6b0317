import { Address } from "../../src/domain/Chain.ts"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { type Payment, PaymentId } from "../../src/domain/Payment.ts"
import { receiver } from "./rawReceipts.ts"

/** A pending test payment of 1.50 USD, with `changes`. */
export const aPayment = (changes: Partial<Payment> = {}): Payment => ({
  id: PaymentId.make("00000000-0000-4000-8000-000000000001"),
  merchantId: MerchantId.make("00000000-0000-4000-8000-000000000002"),
  env: "test",
  status: "pending",
  amount: AtomicUsdc.make(1_500_000n),
  refCode: "PAY-AAAAAAAA",
  intentUrl: "https://shop.example.com/o/1",
  receiver: Address.make(receiver),
  payerType: "human",
  createdAt: new Date(0),
  settledAt: null,
  failureReason: null,
  openedBlock: null,
  reported: null,
  ...changes
})
