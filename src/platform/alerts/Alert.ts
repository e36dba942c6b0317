// What is told to a person.
import type { Option } from "effect"
import type { AlertKind } from "../../domain/AlertKind.ts"
import type { Tenant } from "../../domain/Merchant.ts"

export interface Alert {
  readonly kind: AlertKind
  /** Whose alert; none for the operator's. */
  readonly tenant: Option.Option<Tenant>
  /** The member to notify; every member when absent. */
  readonly userId?: string
  /** What it is about, such as a payment's id or a node's host. One open alert for each kind and subject. */
  readonly subject: string
  /** Raised once per subject from then on, even after it was acknowledged. */
  readonly since?: Date
  /**
   * The same one goes on, and nobody is told again, where it was closed since then by nobody: another instance, which
   * sees nothing of the cause, has closed it.
   */
  readonly resumesSince?: Date
  /** What happened and what to do. */
  readonly message: string
}
