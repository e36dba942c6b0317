// The x402 extension `offer-receipt`, version 1: the signed content of an offer and of a receipt.
import type { Payment } from "../domain/Payment.ts"
import { requirementsV2 } from "./paymentRequirements.ts"

export const offerReceipt = "offer-receipt"

const version = 1
/** Validity of a signed offer, in seconds. */
const offerSeconds = 300

/** `now` is in Unix seconds. */
export const offerOf = (payment: Payment, resourceUrl: string, now: number) => {
  const { amount, asset, network, payTo, scheme } = requirementsV2(payment)
  return { version, resourceUrl, scheme, network, asset, payTo, amount, validUntil: now + offerSeconds }
}

/** Undefined until the payment settles. Always the same, because it is dated by the settlement. */
export const receiptOf = ({ reported, settledAt, ...payment }: Payment, resourceUrl: string) =>
  reported === null || settledAt === null
    ? undefined
    : {
        version,
        network: requirementsV2({ ...payment, reported, settledAt }).network,
        resourceUrl,
        payer: reported.evidence.payer,
        issuedAt: Math.floor(settledAt.getTime() / 1000),
        transaction: reported.evidence.transactionId
      }

/** The extension's entry in a 402 header. */
export const offersEntry = (signature: string) => ({
  [offerReceipt]: { info: { offers: [{ format: "jws", acceptIndex: 0, signature }] } }
})

/** The extension's entry in a settlement header. */
export const receiptEntry = (signature: string) => ({
  [offerReceipt]: { info: { receipt: { format: "jws", signature } } }
})
