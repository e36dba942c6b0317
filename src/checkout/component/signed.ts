// Stores the buyer's signature until the service has decided, so that a reload can submit it again.
// Without storage, it is submitted once, from the current page.

import { fromJson, toJson } from "../../platform/pages/browser/json.ts"
import { orUndefined } from "../../platform/pages/browser/orUndefined.ts"

/**
 * The signature in the service's format. Its nonce is the payment's, so two signatures of a wallet move its money only
 * once.
 */
export interface SignedTerms {
  readonly payer: string
  /** Unix seconds. */
  readonly validAfter: string
  readonly validBefore: string
  readonly signature: string
}

const prefix = "quittance-signed:"

const isSigned = (value: unknown): value is SignedTerms => {
  if (typeof value !== "object" || value === null) return false
  const terms: Partial<Record<keyof SignedTerms, unknown>> = value
  return [terms.payer, terms.validAfter, terms.validBefore, terms.signature].every(
    (text) => typeof text === "string"
  )
}

const parse = (text: string | null): SignedTerms | undefined => {
  try {
    const value = fromJson(text ?? "null")
    return isSigned(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const readSigned = (paymentId: string): SignedTerms | undefined =>
  orUndefined(() => parse(localStorage.getItem(prefix + paymentId)))

export const writeSigned = (paymentId: string, signed: SignedTerms): void => {
  orUndefined(() => localStorage.setItem(prefix + paymentId, toJson(signed)))
}

export const forgetSigned = (paymentId: string): void => {
  orUndefined(() => localStorage.removeItem(prefix + paymentId))
}

/** Deletes expired signatures. `now` is in Unix seconds. */
export const sweepSigned = (now: number): void => {
  orUndefined(() => {
    for (const key of Object.keys(localStorage)) {
      if (!key.startsWith(prefix)) continue
      if (Number(parse(localStorage.getItem(key))?.validBefore ?? 0) < now - 86_400)
        localStorage.removeItem(key)
    }
  })
}
