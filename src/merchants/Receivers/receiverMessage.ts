// The text that the owner of a receiving address signs to move it to another merchant.
import { createHash } from "node:crypto"
import type { ReceiverHolder, ReceiverPlace } from "../ReceiverRepo.ts"

/**
 * The text for `personal_sign`. Its code identifies the address's current holder, so that a signature moves
 * the address once and is void once another merchant holds it.
 */
export const receiverMessage = (
  { merchantId, env, address }: ReceiverPlace,
  holder: ReceiverHolder
): string => {
  const code = createHash("sha256")
    .update(`${env} ${address} ${holder.merchantId} ${holder.since.toISOString()}`)
    .digest("hex")
    .slice(0, 32)
  return [
    "This address is mine. Payments to it belong to this merchant:",
    "",
    `Merchant: ${merchantId}`,
    `Environment: ${env}`,
    `Address: ${address}`,
    `Code: ${code}`
  ].join("\n")
}
