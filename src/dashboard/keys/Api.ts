// The contract of the keys' page.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { NotFound, PasswordRequired } from "../../domain/Errors.ts"
import { Permission, Uuid } from "../../domain/Merchant.ts"
import { errorResponse } from "../../http/Envelope.ts"
import { BodyRules } from "../../http/RequestRules.ts"
import { MemberRequired, memberParams, SameOrigin, SessionRequired } from "../Session.ts"

const Kind = Schema.Literals(["secret", "publishable"])

export const KeyView = Schema.Struct({
  id: Uuid,
  kind: Kind,
  permission: Permission,
  prefix: Schema.String,
  lastFour: Schema.String,
  createdAt: Schema.String,
  lastUsedAt: Schema.NullOr(Schema.String),
  revokedAt: Schema.NullOr(Schema.String)
})
export type KeyView = typeof KeyView.Encoded

export const KeysPage = Schema.Struct({ openAlerts: Schema.Int, keys: Schema.Array(KeyView) })
export type KeysPage = typeof KeysPage.Encoded

/** The whole key, shown this once. */
export const IssuedKey = Schema.Struct({ id: Uuid, key: Schema.String })
export type IssuedKey = typeof IssuedKey.Encoded

export class KeyPagesApi extends HttpApiGroup.make("keyPages")
  .add(
    HttpApiEndpoint.get("list", "/keys", { success: KeysPage }),
    HttpApiEndpoint.post("create", "/keys", {
      payload: Schema.Struct({ kind: Kind, permission: Permission }),
      success: IssuedKey.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(PasswordRequired)]
    }),
    HttpApiEndpoint.post("rotate", "/keys/:keyId/rotate", {
      params: { ...memberParams, keyId: Uuid },
      success: IssuedKey.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(PasswordRequired), errorResponse(NotFound)]
    }),
    HttpApiEndpoint.post("revoke", "/keys/:keyId/revoke", {
      params: { ...memberParams, keyId: Uuid },
      success: HttpApiSchema.NoContent,
      error: [errorResponse(NotFound)]
    })
  )
  .prefix("/merchants/:merchantId/:env")
  .middleware(BodyRules)
  .middleware(MemberRequired)
  .middleware(SessionRequired)
  .middleware(SameOrigin) {}
