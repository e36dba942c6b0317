// The type of an alert.
import type { Option } from "effect"
import type { AlertKind } from "../../domain/AlertKind.ts"
import type { Env } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"

export interface Alert {
  readonly kind: AlertKind
  /** The alert's owner; none for the operator's alerts. */
  readonly tenant: Option.Option<Tenant>
  /** The network of an operator's alert; by default all networks. A tenant's alert is about its own network. */
  readonly env?: Env
  /** The member to notify; by default every member. */
  readonly userId?: string
  /** The alert's subject, such as a payment's id or a node's host. Each kind and subject has one open alert. */
  readonly subject: string
  /** Raised only once per subject since this time, even after it was acknowledged. */
  readonly since?: Date
  /**
   * Reopens, without a new notification, an alert that was closed automatically since this time: another instance,
   * which does not see the cause, closed it.
   */
  readonly resumesSince?: Date
  /** A description of the problem and its remedy. */
  readonly message: string
}
