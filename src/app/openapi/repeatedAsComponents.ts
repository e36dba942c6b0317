// Turns each response, parameter, body and schema that the document repeats into a component. Dereferenced,
// the document is the same.
import { STATUS_CODES } from "node:http"
import { Predicate } from "effect"
import { isJson, type Json, jsonAt } from "./json.ts"

type Kind = "responses" | "parameters" | "requestBodies" | "schemas"

interface Part {
  readonly kind: Kind
  readonly name: string
  readonly value: Json
}

/** Errors are named after their only code, or else their status; successes after their operation. */
const answerName = (status: string, { description }: Json, operationId: string) => {
  const [code, ...others] = String(description).match(/(?<=^`)[A-Z0-9_]+(?=`: )/gm) ?? []
  if (code === undefined) return `${operationId}.${status}`
  return others.length === 0 ? code : (STATUS_CODES[status] ?? status).replaceAll(" ", "")
}

const capitalized = (name: string) => name.replace(/^./, (first) => first.toUpperCase())

/** The kind of component that a part can become, by its field in `parent`. */
const partOf = (parent: string, field: string, value: unknown, operationId: string): Part | undefined => {
  if (!isJson(value) || "$ref" in value) return undefined
  switch (parent) {
    case "responses":
      return { kind: "responses", name: answerName(field, value, operationId), value }
    case "parameters":
      return { kind: "parameters", name: `${operationId}.${value["name"]}`, value }
    case "properties":
      return { kind: "schemas", name: capitalized(field), value }
    default:
      return field === "requestBody" ? { kind: "requestBodies", name: operationId, value } : undefined
  }
}

/** Passes every such part to `replace`, the outer ones first. */
const walk = (value: unknown, replace: (part: Part) => unknown, parent = "", operationId = ""): unknown => {
  const child = (inner: unknown, field: string, operation: string) => {
    const part = partOf(parent, field, inner, operation)
    const replaced = part === undefined ? inner : replace(part)
    return walk(replaced, replace, field, operation)
  }
  if (Array.isArray(value)) return value.map((element) => child(element, "", operationId))
  if (!isJson(value)) return value
  const operation = Predicate.isString(value["operationId"]) ? value["operationId"] : operationId
  return Object.fromEntries(
    Object.entries(value).map(([field, element]) => [field, child(element, field, operation)])
  )
}

/** A reference takes about this many characters itself. */
const isWorthIt = ({ value }: Part) => JSON.stringify(value).length > 60

export const repeatedAsComponents = (document: Json): Json => {
  const components = jsonAt(document, "components")
  const own = jsonAt(components, "schemas")
  const keyOf = ({ kind, value }: Part) => `${kind} ${JSON.stringify(value)}`

  const uses = new Map<string, number>()
  walk(document, (part) => {
    const before = uses.get(keyOf(part)) ?? 0
    uses.set(keyOf(part), before + 1)
    // The parts of a repeated part occur only once.
    return before === 0 ? part.value : undefined
  })

  const names = new Map<string, string>()
  const shared: Record<Kind, Record<string, unknown>> = {
    responses: {},
    parameters: {},
    requestBodies: {},
    schemas: { ...own }
  }
  const freeName = ({ kind, name }: Part) => {
    let free = name
    for (let count = 2; free in shared[kind]; count++) free = `${name}${count}`
    return free
  }
  const replace = (part: Part): unknown => {
    const key = keyOf(part)
    if (uses.get(key) === 1 || !isWorthIt(part)) return part.value
    const givenName = names.get(key)
    const name = givenName ?? freeName(part)
    if (givenName === undefined) {
      names.set(key, name)
      shared[part.kind][name] = part.value
      shared[part.kind][name] = walk(part.value, replace)
    }
    return { $ref: `#/components/${part.kind}/${name}` }
  }
  const paths = walk(document["paths"], replace)
  const webhooks = walk(document["webhooks"], replace)
  for (const [name, schema] of Object.entries(own)) shared.schemas[name] = walk(schema, replace)
  return { ...document, paths, webhooks, components: { ...components, ...shared } }
}
