// The operations that a shop's server may call, from the OpenAPI document: the only source of the clients in
// other languages.

import { at, isJson, type Json, jsonAt, listAt, textAt } from "../../openapi/json.ts"

export interface Parameter {
  readonly name: string
  readonly schema: Json
  readonly required: boolean
  readonly description: string
}

export interface Operation {
  /** For example `paymentIntents`. */
  readonly group: string
  readonly name: string
  readonly method: string
  /** With `{id}` in place of a path parameter. */
  readonly path: string
  readonly inPath: ReadonlyArray<Parameter>
  readonly inQuery: ReadonlyArray<Parameter>
  readonly inBody: ReadonlyArray<Parameter>
  /** The response of a success: JSON of this schema, bytes, or nothing. */
  readonly answer: { readonly kind: "json"; readonly schema: Json } | { readonly kind: "bytes" | "nothing" }
  readonly description: string
  /** True if it is safe to repeat the call after a lost response. */
  readonly idempotent: boolean
}

const descriptionOf = (schema: unknown): string =>
  [schema, ...listAt(schema, "allOf")]
    .map((part) => textAt(part, "description"))
    .find((text) => text !== "") ?? ""

const parametersIn = (operation: Json, place: string): ReadonlyArray<Parameter> =>
  listAt(operation, "parameters").flatMap((parameter) =>
    textAt(parameter, "in") === place
      ? [
          {
            name: textAt(parameter, "name"),
            schema: jsonAt(parameter, "schema"),
            required: at(parameter, "required") === true,
            description: descriptionOf(jsonAt(parameter, "schema"))
          }
        ]
      : []
  )

const bodyOf = (operation: Json): ReadonlyArray<Parameter> => {
  const schema = jsonAt(operation, "requestBody", "content", "application/json", "schema")
  const required = listAt(schema, "required")
  return Object.entries(jsonAt(schema, "properties")).map(([name, field]) => ({
    name,
    schema: jsonAt(field),
    required: required.includes(name),
    description: descriptionOf(field)
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

/** Calls that must not be repeated: after a lost response, a person must decide. */
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
    Object.entries(jsonAt(methods)).flatMap(([method, operation]) => {
      if (
        !isJson(operation) ||
        !listAt(operation, "security").some((scheme) => at(scheme, "secretKey") !== undefined)
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
