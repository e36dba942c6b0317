// The audiences for which a merchant's buyers sign their tokens.
import type { Merchant } from "../../domain/Merchant.ts"

/**
 * Only the merchant's own audience if it has one, so that a token made at another merchant's checkout proves nothing
 * here; otherwise the service's origin.
 */
export const audiencesOf = (
  { identityAudience }: Pick<Merchant, "identityAudience">,
  baseUrl: string
): ReadonlyArray<string> => [identityAudience ?? baseUrl]
