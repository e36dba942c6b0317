// The contract of the alerts' page.

import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { AlertKind } from "../../../domain/AlertKind.ts"
import { NotFound, OperatorOnly, RoleRequired } from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { orUnknown } from "../../../domain/orUnknown.ts"
import { everyRole } from "../../../domain/roleSets.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

export const AlertView = Schema.Struct({
  id: Uuid,
  kind: Schema.toType(orUnknown(AlertKind)),
  /** `service`: concerns every merchant; an operator acknowledges it. */
  scope: Schema.Literals(["merchant", "service"]),
  /** A delivery's or a payment's id, by `kind`; null if only the operator may read it. */
  subject: Schema.NullOr(Schema.String),
  message: Schema.String,
  createdAt: Schema.String,
  acknowledgedAt: Schema.NullOr(Schema.String),
  /** Email of the person; null if the alert resolved itself. */
  acknowledgedBy: Schema.NullOr(Schema.String),
  /** The person's note. */
  note: Schema.NullOr(Schema.String)
})
export type AlertView = typeof AlertView.Encoded

/** Open alerts first, then resolved ones: of each the newest 100, newest first. */
export const AlertsPage = Schema.Struct({
  alerts: Schema.Array(AlertView),
  moreOpen: Schema.Boolean,
  moreDecided: Schema.Boolean
})
export type AlertsPage = typeof AlertsPage.Encoded

/** More alerts, open or resolved. */
export const MoreAlerts = Schema.Struct({ alerts: Schema.Array(AlertView), hasMore: Schema.Boolean })
export type MoreAlerts = typeof MoreAlerts.Encoded

export class AlertPagesApi extends memberGroup("alertPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("list", "/alerts", { success: Schema.toEncoded(AlertsPage) })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("more", "/alerts/more", {
      query: { status: Schema.Literals(["open", "decided"]), startingAfter: Uuid },
      success: Schema.toEncoded(MoreAlerts)
    })
  ),
  allow(
    // An alert to one member can be acknowledged by that member in any role. Read-only members cannot acknowledge
    // others.
    { by: "member", roles: everyRole },
    HttpApiEndpoint.post("acknowledge", "/alerts/:alertId/acknowledge", {
      params: { ...memberParams, alertId: Uuid },
      payload: Schema.Struct({
        note: Schema.optionalKey(Schema.Trim.check(Schema.isMaxLength(500)))
      }),
      /** The person who acknowledged the alert, and their note. Somebody else, if they did so earlier. */
      success: Schema.Struct({
        acknowledgedBy: Schema.NullOr(Schema.String),
        note: Schema.NullOr(Schema.String)
      }),
      error: [errorResponse(NotFound), errorResponse(OperatorOnly), errorResponse(RoleRequired)]
    })
  )
) {}
