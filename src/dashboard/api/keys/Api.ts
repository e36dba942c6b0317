// The contract of the keys' page.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { NotFound, PasswordRequired } from "../../../domain/Errors.ts"
import { Permission, Uuid } from "../../../domain/Merchant.ts"
import { everyRole, integrationRoles, ownerRoles } from "../../../domain/roleSets.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { Text } from "../accounts/Api.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

const Name = Text(1, 100)
const Kind = Schema.Literals(["secret", "publishable"])

export const KeyView = Schema.Struct({
  id: Uuid,
  kind: Kind,
  permission: Permission,
  prefix: Schema.String,
  lastFour: Schema.String,
  name: Schema.NullOr(Schema.String),
  /** A publishable key in full; null if it was created before these were stored. */
  publicKey: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  lastUsedAt: Schema.NullOr(Schema.String),
  revokedAt: Schema.NullOr(Schema.String)
})
export type KeyView = typeof KeyView.Encoded

export const KeysPage = Schema.Struct({ keys: Schema.Array(KeyView) })
export type KeysPage = typeof KeysPage.Encoded

/** The whole key, shown only once. */
export const IssuedKeyView = Schema.Struct({ id: Uuid, key: Schema.String })
export type IssuedKeyView = typeof IssuedKeyView.Encoded

export class KeyPagesApi extends memberGroup("keyPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("list", "/keys", { success: Schema.toEncoded(KeysPage) })
  ),
  allow(
    { by: "member", roles: integrationRoles, live: ownerRoles },
    HttpApiEndpoint.post("create", "/keys", {
      payload: Schema.Struct({ kind: Kind, permission: Permission, name: Schema.optionalKey(Name) }),
      success: IssuedKeyView.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(PasswordRequired)]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles, live: ownerRoles },
    HttpApiEndpoint.put("rename", "/keys/:keyId/name", {
      params: { ...memberParams, keyId: Uuid },
      payload: Schema.Struct({ name: Schema.NullOr(Name) }),
      success: HttpApiSchema.NoContent,
      error: errorResponse(NotFound)
    })
  ),
  allow(
    { by: "member", roles: integrationRoles, live: ownerRoles },
    HttpApiEndpoint.post("rotate", "/keys/:keyId/rotate", {
      params: { ...memberParams, keyId: Uuid },
      success: IssuedKeyView.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(PasswordRequired), errorResponse(NotFound)]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles, live: ownerRoles },
    HttpApiEndpoint.post("revoke", "/keys/:keyId/revoke", {
      params: { ...memberParams, keyId: Uuid },
      success: HttpApiSchema.NoContent,
      error: [errorResponse(NotFound)]
    })
  )
) {}
