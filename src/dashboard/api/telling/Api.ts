// The contract of what a member is told, and of where alerts are posted to.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AlertHookLimit, InvalidWebhookUrl, NotFound, PasswordRequired } from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { developers, everyRole } from "../../../domain/roleSets.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

const Shape = Schema.Literals(["slack", "plain"])

/** One member's own choice in one merchant. */
const Choice = Schema.Struct({ alerts: Schema.Literals(["all", "live", "none"]), weekly: Schema.Boolean })

export const TellingPage = Schema.Struct({
  /** False where the service sends no mail. */
  hasMail: Schema.Boolean,
  choice: Choice,
  hooks: Schema.Array(
    Schema.Struct({
      id: Uuid,
      shape: Shape,
      /** Of its address, which is a secret. */
      host: Schema.String,
      createdAt: Schema.String,
      lastSentAt: Schema.NullOr(Schema.String),
      /** Why the last post failed. */
      error: Schema.NullOr(Schema.String)
    })
  )
})
export type TellingPage = typeof TellingPage.Encoded

/** What plain posts are signed with, shown this once. */
export const NewAlertHook = Schema.Struct({ id: Uuid, secret: Schema.NullOr(Schema.String) })
export type NewAlertHook = typeof NewAlertHook.Encoded

export class TellingPagesApi extends memberGroup("tellingPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/telling", { success: Schema.toEncoded(TellingPage) })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.put("choose", "/telling", { payload: Choice, success: HttpApiSchema.NoContent })
  ),
  allow(
    { by: "member", roles: developers },
    HttpApiEndpoint.post("addHook", "/telling/hooks", {
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
    { by: "member", roles: developers },
    HttpApiEndpoint.delete("removeHook", "/telling/hooks/:hookId", {
      params: { ...memberParams, hookId: Uuid },
      success: HttpApiSchema.NoContent,
      error: errorResponse(NotFound)
    })
  )
) {}
