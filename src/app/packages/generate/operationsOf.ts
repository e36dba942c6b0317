// The operations that a shop's server may call, read from the OpenAPI document: the one source of the clients in other
// languages.

export type Json = { readonly [name: string]: unknown }

export interface Parameter {
  readonly name: string
  readonly schema: Json
  readonly required: boolean
  readonly description: string
}

export interface Operation {
  /** Like `paymentIntents`. */
  readonly group: string
  readonly name: string
  readonly method: string
  /** With `{id}` where a path parameter goes. */
  readonly path: string
  readonly inPath: ReadonlyArray<Parameter>
  readonly inQuery: ReadonlyArray<Parameter>
  readonly inBody: ReadonlyArray<Parameter>
  /** The response of a success: JSON of this schema, bytes, or nothing. */
  readonly answer: { readonly kind: "json"; readonly schema: Json } | { readonly kind: "bytes" | "nothing" }
  readonly description: string
  /** True if a call whose answer was lost may be made again. */
  readonly idempotent: boolean
}

export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (found, name) =>
      typeof found === "object" && found !== null
        ? Object.entries(found).find(([key]) => key === name)?.[1]
        : undefined,
    value
  )

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const jsonAt = (value: unknown, ...path: ReadonlyArray<string>): Json => {
  const found = at(value, ...path)
  return isJson(found) ? found : {}
}

export const listAt = (value: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

export const textAt = (value: unknown, ...path: ReadonlyArray<string>): string => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : ""
}

const descriptionOf = (schema: unknown): string =>
  [schema, ...listAt(schema, "allOf")].map((one) => textAt(one, "description")).find((text) => text !== "") ??
  ""

const parametersIn = (operation: Json, place: string): ReadonlyArray<Parameter> =>
  listAt(operation, "parameters").flatMap((one) =>
    textAt(one, "in") === place
      ? [
          {
            name: textAt(one, "name"),
            schema: jsonAt(one, "schema"),
            required: at(one, "required") === true,
            description: descriptionOf(jsonAt(one, "schema"))
          }
        ]
      : []
  )

const bodyOf = (operation: Json): ReadonlyArray<Parameter> => {
  const schema = jsonAt(operation, "requestBody", "content", "application/json", "schema")
  const required = listAt(schema, "required")
  return Object.entries(jsonAt(schema, "properties")).map(([name, one]) => ({
    name,
    schema: isJson(one) ? one : {},
    required: required.includes(name),
    description: descriptionOf(one)
  }))
}

const answerOf = (operation: Json): Operation["answer"] => {
  const [, success] =
    Object.entries(jsonAt(operation, "responses")).find(([status]) => status.startsWith("2")) ?? []
  const content = jsonAt(success, "content")
  if (Object.keys(content).length === 0) return { kind: "nothing" }
  if (Object.keys(content).length > 1) return { kind: "bytes" }
  return { kind: "json", schema: jsonAt(content, "application/json", "schema") }
}

/** Calls of which a second one does something else than the first: where the answer is lost, people decide. */
const onceOnly = new Set([
  "paymentLinks.create",
  "webhookEndpoint.create",
  "webhookEndpoint.delete",
  "webhookEndpoint.test",
  "events.resend"
])

/** The operations that a secret key may call. */
export const operationsOf = (document: unknown): ReadonlyArray<Operation> =>
  Object.entries(jsonAt(document, "paths")).flatMap(([path, methods]) =>
    Object.entries(isJson(methods) ? methods : {}).flatMap(([method, operation]) => {
      if (
        !isJson(operation) ||
        !listAt(operation, "security").some((one) => at(one, "secretKey") !== undefined)
      )
        return []
      const id = textAt(operation, "operationId")
      const [group = "", name = ""] = id.split(".")
      return [
        {
          group,
          name,
          method: method.toUpperCase(),
          path,
          inPath: parametersIn(operation, "path"),
          inQuery: parametersIn(operation, "query"),
          inBody: bodyOf(operation),
          answer: answerOf(operation),
          description: `${textAt(operation, "summary")}. ${textAt(operation, "description")}`.trim(),
          idempotent: !onceOnly.has(id)
        }
      ]
    })
  )
