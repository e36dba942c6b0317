// Reads the payment's id and the receiver from the intent token. The checkout trusts neither until the service has
// opened a payment with this token, which requires a valid signature.
import { isRecord } from "../../platform/pages/browser/isRecord.ts"
import { fromJson } from "../../platform/pages/browser/json.ts"

export interface UnverifiedIntent {
  /** The payment's id. */
  readonly id: string
  readonly receiver: string
  readonly token: { readonly address: string; readonly chainId: number }
}

/** Undefined if it is not an intent token. */
export const readIntentToken = (intentToken: string): UnverifiedIntent | undefined => {
  try {
    const payload = intentToken.split(".")[1] ?? ""
    const claims = fromJson(atob(payload.replaceAll("-", "+").replaceAll("_", "/")))
    if (!isRecord(claims) || !isRecord(claims["token"])) return undefined
    const { jti, receiver, token } = claims
    const { address, chainId } = claims["token"]
    return typeof jti === "string" &&
      typeof receiver === "string" &&
      typeof token === "object" &&
      typeof address === "string" &&
      typeof chainId === "number"
      ? { id: jti, receiver, token: { address, chainId } }
      : undefined
  } catch {
    return undefined
  }
}
