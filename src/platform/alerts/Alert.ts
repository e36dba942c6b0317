// The type of an alert.
import type { Option } from "effect"
import type { AlertKind } from "../../domain/AlertKind.ts"
import type { Env } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"

export interface Alert {
  readonly kind: AlertKind
  /** The alert's owner; none for the operator's alerts. */
  readonly tenant: Option.Option<Tenant>
  /** The network that an operator's alert is about; all networks when absent. A tenant's alert is of its own. */
  readonly env?: Env
  /** The member to notify; every member when absent. */
  readonly userId?: string
  /**
   * The alert's subject, such as a payment's id or a node's host. There is one open alert for each kind and subject.
   */
  readonly subject: string
  /** Raised once per subject from then on, even after it was acknowledged. */
  readonly since?: Date
  /**
   * The same one goes on, and nobody is told again, where it was closed since then by nobody: another instance, which
   * sees nothing of the cause, has closed it.
   */
  readonly resumesSince?: Date
  /** A description of the problem and its remedy. */
  readonly message: string
}
