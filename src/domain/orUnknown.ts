// Tolerates codes of later releases, so that a rollback can read what they wrote.
import { Schema, SchemaGetter } from "effect"

/**
 * Reads a code as stored or received. A code that a later release wrote into a shared database becomes
 * `unknown`.
 */
export const orUnknown = <Code extends string>(codes: Schema.Literals<ReadonlyArray<Code>>) => {
  const isKnown = Schema.is(codes)
  const literals: ReadonlyArray<Code | "unknown"> = [...codes.literals, "unknown"]
  return Schema.String.pipe(
    Schema.decodeTo(Schema.Literals(literals), {
      decode: SchemaGetter.transform((code: string): Code | "unknown" => (isKnown(code) ? code : "unknown")),
      encode: SchemaGetter.transform((code): string => code)
    })
  )
}
