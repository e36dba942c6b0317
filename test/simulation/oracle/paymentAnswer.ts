// What is wrong with a payment that somebody was shown, by what is stored.
import { networks } from "../../../src/domain/Chain.ts"
import { formatUsd } from "../../../src/domain/Money.ts"
import type { Body } from "../Door.ts"
import type { PaymentOf } from "./Look.ts"

type Shown = NonNullable<Body["payment"]>

const { chainId, usdc } = networks.test
const ages: ReadonlyArray<Shown["status"]> = ["pending", "failed", "settled"]

/** What never changes. */
const fixed = ({ amount, createdAt, id, intentUrl, refCode }: PaymentOf): Partial<Shown> => ({
  id,
  amount: formatUsd(amount),
  currency: "USD",
  env: "test",
  livemode: false,
  refCode,
  intentUrl,
  createdAt: createdAt.toISOString(),
  token: { address: usdc.address, chainId }
})

/** What its state brings along. */
const ofState = ({ failureReason, payerType, reported, settledAt, status }: PaymentOf): Partial<Shown> => ({
  ...(status === "pending" ? {} : { failureReason }),
  ...(status === "settled" && reported !== null && settledAt !== null
    ? {
        payerType,
        payerAddress: reported.evidence.payer,
        reportedAt: reported.at.toISOString(),
        reportedTransactionId: reported.evidence.transactionId,
        settledAt: settledAt.toISOString()
      }
    : {})
})

const stateKeys = [
  "failureReason",
  "payerAddress",
  "reportedTransactionId",
  "reportedAt",
  "settledAt"
] as const
const keysOf: Readonly<Record<Shown["status"], number>> = { pending: 0, failed: 1, settled: 5 }

/** Undefined where nothing is. The payment may have gone on since it was shown. */
export const wrongInPayment = (shown: Shown, now: PaymentOf): string | undefined => {
  const told = (what: string) => `${shown.status} payment ${shown.id} was shown with ${what}`
  if (ages.indexOf(shown.status) > ages.indexOf(now.status)) return told(`that state, and is ${now.status}`)
  const keys = stateKeys.filter((key) => key in shown)
  if (keys.length !== keysOf[shown.status]) return told(keys.join(", "))
  const wanted: Partial<Shown> = { ...fixed(now), ...(shown.status === now.status ? ofState(now) : {}) }
  const wrong = Object.entries(wanted).find(
    ([key, value]) =>
      JSON.stringify(Object.entries(shown).find(([one]) => one === key)?.[1]) !== JSON.stringify(value)
  )
  return wrong === undefined ? undefined : told(`another ${wrong[0]} than ${JSON.stringify(wrong[1])}`)
}
