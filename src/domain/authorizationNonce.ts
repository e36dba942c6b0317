// The EIP-3009 nonce of an authorization that pays a payment of this service. It follows from
// the payment alone, so that the token itself refuses a second one of the same wallet.
import { sha256, stringToBytes } from "viem/utils"

/**
 * SHA-256 of `quittance:payment:<id>`, the id in lower case. `cancelled` counts this wallet's
 * earlier authorizations for the payment that were cancelled on the chain: each has spent its nonce.
 *
 * @example
 * authorizationNonceOf("01a1fc34-7205-710e-9410-874fee9a4996") // 0x…, 32 bytes
 */
export const authorizationNonceOf = (paymentId: string, cancelled = 0): `0x${string}` =>
  sha256(
    stringToBytes(
      `quittance:payment:${paymentId.toLowerCase()}${cancelled === 0 ? "" : `:${cancelled.toString()}`}`
    )
  )

/** More authorizations for one payment than any wallet has cancelled. */
const mostCancelled = 32

/** True if an authorization with this nonce can pay only this payment, whoever submits it. */
export const isAuthorizationNonceOf = (nonce: string, paymentId: string): boolean => {
  for (let cancelled = 0; cancelled <= mostCancelled; cancelled++)
    if (authorizationNonceOf(paymentId, cancelled) === nonce.toLowerCase()) return true
  return false
}
