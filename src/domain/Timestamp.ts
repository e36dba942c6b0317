// The format of times in responses.
import { Schema } from "effect"

export const Timestamp = Schema.String.annotate({
  description: "ISO 8601 in UTC with milliseconds.",
  examples: ["2026-01-31T12:00:00.000Z"]
})
