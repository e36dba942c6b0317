import { Schema } from "effect"

/** The languages of mails and pages. */
export const Locale = Schema.Literals(["en", "de", "es", "fr", "pt", "ja", "zh", "ar"])
export type Locale = typeof Locale.Type
