import { Schema, Struct } from "effect"

/**
 * Expected previous values, for optimistic concurrency (like HTTP's `If-Match`): if a field has a different
 * value, nothing is saved. Absent fields are not compared.
 */
export const IfUnchanged = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.optionalKey(Schema.Struct(fields).mapFields(Struct.map(Schema.optionalKey)))
