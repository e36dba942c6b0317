// The OpenAPI 3.1 document of the contract, made smaller and fuller than the plain
// derivation: one shared error envelope, and the headers that every answer carries.
import { Predicate } from "effect"
import { type ErrorCode, errorCodes } from "../../domain/ErrorCode.ts"

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => Predicate.isObject(value) && !Array.isArray(value)

/** Rewrites every node of a document, innermost first. */
const rewrite = (value: unknown, f: (node: Json) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => rewrite(one, f))
  if (!isJson(value)) return value
  return f(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rewrite(one, f)])))
}

const isEnum = (value: unknown): value is Json & { readonly enum: ReadonlyArray<unknown> } =>
  isJson(value) && value["type"] === "string" && Array.isArray(value["enum"])

/** A union of string literals is one enumeration; a union of one is its member. */
const flattenUnions = (node: Json): unknown => {
  const { anyOf, ...rest } = node
  if (!Array.isArray(anyOf)) return node
  if (anyOf.every(isEnum)) return { type: "string", enum: anyOf.flatMap((one) => one.enum), ...rest }
  const [only, ...others] = anyOf
  return others.length === 0 && isJson(only) ? { ...only, ...rest } : node
}

/** The template `0x…` of an address stands beside the exact pattern: the exact one is enough. */
const exactPatterns = (node: Json): unknown => {
  const { allOf, pattern, ...rest } = node
  if (pattern !== "^0x[\\s\\S]*?$" || !Array.isArray(allOf)) return node
  return Object.assign({}, rest, ...allOf.filter(isJson))
}

const codesOf = (schema: unknown): ReadonlyArray<string> => {
  const codes = new Set<string>()
  rewrite(schema, (node) => {
    const properties = node["properties"]
    const code = isJson(properties) ? properties["code"] : undefined
    if (isEnum(code)) for (const one of code.enum) if (Predicate.isString(one)) codes.add(one)
    return node
  })
  return [...codes].sort()
}

const isErrorCode = (code: string): code is ErrorCode => code in errorCodes

const requestHeaders = {
  "x-request-id": { description: "The request's id.", schema: { type: "string" } },
  "cache-control": { description: "Always `no-store`.", schema: { type: "string", const: "no-store" } }
}
const retryAfter = {
  "retry-after": { description: "Whole seconds to wait.", schema: { type: "integer", minimum: 1 } }
}

const errorAnswer = (status: string, content: unknown) => {
  const codes = codesOf(content)
  return {
    description: codes
      .map((code) => `\`${code}\`: ${isErrorCode(code) ? errorCodes[code].summary : ""}`)
      .join("\n\n"),
    headers: { ...requestHeaders, ...(status === "429" || status === "503" ? retryAfter : {}) },
    content: {
      "application/json": {
        schema: {
          allOf: [
            { $ref: "#/components/schemas/ErrorEnvelope" },
            {
              type: "object",
              properties: { error: { type: "object", properties: { code: { type: "string", enum: codes } } } }
            }
          ]
        }
      }
    }
  }
}

const answer = (status: string, response: unknown) => {
  if (!isJson(response)) return response
  if (Number(status) >= 400 && status !== "402") return errorAnswer(status, response["content"])
  const content = response["content"]
  return {
    ...response,
    description: successes[status] ?? "Success",
    headers: requestHeaders,
    ...(isJson(content) ? { content } : {})
  }
}

const successes: Readonly<Record<string, string>> = {
  "200": "Done.",
  "201": "Created.",
  "202": "Noted; the payment is still pending and `error.code` says why.",
  "204": "Done; no body.",
  "402": "Pay by x402: version 1 in the body, version 2 in the header `PAYMENT-REQUIRED`."
}

const keyScheme = (kind: string, prefix: string) => ({
  type: "http",
  scheme: "bearer",
  description: `${kind === "agent" ? "An" : "A"} ${kind} key, \`${prefix}_test_…\` or \`${prefix}_live_…\`.`
})

const securitySchemes = {
  secretKey: keyScheme("secret", "sk"),
  publishableKey: keyScheme("publishable", "pk"),
  agentKey: keyScheme("agent", "ak")
}

const plainAnswer = (description: string, body: Json) => ({
  description,
  headers: requestHeaders,
  content: { "application/json": { schema: { type: "object", ...body } } }
})
const status = { required: ["status"], properties: { status: { type: "string" } } }

const unknownQuery = errorAnswer("400", {
  properties: { code: { type: "string", enum: ["INVALID_REQUEST"] } }
})

const systemOperation = (operationId: string, summary: string, responses: Json) => ({
  get: {
    tags: ["System"],
    operationId: `system.${operationId}`,
    summary,
    security: [],
    responses: { ...responses, "400": unknownQuery }
  }
})

/** Routes outside the versioned contract that machines read. */
const systemPaths = {
  "/healthz": systemOperation("healthz", "Is the process alive", { "200": plainAnswer("Alive.", status) }),
  "/readyz": systemOperation("readyz", "Does the database answer, with every migration", {
    "200": plainAnswer("Ready.", status),
    "503": plainAnswer("Unavailable; `status` says so.", status)
  }),
  "/openapi.json": systemOperation("openapi", "This document", { "200": plainAnswer("OpenAPI 3.1.", {}) })
}

const operation = (node: Json): unknown => {
  const responses = node["responses"]
  const operationId = node["operationId"]
  if (!isJson(responses) || !Predicate.isString(operationId)) return node
  return {
    ...node,
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, one]) => [status, answer(status, one)])
    )
  }
}

/** Applied to the contract's own derivation, wherever it is read. */
export const compactDocument = (plain: Record<string, unknown>): Record<string, unknown> => {
  const compact = rewrite(rewrite(rewrite(plain, exactPatterns), flattenUnions), operation)
  const document = isJson(compact) ? compact : {}
  const components = isJson(document["components"]) ? document["components"] : {}
  const schemas = isJson(components["schemas"]) ? components["schemas"] : {}
  const paths = isJson(document["paths"]) ? document["paths"] : {}
  const tags = Array.isArray(document["tags"]) ? document["tags"] : []
  return {
    ...document,
    paths: { ...paths, ...systemPaths },
    tags: [...tags, { name: "System", description: "Outside the versioned contract." }],
    components: { ...components, schemas, securitySchemes }
  }
}
