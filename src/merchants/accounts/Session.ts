// The signed-in user.

import type { Locale } from "../../domain/Locale.ts"
import type { Merchant } from "../../domain/Merchant.ts"
import type { Role } from "../../domain/Role.ts"

/** A session ends this long after sign-in, even if it is in use. */
export const sessionMillis = 30 * 24 * 3_600_000

export interface User {
  readonly id: string
  readonly email: string
  /** True if the user sees and acknowledges service-wide alerts. */
  readonly operator: boolean
  readonly locale: Locale
  readonly hasPasskeys: boolean
  /** True if an authenticator app is active. */
  readonly hasAuthenticator: boolean
}

/** A merchant, with the user's role there. */
export interface Membership extends Merchant {
  readonly role: Role
}

/** The origin of a request, shown with its session. */
export interface SeenFrom {
  readonly userAgent: string | null
  readonly address: string | null
}

export interface Session {
  /** SHA-256 of the cookie's token. */
  readonly hash: Uint8Array
  readonly user: User
  readonly id: string
  /** The time at which the user last confirmed their password or passkey. */
  readonly confirmedAt: Date
  /** The user's merchants, in the order in which the user joined. */
  readonly merchants: ReadonlyArray<Membership>
}

export interface Started {
  readonly session: Session
  /** The token for the cookie. */
  readonly token: string
}
