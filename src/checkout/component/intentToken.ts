// What the checkout reads of the intent token: the payment's id and where the money
// goes. Nothing is trusted before the service has opened a payment from this very
// token, which it does only where the signature holds.
import { isRecord } from "../../platform/pages/browser/isRecord.ts"

export interface UnverifiedIntent {
  /** The payment's id. */
  readonly id: string
  readonly receiver: string
  readonly token: { readonly address: string; readonly chainId: number }
}

/** Undefined where it is not an intent token. */
export const readIntentToken = (intentToken: string): UnverifiedIntent | undefined => {
  try {
    const payload = intentToken.split(".")[1] ?? ""
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")))
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
