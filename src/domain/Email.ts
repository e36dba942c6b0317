// The form of the email addresses that the service accepts.
import { Schema, SchemaGetter } from "effect"

const maxLength = 254

/** An email address in lower case. Its length is checked twice, because `İ` becomes two characters in lower case. */
export const Email = Schema.String.check(
  Schema.isMaxLength(maxLength),
  Schema.isPattern(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, { message: "an email address" }),
  Schema.makeFilter((text) => text.isWellFormed() || "an email address")
).pipe(
  Schema.decodeTo(Schema.String.check(Schema.isMaxLength(maxLength)), {
    decode: SchemaGetter.transform((text) => text.toLowerCase()),
    encode: SchemaGetter.transform((text) => text)
  })
)
