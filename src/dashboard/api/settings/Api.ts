// The contract of the settings' page: how buyers see the merchant, where money goes, and who the members are.

import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AuditAction } from "../../../domain/AuditAction.ts"
import { Env } from "../../../domain/Chain.ts"
import { Email } from "../../../domain/Email.ts"
import {
  ChainUnavailable,
  ChangedMeanwhile,
  LastOwner,
  NotFound,
  PasswordRequired,
  RateLimited,
  ReceiverTaken
} from "../../../domain/Errors.ts"
import { IfUnchanged } from "../../../domain/IfUnchanged.ts"
import { TokenLifetime, Uuid } from "../../../domain/Merchant.ts"
import { orUnknown } from "../../../domain/orUnknown.ts"
import { Role } from "../../../domain/Role.ts"
import { everyRole, integrationRoles, ownerRoles } from "../../../domain/roleSets.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { Text, TypedAddress } from "../accounts/Api.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

const Profile = Schema.Struct({
  name: Schema.String,
  logoUrl: Schema.NullOr(Schema.String),
  identityAudience: Schema.NullOr(Schema.String),
  boundTokensOnly: Schema.Boolean,
  tokenLifetimeSeconds: Schema.Int
})

const BrandingView = Schema.Struct({
  /** A `data:` URL. */
  logo: Schema.NullOr(Schema.String),
  accentColor: Schema.NullOr(Schema.String),
  support: Schema.NullOr(Schema.String)
})

export const SettingsPage = Schema.Struct({
  profile: Profile,
  branding: BrandingView,
  /** The receiving address of new intents in this environment. */
  receiver: Schema.String,
  /** The change that waits until `dueAt` and can be withdrawn; null if there is none. */
  receiverChange: Schema.NullOr(
    Schema.Struct({
      address: Schema.String,
      requestedBy: Schema.String,
      requestedAt: Schema.String,
      dueAt: Schema.String
    })
  ),
  /** The time zone in which the days of the books begin and end. */
  timeZone: Schema.String,
  network: Schema.Struct({ name: Schema.String, explorerUrl: Schema.NullOr(Schema.String) }),
  members: Schema.Array(
    Schema.Struct({ id: Uuid, email: Schema.String, role: Role, joinedAt: Schema.String })
  ),
  invitations: Schema.Array(
    Schema.Struct({
      id: Uuid,
      email: Schema.String,
      role: Role,
      /** The inviting member's email; null if the operator created the invitation. */
      invitedBy: Schema.NullOr(Schema.String),
      expiresAt: Schema.String
    })
  )
})
export type SettingsPage = typeof SettingsPage.Encoded

const LogoUrl = Text(1, 2048).check(
  Schema.makeFilter((text) => URL.parse(text)?.protocol === "https:" || "an https address of an image")
)

/** The owner's signature of the text in RECEIVER_TAKEN, by the address's key or a contract wallet. */
const OwnerSignature = Schema.String.check(
  Schema.isMaxLength(16_384),
  Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})+$/u, { message: "a signature: 0x and hex digits" })
)

/** With the EIP-55 checksum. */
export const CheckedAddress = Schema.Struct({ receiver: Schema.String })
export type CheckedAddress = typeof CheckedAddress.Encoded

export const ReceiverChangeView = Schema.Struct({
  before: Schema.String,
  after: Schema.String,
  /** The time at which the change takes effect; null if it already has. */
  dueAt: Schema.NullOr(Schema.String)
})
export type ReceiverChangeView = typeof ReceiverChangeView.Encoded

/** Newest first, 20 per page. `before`: the last position of the previous page. */
export const AuditPage = Schema.Struct({
  entries: Schema.Array(
    Schema.Struct({
      position: Schema.Int,
      at: Schema.String,
      env: Schema.NullOr(Env),
      actor: Schema.String,
      action: Schema.toType(orUnknown(AuditAction)),
      summary: Schema.String
    })
  ),
  hasMore: Schema.Boolean
})
export type AuditPage = typeof AuditPage.Encoded

/** A link that works once, to be passed to the person. */
export const Invitation = Schema.Struct({ link: Schema.String })
export type Invitation = typeof Invitation.Encoded

export class SettingsPagesApi extends memberGroup("settingsPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/settings", { success: Schema.toEncoded(SettingsPage) })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("audit", "/audit", {
      query: {
        before: Schema.optionalKey(
          Schema.FiniteFromString.check(
            Schema.isInt(),
            Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
          )
        )
      },
      success: Schema.toEncoded(AuditPage)
    })
  ),
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.patch("update", "/settings", {
      /** Omitted fields stay. */
      payload: Schema.Struct({
        name: Schema.optionalKey(Text(1, 200)),
        logoUrl: Schema.optionalKey(Schema.NullOr(LogoUrl)),
        identityAudience: Schema.optionalKey(Schema.NullOr(Text(1, 500))),
        boundTokensOnly: Schema.optionalKey(Schema.Boolean),
        tokenLifetimeSeconds: Schema.optionalKey(TokenLifetime),
        was: IfUnchanged(Profile.fields)
      }),
      success: Profile,
      error: errorResponse(ChangedMeanwhile)
    })
  ),
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.patch("changeBranding", "/branding", {
      /** Omitted fields stay. */
      payload: Schema.Struct({
        accentColor: Schema.optionalKey(
          Schema.NullOr(
            Schema.String.check(Schema.isPattern(/^#[0-9a-f]{6}$/u, { message: "a colour such as #3730d4" }))
          )
        ),
        support: Schema.optionalKey(Schema.NullOr(Text(1, 200))),
        /** Base64 of a PNG; null removes the logo, an omitted field keeps it. */
        logo: Schema.optionalKey(
          Schema.NullOr(
            Schema.String.check(
              Schema.isMaxLength(60_000),
              Schema.isPattern(/^[A-Za-z0-9+/]+={0,2}$/u, { message: "a PNG in base64" })
            )
          )
        ),
        was: IfUnchanged({
          accentColor: BrandingView.fields.accentColor,
          support: BrandingView.fields.support
        })
      }),
      success: BrandingView,
      error: errorResponse(ChangedMeanwhile)
    })
  ),
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.post("checkReceiver", "/receiver/check", {
      payload: Schema.Struct({ receiver: TypedAddress }),
      success: CheckedAddress
    })
  ),
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.patch("changeReceiver", "/receiver", {
      payload: Schema.Struct({ receiver: TypedAddress, signature: Schema.optionalKey(OwnerSignature) }),
      success: ReceiverChangeView,
      error: [
        errorResponse(PasswordRequired),
        errorResponse(ReceiverTaken),
        errorResponse(RateLimited),
        errorResponse(ChainUnavailable)
      ]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles },
    HttpApiEndpoint.delete("withdrawReceiver", "/receiver/change", {
      success: HttpApiSchema.NoContent,
      error: errorResponse(NotFound)
    })
  ),
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.post("invite", "/members", {
      payload: Schema.Struct({ email: Email, role: Role }),
      success: Invitation.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(PasswordRequired), errorResponse(RateLimited)]
    })
  ),
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.delete("withdraw", "/members/invitations/:invitationId", {
      params: { ...memberParams, invitationId: Uuid },
      success: HttpApiSchema.NoContent,
      error: errorResponse(NotFound)
    })
  ),
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.delete("remove", "/members/:userId", {
      params: { ...memberParams, userId: Uuid },
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PasswordRequired), errorResponse(NotFound), errorResponse(LastOwner)]
    })
  ),
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.put("changeRole", "/members/:userId/role", {
      params: { ...memberParams, userId: Uuid },
      payload: Schema.Struct({ role: Role }),
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PasswordRequired), errorResponse(NotFound), errorResponse(LastOwner)]
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.post("leave", "/members/leave", {
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PasswordRequired), errorResponse(LastOwner)]
    })
  )
) {}
