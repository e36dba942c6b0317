// The contract of a member's email notifications, and of the merchant's alert webhooks.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AlertHookLimit, InvalidWebhookUrl, NotFound, PasswordRequired } from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { everyRole, integrationRoles } from "../../../domain/roleSets.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

const Shape = Schema.Literals(["slack", "plain"])

/** A member's choice of notifications in one merchant. */
const Choice = Schema.Struct({ alerts: Schema.Literals(["all", "live", "none"]), weekly: Schema.Boolean })

export const NotificationPreferences = Schema.Struct({
  /** False if the service sends no email. */
  hasMail: Schema.Boolean,
  choice: Choice,
  hooks: Schema.Array(
    Schema.Struct({
      id: Uuid,
      shape: Shape,
      /** The host of the URL, which is itself a secret. */
      host: Schema.String,
      createdAt: Schema.String,
      lastSentAt: Schema.NullOr(Schema.String),
      /** The reason why the last post failed. */
      error: Schema.NullOr(Schema.String)
    })
  )
})
export type NotificationPreferences = typeof NotificationPreferences.Encoded

/** The secret that signs plain alert webhooks, shown only once. */
export const NewAlertHook = Schema.Struct({ id: Uuid, secret: Schema.NullOr(Schema.String) })
export type NewAlertHook = typeof NewAlertHook.Encoded

export class NotificationPreferencesApi extends memberGroup("notificationPreferences")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/notification-preferences", {
      success: Schema.toEncoded(NotificationPreferences)
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.put("choose", "/notification-preferences", {
      payload: Choice,
      success: HttpApiSchema.NoContent
    })
  ),
  allow(
    { by: "member", roles: integrationRoles },
    HttpApiEndpoint.post("addHook", "/notification-preferences/hooks", {
      payload: Schema.Struct({
        shape: Shape,
        url: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(2048))
      }),
      success: NewAlertHook.pipe(HttpApiSchema.status(201)),
      error: [
        errorResponse(InvalidWebhookUrl),
        errorResponse(AlertHookLimit),
        errorResponse(PasswordRequired)
      ]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles },
    HttpApiEndpoint.delete("removeHook", "/notification-preferences/hooks/:hookId", {
      params: { ...memberParams, hookId: Uuid },
      success: HttpApiSchema.NoContent,
      error: errorResponse(NotFound)
    })
  )
) {}
