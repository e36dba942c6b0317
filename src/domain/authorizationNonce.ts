// The EIP-3009 nonce of an authorization that pays a payment of this service. It is derived from the payment
// only, so the USDC contract itself refuses a second authorization of the same wallet.
import { sha256, stringToBytes } from "viem/utils"

/**
 * SHA-256 of `quittance:payment:<id>`, the id in lower case. `cancelled` counts this wallet's authorizations
 * for the payment that were cancelled on the chain: each spent its nonce.
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

/** An upper bound: no wallet cancels this many authorizations for one payment. */
const maxCancelled = 32

/** True if an authorization with this nonce can pay only this payment, no matter who submits it. */
export const isAuthorizationNonceOf = (nonce: string, paymentId: string): boolean => {
  for (let cancelled = 0; cancelled <= maxCancelled; cancelled++)
    if (authorizationNonceOf(paymentId, cancelled) === nonce.toLowerCase()) return true
  return false
}
