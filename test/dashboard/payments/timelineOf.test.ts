// A payment's history: each event once, in order, in units for people.

import { describe, expect, test } from "bun:test"
import type { PaymentHistory } from "../../../src/dashboard/api/payments/PaymentPagesRepo.ts"
import { timelineOf } from "../../../src/dashboard/api/payments/timelineOf.ts"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { networks } from "../../../src/domain/networks.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import type { VerdictReason } from "../../../src/domain/VerdictReason.ts"
import { hash, payer, receiver } from "../../support/rawReceipts.ts"

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))
const transactionId = TransactionHash.make(hash("01"))
const usdc = networks.test.usdc.address

const history = (
  changes: Partial<PaymentHistory> = {},
  payment: Partial<PaymentHistory["payment"]> = {}
): PaymentHistory => ({
  payment: {
    id: PaymentId.make("00000000-0000-4000-8000-000000000001"),
    merchantId: MerchantId.make("00000000-0000-4000-8000-000000000002"),
    env: "test",
    status: "pending",
    amount: AtomicUsdc.make(5_000_000n),
    refCode: "PAY-AAAAAAAA",
    intentUrl: "https://shop.example.com/o/1",
    receiver: Address.make(receiver),
    payerType: "human",
    createdAt: at(0),
    settledAt: null,
    failureReason: null,
    openedBlock: null,
    reported: null,
    ...payment
  },
  state: "pending",
  attempts: [],
  reports: [],
  verdicts: [],
  deliveries: [],
  block_number: null,
  log_position: null,
  dropped_at: null,
  failed_at: null,
  failed_earlier_at: null,
  ...changes
})
const kinds = (one: PaymentHistory) => timelineOf(one).map(({ kind }) => kind)
const evidence = {
  transactionId,
  payer: Address.make(payer),
  tokenChanges: [
    { amountAtomic: "5000000", chainId: 84532, receiver: Address.make(receiver), tokenAddress: usdc }
  ]
} as const

describe("a timeline", () => {
  test("of a new payment is only its opening", () => expect(kinds(history())).toEqual(["opened"]))

  test("is ordered by time, whatever the kind", () =>
    expect(
      kinds(
        history({
          attempts: [{ at: at(1), payer, method: "transfer" }],
          reports: [{ at: at(3), transactionId, payer, payerType: "human" }],
          verdicts: [
            {
              at: at(4),
              reportedAt: at(3),
              transactionId,
              payer,
              verdict: "not_found",
              expected: null,
              actual: null
            }
          ],
          failed_at: at(9)
        })
      )
    ).toEqual(["opened", "announced", "reported", "verdict", "failed"]))

  test("has one report for each evidence, at its earliest time", () => {
    const events = timelineOf(
      history(
        {
          reports: [{ at: at(5), transactionId, payer: payer.toLowerCase(), payerType: "human" }],
          verdicts: [
            {
              at: at(4),
              reportedAt: at(2),
              transactionId,
              payer,
              verdict: "spreading",
              expected: null,
              actual: null
            }
          ]
        },
        { reported: { at: at(6), evidence }, settledAt: at(7), status: "settled" }
      )
    )
    const reports = events.filter(({ kind }) => kind === "reported")
    expect(reports.map((one) => one.at)).toEqual([at(2).toISOString()])
  })

  test("shows with the settlement what was required and what the chain showed, in USD", () => {
    const settled = timelineOf(
      history({}, { reported: { at: at(1), evidence }, settledAt: at(2), status: "settled" })
    ).find((one) => one.kind === "settled")
    expect(settled?.kind === "settled" ? settled.checks[0] : undefined).toEqual({
      field: "amount",
      expected: "5.00",
      actual: "5.00"
    })
  })

  test("converts the amounts of a mismatch to USD, and no other value", () => {
    const verdict = (name: VerdictReason) =>
      timelineOf(
        history({
          verdicts: [
            {
              at: at(2),
              reportedAt: at(1),
              transactionId,
              payer,
              verdict: name,
              expected: "5000000",
              actual: "1"
            }
          ]
        })
      ).find((one) => one.kind === "verdict")
    expect(verdict("amount")).toMatchObject({ expected: "5.00", actual: "0.000001" })
    expect(verdict("receiver")).toMatchObject({ expected: "5000000", actual: "1" })
  })
})
