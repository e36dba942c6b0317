import { Schema, SchemaGetter } from "effect"

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
