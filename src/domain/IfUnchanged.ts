import { Schema, Struct } from "effect"

/**
 * What the fields that a person edits were when they began: nothing is saved where one is something else by now. Absent
 * fields are not compared.
 */
export const IfUnchanged = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.optionalKey(Schema.Struct(fields).mapFields(Struct.map(Schema.optionalKey)))
