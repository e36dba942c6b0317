// The contract of signing up, in and out.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Env } from "../../../domain/Chain.ts"
import { Email } from "../../../domain/Email.ts"
import {
  EmailTaken,
  NotFound,
  OneTimeLinkInvalid,
  PasskeyFailed,
  PasswordRequired,
  RateLimited,
  ReceiverTaken,
  SecondFactorActive,
  SecondFactorFailed,
  SecondFactorRequired,
  SignInFailed,
  SignUpClosed
} from "../../../domain/Errors.ts"
import { Locale } from "../../../domain/Locale.ts"
import { MerchantId, Uuid } from "../../../domain/Merchant.ts"
import { PasskeyAssertion, PasskeyRegistration } from "../../../domain/PasskeyResponse.ts"
import { Role } from "../../../domain/Role.ts"
import { allowAll, endpointGroup } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { BodyRules } from "../../../platform/http/RequestRules.ts"
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

/** A new password. Its length makes it strong. */
export const NewPassword = Schema.String.check(
  Schema.isMinLength(12, { message: "at least 12 characters" }),
  Schema.isMaxLength(256, { message: "at most 256 characters" })
)

const Password = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(256))

/** The address as typed; its checksum is checked when it is used. */
export const TypedAddress = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u, { message: "an address: 0x and 40 hex digits" })
)

/** A code of an authenticator app, or a recovery code. */
const Code = Schema.String.check(Schema.isMinLength(6), Schema.isMaxLength(32))

const proofErrors = [
  errorResponse(SignInFailed),
  errorResponse(SecondFactorRequired),
  errorResponse(SecondFactorFailed),
  errorResponse(RateLimited)
] as const

/** The browser's WebAuthn options, as JSON. */
const PasskeyOptions = Schema.Struct({ options: Schema.Unknown })
export type PasskeyOptions = typeof PasskeyOptions.Encoded

export const MerchantSummary = Schema.Struct({
  id: MerchantId,
  name: Schema.String,
  role: Role,
  logoUrl: Schema.NullOr(Schema.String)
})

export const SessionView = Schema.Struct({
  user: Schema.Struct({
    id: Uuid,
    email: Schema.String,
    operator: Schema.Boolean,
    locale: Locale,
    hasPasskeys: Schema.Boolean,
    hasAuthenticator: Schema.Boolean
  }),
  merchants: Schema.Array(MerchantSummary),
  /** The environments that accept payments. */
  open: Schema.Array(Env)
})
export type SessionView = typeof SessionView.Encoded

const KeyPair = Schema.Struct({ secret: Schema.String, publishable: Schema.String })

/** The new merchant's first keys, for test, shown only once. */
export const SignedUp = Schema.Struct({
  session: SessionView,
  keys: Schema.Struct({ test: KeyPair })
})
export type SignedUp = typeof SignedUp.Encoded

/** The user's sign-in methods and sessions. */
export const SecurityPage = Schema.Struct({
  hasAuthenticator: Schema.Boolean,
  recoveryCodesLeft: Schema.Int,
  passkeys: Schema.Array(
    Schema.Struct({
      id: Uuid,
      name: Schema.String,
      createdAt: Schema.String,
      lastUsedAt: Schema.NullOr(Schema.String)
    })
  ),
  /** The most recently seen first. */
  sessions: Schema.Array(
    Schema.Struct({
      id: Uuid,
      /** For example `Firefox on Linux`. */
      browser: Schema.String,
      address: Schema.NullOr(Schema.String),
      startedAt: Schema.String,
      lastSeenAt: Schema.String,
      current: Schema.Boolean
    })
  )
})
export type SecurityPage = typeof SecurityPage.Encoded

/** For an authenticator app: as text, and as the URI that its camera reads. */
export const NewAuthenticator = Schema.Struct({ secret: Schema.String, uri: Schema.String })
export type NewAuthenticator = typeof NewAuthenticator.Encoded

/** Shown only once. */
export const RecoveryCodes = Schema.Struct({ codes: Schema.Array(Schema.String) })
export type RecoveryCodes = typeof RecoveryCodes.Encoded

/** Endpoints that need no session. */
export class SignInApi extends endpointGroup("signIn")(
  ...allowAll(
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
    }),
    HttpApiEndpoint.post("signIn", "/sign-in", {
      payload: Schema.Struct({ email: Email, password: Password, code: Schema.optionalKey(Code) }),
      success: SessionView,
      error: proofErrors
    }),
    HttpApiEndpoint.post("redeem", "/one-time-link", {
      payload: Schema.Struct({
        token: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)),
        password: NewPassword,
        code: Schema.optionalKey(Code)
      }),
      success: SessionView,
      error: [errorResponse(OneTimeLinkInvalid), ...proofErrors]
    }),
    HttpApiEndpoint.post("beginPasskey", "/sign-in/passkey/options", {
      success: PasskeyOptions,
      error: errorResponse(RateLimited)
    }),
    HttpApiEndpoint.post("signInByPasskey", "/sign-in/passkey", {
      payload: PasskeyAssertion,
      success: SessionView,
      error: [errorResponse(PasskeyFailed), errorResponse(RateLimited)]
    }),
    /** Emails a link if the address has an account. The response does not reveal this. */
    HttpApiEndpoint.post("forgotPassword", "/forgotten-password", {
      payload: Schema.Struct({ email: Email }),
      success: HttpApiSchema.NoContent,
      error: errorResponse(RateLimited)
    })
  )
)
  .middleware(BodyRules)
  .middleware(SameOrigin) {}

/** The signed-in user's own account. */
export class AccountApi extends endpointGroup("account")(
  ...allowAll(
    { by: "session" },
    HttpApiEndpoint.get("session", "/session", { success: Schema.toEncoded(SessionView) }),
    HttpApiEndpoint.post("signOut", "/sign-out", { success: HttpApiSchema.NoContent }),
    HttpApiEndpoint.post("signOutEverywhere", "/sign-out-everywhere", { success: HttpApiSchema.NoContent }),
    HttpApiEndpoint.post("confirm", "/confirm", {
      payload: Schema.Struct({ password: Password, code: Schema.optionalKey(Code) }),
      success: HttpApiSchema.NoContent,
      error: proofErrors
    }),
    HttpApiEndpoint.post("changePassword", "/password", {
      payload: Schema.Struct({ current: Password, next: NewPassword, code: Schema.optionalKey(Code) }),
      success: HttpApiSchema.NoContent,
      error: proofErrors
    }),
    HttpApiEndpoint.post("beginConfirming", "/confirm/passkey/options", { success: PasskeyOptions }),
    HttpApiEndpoint.post("confirmByPasskey", "/confirm/passkey", {
      payload: PasskeyAssertion,
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PasskeyFailed), errorResponse(RateLimited)]
    }),
    HttpApiEndpoint.put("setLocale", "/locale", {
      payload: Schema.Struct({ locale: Locale }),
      success: HttpApiSchema.NoContent
    }),
    HttpApiEndpoint.get("security", "/security", { success: Schema.toEncoded(SecurityPage) }),
    HttpApiEndpoint.post("endOtherSessions", "/sessions/end-others", { success: HttpApiSchema.NoContent }),
    HttpApiEndpoint.delete("endSession", "/sessions/:sessionId", {
      params: { sessionId: Uuid },
      success: HttpApiSchema.NoContent,
      error: errorResponse(NotFound)
    }),
    HttpApiEndpoint.post("beginAddingPasskey", "/passkeys/options", {
      success: PasskeyOptions,
      error: errorResponse(PasswordRequired)
    }),
    HttpApiEndpoint.post("addPasskey", "/passkeys", {
      payload: Schema.Struct({ ...PasskeyRegistration.fields, name: Text(1, 100) }),
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PasswordRequired), errorResponse(PasskeyFailed)]
    }),
    HttpApiEndpoint.delete("removePasskey", "/passkeys/:passkeyId", {
      params: { passkeyId: Uuid },
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PasswordRequired), errorResponse(NotFound)]
    }),
    HttpApiEndpoint.post("beginAuthenticator", "/authenticator", {
      success: NewAuthenticator,
      error: [errorResponse(PasswordRequired), errorResponse(SecondFactorActive)]
    }),
    HttpApiEndpoint.post("confirmAuthenticator", "/authenticator/confirm", {
      payload: Schema.Struct({ code: Code }),
      success: RecoveryCodes,
      error: [errorResponse(PasswordRequired), errorResponse(SecondFactorFailed), errorResponse(RateLimited)]
    }),
    HttpApiEndpoint.delete("removeAuthenticator", "/authenticator", {
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PasswordRequired), errorResponse(NotFound)]
    }),
    HttpApiEndpoint.post("renewRecoveryCodes", "/recovery-codes", {
      success: RecoveryCodes,
      error: [errorResponse(PasswordRequired), errorResponse(NotFound)]
    })
  )
)
  .middleware(BodyRules)
  .middleware(SessionRequired)
  .middleware(SameOrigin) {}
