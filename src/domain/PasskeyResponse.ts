// A browser's response to a passkey challenge (WebAuthn), with each part in base64url.
import { Schema } from "effect"

const Encoded = Schema.String.check(
  Schema.isMaxLength(16_384),
  Schema.isPattern(/^[A-Za-z0-9_-]+$/u, { message: "base64url" })
)

/** The response for a new passkey. */
export const PasskeyRegistration = Schema.Struct({
  id: Encoded,
  clientDataJSON: Encoded,
  attestationObject: Encoded,
  transports: Schema.Array(Schema.String.check(Schema.isMaxLength(32))).check(Schema.isMaxLength(10))
})
export type PasskeyRegistration = typeof PasskeyRegistration.Type

/** The response for an existing passkey. */
export const PasskeyAssertion = Schema.Struct({
  id: Encoded,
  clientDataJSON: Encoded,
  authenticatorData: Encoded,
  signature: Encoded
})
export type PasskeyAssertion = typeof PasskeyAssertion.Type
