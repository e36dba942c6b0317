// Which audiences a merchant's buyers make their tokens for.
import type { Merchant } from "../../domain/Merchant.ts"

/**
 * The merchant's own audience alone where it has one, so that a token made at another
 * merchant's checkout proves nothing here; otherwise the service's origin.
 */
export const audiencesOf = (
  { identityAudience }: Pick<Merchant, "identityAudience">,
  baseUrl: string
): ReadonlyArray<string> => [identityAudience ?? baseUrl]
