import { Schema } from "effect"

/** The languages that buyers and people are written to in. */
export const Locale = Schema.Literals(["en", "de", "es", "fr", "pt", "ja", "zh", "ar"])
export type Locale = typeof Locale.Type
