// Markdown tables of fields, from schemas of the OpenAPI document: name, type, required, meaning, example.
import { Predicate } from "effect"
import { exampleOf } from "../openapi/exampleOf.ts"
import { isJson, type Json, listAt, resolveRef, textAt } from "../openapi/json.ts"

interface Field {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly meaning: string
  readonly example: string
}

const code = (text: string) => `\`${text}\``

/** A table cell is one line, and its bars are escaped. */
const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n")

const unique = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> => [...new Set(values)]

const isNull = (schema: Json) => schema["type"] === "null"

/** A schema with references resolved and its parts merged; one entry for each member of a union. */
const membersOf = (document: Json, schema: unknown): ReadonlyArray<Json> => {
  if (!isJson(schema)) return []
  const { $ref, allOf, anyOf, oneOf, ...own } = schema
  if (Predicate.isString($ref))
    return membersOf(document, resolveRef(document, $ref)).map((member) => ({ ...member, ...own }))
  const choices = [...listAt(anyOf), ...listAt(oneOf)]
  if (choices.length > 0)
    return choices.flatMap((choice) => membersOf(document, choice)).map((member) => ({ ...member, ...own }))
  const parts = listAt(allOf).flatMap((part) => membersOf(document, part))
  return [Object.assign({}, ...parts, own)]
}

const plural = (type: string) => (type === "any" ? "any values" : type.replace(/^(\w+)/, "$1s"))

const typeOf = (document: Json, schema: unknown): string => {
  const types = membersOf(document, schema).map((member) =>
    member["type"] === "array"
      ? `array of ${plural(typeOf(document, member["items"]))}`
      : textAt(member["type"]) || "any"
  )
  return unique(types).join(" or ") || "any"
}

/** Limits that a caller may reach, in words; the limits of JavaScript's numbers are left out. */
const boundsOf = (schema: Json): ReadonlyArray<string> => {
  const between = (least: unknown, most: unknown, unit: string) => {
    const [from, to] = [least, most].map((bound) =>
      Predicate.isNumber(bound) && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : undefined
    )
    const noun = unit === "" ? "" : ` ${to === 1 ? unit : `${unit}s`}`
    if (to !== undefined) return [from === undefined ? `At most ${to}${noun}.` : `${from} to ${to}${noun}.`]
    return from === undefined || from === 0 ? [] : [`At least ${from}${noun}.`]
  }
  return [
    ...between(schema["minLength"], schema["maxLength"], "character"),
    ...between(schema["minItems"], schema["maxItems"], "item"),
    ...between(schema["minimum"], schema["maximum"], "")
  ]
}

const valuesOf = (members: ReadonlyArray<Json>): ReadonlyArray<string> => {
  const values = unique(
    members.flatMap((member) => ("const" in member ? [member["const"]] : listAt(member["enum"]))).map(String)
  )
  if (values.length === 0) return []
  return [values.length === 1 ? `Always ${code(values.join())}.` : `One of ${values.map(code).join(", ")}.`]
}

const meaningOf = (members: ReadonlyArray<Json>): string =>
  unique([
    ...members.map((member) => textAt(member["description"])).filter((text) => text !== ""),
    ...valuesOf(members),
    ...members.flatMap(boundsOf)
  ]).join(" ")

const maxLength = 48
const shownExample = (value: unknown): string => {
  if (value === undefined || value === null || typeof value === "object") return ""
  const text = String(value)
  return text === "" ? "" : code(text.length > maxLength ? `${text.slice(0, maxLength)}…` : text)
}

export const fieldOf = (document: Json, name: string, schema: unknown, isRequired: boolean): Field => ({
  name,
  type: typeOf(document, schema),
  isRequired,
  meaning: meaningOf(membersOf(document, schema).filter((member) => !isNull(member))),
  example: shownExample(
    exampleOf(
      document,
      schema,
      name.split(/[.[\]]+/).findLast((part) => part !== "")
    )
  )
})

/** The fields of an object and of the objects in it, as paths; `[]` stands for each item of an array. */
export const fieldsOf = (document: Json, schema: unknown, path = "", depth = 0): ReadonlyArray<Field> => {
  const members = membersOf(document, schema).filter((member) => !isNull(member))
  const arrays = members.filter((member) => member["type"] === "array")
  if (arrays.length > 0)
    return arrays.flatMap((array) => fieldsOf(document, array["items"], `${path}[]`, depth))
  const objects = members.filter((member) => isJson(member["properties"]))
  if (objects.length === 0 || depth > 6) return []
  const names = unique(
    objects.flatMap((object) => (isJson(object["properties"]) ? Object.keys(object["properties"]) : []))
  )
  return names.flatMap((name) => {
    const own = objects.flatMap(({ properties }) =>
      isJson(properties) && name in properties ? [properties[name]] : []
    )
    const [only, ...others] = own
    const field = others.length === 0 ? only : { anyOf: own }
    const full = path === "" ? name : `${path}.${name}`
    const isRequired = objects.every((object) => listAt(object["required"]).includes(name))
    return [fieldOf(document, full, field, isRequired), ...fieldsOf(document, field, full, depth + 1)]
  })
}

/** `required` is the word for a required field; a response marks only its optional fields. */
export const fieldTable = (title: string, fields: ReadonlyArray<Field>, required = "required"): string =>
  table(
    [title, "Type", "Required", "Description", "Example"],
    fields.map(({ name, type, isRequired, meaning, example }) => [
      code(name),
      type,
      isRequired ? required : "optional",
      meaning,
      example
    ])
  )
