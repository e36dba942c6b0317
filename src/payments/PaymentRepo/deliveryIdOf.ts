// The id of a `payment.settled` delivery. It is derived from the settling transfer, so a settlement repeated after a
// restore or a failover carries the id that the merchant has already handled.
import { createHash } from "node:crypto"
import type { Verification } from "../../chain/Verification.ts"
import type { PaymentId } from "../../domain/Payment.ts"

type SettledBy = Pick<
  Extract<Verification, { _tag: "Verified" }>,
  "chainId" | "transactionId" | "payer" | "receiver" | "value" | "ordinal"
>

/** A UUID of version 8 (RFC 9562, 5.8). */
const uuidOf = (name: string): string => {
  const digest = createHash("sha256").update(name).digest().subarray(0, 16)
  digest[6] = (digest.readUInt8(6) & 0x0f) | 0x80
  digest[8] = (digest.readUInt8(8) & 0x3f) | 0x80
  return digest.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

/** Identifies the chain, the transaction, the transfer, and its ordinal among equal transfers. */
const nameOf = (transfer: SettledBy): string => {
  const { chainId, transactionId, payer, receiver, value, ordinal } = transfer
  return `payment.settled ${chainId} ${transactionId} ${payer} ${receiver} ${value} ${ordinal}`
}

export const deliveryIdOf = (transfer: SettledBy): string => uuidOf(nameOf(transfer))

/**
 * The delivery id for a transfer that paid another payment before, because the merchant has already handled the first
 * id.
 */
export const laterDeliveryIdOf = (transfer: SettledBy, paymentId: PaymentId): string =>
  uuidOf(`${nameOf(transfer)} ${paymentId}`)
