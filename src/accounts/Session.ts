// Who is signed in.
import type { Merchant } from "../domain/Merchant.ts"
import type { Role } from "../domain/Role.ts"

export interface User {
  readonly id: string
  readonly email: string
  /** Sees and acknowledges what concerns the whole service. */
  readonly operator: boolean
}

/** A merchant, and what the user may do there. */
export interface Membership extends Merchant {
  readonly role: Role
}

export interface Session {
  /** SHA-256 of the cookie's token. */
  readonly hash: Uint8Array
  readonly user: User
  /** When the person last gave the password. */
  readonly confirmedAt: Date
  /** Whose members the user is, the first joined first. */
  readonly merchants: ReadonlyArray<Membership>
}
