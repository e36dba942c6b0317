// The contract of signing up, in and out.
import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import {
  EmailTaken,
  OneTimeLinkInvalid,
  RateLimited,
  ReceiverTaken,
  SignInFailed,
  SignUpClosed
} from "../../domain/Errors.ts"
import { MerchantId, Uuid } from "../../domain/Merchant.ts"
import { Role } from "../../domain/Role.ts"
import { allow, endpointGroup } from "../../http/Access.ts"
import { errorResponse } from "../../http/Envelope.ts"
import { BodyRules } from "../../http/RequestRules.ts"
import { SameOrigin, SessionRequired } from "../Session.ts"

/** Text that Postgres can hold: no NUL, no lone surrogates. */
export const Text = (minimum: number, maximum: number) =>
  Schema.String.check(
    Schema.isMinLength(minimum),
    Schema.isMaxLength(maximum),
    Schema.makeFilter(
      (text) => (text.isWellFormed() && !/\p{Cc}/u.test(text)) || "text without control characters"
    )
  )

/** An e-mail address in lower case, at most 254 characters. */
export const Email = Schema.String.check(
  Schema.isMaxLength(254),
  Schema.isPattern(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, { message: "an e-mail address" }),
  Schema.makeFilter((text) => text.isWellFormed() || "an e-mail address")
).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((text) => text.toLowerCase()),
    encode: SchemaGetter.transform((text) => text)
  })
)

/** A password to set; the length is what makes it strong. */
export const NewPassword = Schema.String.check(
  Schema.isMinLength(12, { message: "at least 12 characters" }),
  Schema.isMaxLength(256, { message: "at most 256 characters" })
)

const Password = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(256))

/** As typed; the checksum of mixed case is judged where it is used. */
export const TypedAddress = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u, { message: "an address: 0x and 40 hex digits" })
)

export const MerchantSummary = Schema.Struct({
  id: MerchantId,
  name: Schema.String,
  role: Role,
  logoUrl: Schema.NullOr(Schema.String)
})

export const SessionView = Schema.Struct({
  user: Schema.Struct({ id: Uuid, email: Schema.String, operator: Schema.Boolean }),
  merchants: Schema.Array(MerchantSummary)
})
export type SessionView = typeof SessionView.Encoded

const KeyPair = Schema.Struct({ secret: Schema.String, publishable: Schema.String })

/** The new merchant's first keys, for test, shown this once. */
export const SignedUp = Schema.Struct({
  session: SessionView,
  keys: Schema.Struct({ test: KeyPair })
})
export type SignedUp = typeof SignedUp.Encoded

/** What needs no session yet. */
export class SignInApi extends endpointGroup("signIn")(
  allow(
    { by: "anyone" },
    HttpApiEndpoint.post("signUp", "/sign-up", {
      payload: Schema.Struct({
        email: Email,
        password: NewPassword,
        merchantName: Text(1, 200),
        receiver: TypedAddress
      }),
      success: SignedUp.pipe(HttpApiSchema.status(201)),
      error: [
        errorResponse(SignUpClosed),
        errorResponse(EmailTaken),
        errorResponse(ReceiverTaken),
        errorResponse(RateLimited)
      ]
    })
  ),
  allow(
    { by: "anyone" },
    HttpApiEndpoint.post("signIn", "/sign-in", {
      payload: Schema.Struct({ email: Email, password: Password }),
      success: SessionView,
      error: [errorResponse(SignInFailed), errorResponse(RateLimited)]
    })
  ),
  allow(
    { by: "anyone" },
    HttpApiEndpoint.post("redeem", "/one-time-link", {
      payload: Schema.Struct({
        token: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)),
        password: NewPassword
      }),
      success: SessionView,
      error: [errorResponse(OneTimeLinkInvalid), errorResponse(SignInFailed), errorResponse(RateLimited)]
    })
  )
)
  .middleware(BodyRules)
  .middleware(SameOrigin) {}

/** The signed-in person's own account. */
export class AccountApi extends endpointGroup("account")(
  allow(
    { by: "session" },
    HttpApiEndpoint.get("session", "/session", { success: Schema.toEncoded(SessionView) })
  ),
  allow(
    { by: "session" },
    HttpApiEndpoint.post("signOut", "/sign-out", { success: HttpApiSchema.NoContent })
  ),
  allow(
    { by: "session" },
    HttpApiEndpoint.post("signOutEverywhere", "/sign-out-everywhere", { success: HttpApiSchema.NoContent })
  ),
  allow(
    { by: "session" },
    HttpApiEndpoint.post("confirm", "/confirm", {
      payload: Schema.Struct({ password: Password }),
      success: HttpApiSchema.NoContent,
      error: [errorResponse(SignInFailed), errorResponse(RateLimited)]
    })
  ),
  allow(
    { by: "session" },
    HttpApiEndpoint.post("changePassword", "/password", {
      payload: Schema.Struct({ current: Password, next: NewPassword }),
      success: HttpApiSchema.NoContent,
      error: [errorResponse(SignInFailed), errorResponse(RateLimited)]
    })
  )
)
  .middleware(BodyRules)
  .middleware(SessionRequired)
  .middleware(SameOrigin) {}
