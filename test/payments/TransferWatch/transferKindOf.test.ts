// The kind of an incoming transfer without a payment.
import { describe, expect, test } from "bun:test"
import { Address } from "../../../src/domain/Chain.ts"
import type { LikelyReason, TransferKind } from "../../../src/domain/IncomingTransfer.ts"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { type Payment, PaymentId } from "../../../src/domain/Payment.ts"
import type { LikelyPayment } from "../../../src/payments/TransferRepo/TransferStore.ts"
import { transferKindOf } from "../../../src/payments/TransferWatch/transferKindOf.ts"

const at = new Date("2026-01-02T00:00:00Z")
const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")

const likely = (
  status: Payment["status"],
  price: bigint,
  reasons: ReadonlyArray<LikelyReason>,
  settledHoursBefore = 1,
  dropped = false
): LikelyPayment => ({
  reasons,
  dropped,
  payment: {
    id: PaymentId.make("00000000-0000-4000-8000-000000000001"),
    merchantId: MerchantId.make("00000000-0000-4000-8000-000000000002"),
    env: "test",
    status,
    amount: AtomicUsdc.make(price),
    refCode: "PAY-AAAAAAAA",
    intentUrl: "https://shop.example.com/1",
    receiver,
    payerType: "human",
    createdAt: new Date("2026-01-01T00:00:00Z"),
    openedBlock: null,
    reported: null,
    settledAt: status === "settled" ? new Date(at.getTime() - settledHoursBefore * 3_600_000) : null,
    failureReason: status === "failed" ? "expired" : null
  }
})

const table: ReadonlyArray<readonly [string, TransferKind, ReadonlyArray<LikelyPayment>]> = [
  ["nothing connects it", "unknown", []],
  [
    "its payer's payment has lost the transfer that settled it",
    "unknown",
    [likely("settled", 5n, ["paid_before"], 1, true)]
  ],
  ["only a pending payment's amount is the same", "unknown", [likely("pending", 5n, ["amount"])]],
  ["only failed payments' amounts are the same", "late", [likely("failed", 5n, ["amount"])]],
  ["a failed payment that the payer announced", "late", [likely("failed", 5n, ["announced", "amount"])]],
  ["less than the payer announced", "short", [likely("pending", 6n, ["announced"])]],
  ["more than the payer reported", "over", [likely("failed", 4n, ["reported"])]],
  ["the payer has just paid that payment", "second", [likely("settled", 5n, ["announced", "paid_before"])]],
  [
    "also if a stranger's payment of the amount is pending",
    "second",
    [likely("settled", 5n, ["paid_before"]), likely("pending", 5n, ["amount"])]
  ],
  ["the payer paid that amount a week ago", "unknown", [likely("settled", 5n, ["paid_before"], 168)]],
  ["another amount than the payer has paid", "unknown", [likely("settled", 7n, ["paid_before"])]]
]

describe("kind", () => {
  for (const [what, kind, all] of table) {
    test(`${what}: ${kind}`, () => expect(transferKindOf({ amount: 5n, blockTime: at }, all)).toBe(kind))
  }
})
