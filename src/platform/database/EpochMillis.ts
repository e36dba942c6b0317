// An instant as statements return it where JSON would lose precision: milliseconds since 1970, as text.
import { Schema } from "effect"

export const EpochMillis = Schema.FiniteFromString.pipe(Schema.decodeTo(Schema.DateFromMillis))
