// The contract's OpenAPI 3.1 document, smaller and more complete than the plain derivation: one shared error
// envelope, and the headers of every response.
import { Predicate } from "effect"
import { type ErrorCode, errorCodes } from "../../domain/ErrorCode.ts"
import { isJson, type Json, jsonAt } from "./json.ts"

const mapFields = (fields: Json, f: (value: unknown, name: string) => unknown): Json =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, f(value, name)]))

/** Rewrites every node of a document, innermost first. */
const rewrite = (value: unknown, f: (node: Json) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((element) => rewrite(element, f))
  if (!isJson(value)) return value
  return f(Object.fromEntries(Object.entries(value).map(([key, element]) => [key, rewrite(element, f)])))
}

const isEnum = (value: unknown): value is Json & { readonly enum: ReadonlyArray<unknown> } =>
  isJson(value) && value["type"] === "string" && Array.isArray(value["enum"])

/** A union of string literals becomes one enumeration; a union of one becomes its member. */
const flattenUnions = (node: Json): unknown => {
  const { anyOf, ...rest } = node
  if (!Array.isArray(anyOf)) return node
  if (anyOf.every(isEnum)) return { type: "string", enum: anyOf.flatMap((member) => member.enum), ...rest }
  const [only, ...others] = anyOf
  return others.length === 0 && isJson(only) ? { ...only, ...rest } : node
}

/** Drops the template `0x…` of an address beside its exact pattern. */
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
    if (isEnum(code)) for (const name of code.enum) if (Predicate.isString(name)) codes.add(name)
    return node
  })
  return [...codes].sort()
}

const isErrorCode = (code: string): code is ErrorCode => code in errorCodes

const headers = {
  "x-request-id": { description: "The request's id.", schema: { type: "string" } },
  "retry-after": { description: "Whole seconds to wait.", schema: { type: "integer", minimum: 1 } }
}
const headerRefs = (...names: ReadonlyArray<keyof typeof headers>) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
const requestHeaders = headerRefs("x-request-id")

const errorResponse = (status: string, codes: ReadonlyArray<string>) => {
  return {
    description: codes
      .map((code) => `\`${code}\`: ${isErrorCode(code) ? errorCodes[code].summary : ""}`)
      .join("\n\n"),
    headers: {
      ...requestHeaders,
      ...(status === "429" || status === "503" ? headerRefs("retry-after") : {})
    },
    content: {
      "application/json": {
        schema: {
          allOf: [
            { $ref: "#/components/schemas/ErrorEnvelope" },
            { properties: { error: { properties: { code: { enum: codes } } } } }
          ]
        }
      }
    }
  }
}

/** Error codes that only requests with a body can get. */
const bodyCodes: ReadonlySet<string> = new Set<ErrorCode>([
  "IDEMPOTENCY_KEY_NOT_ACCEPTED",
  "INVALID_JSON",
  "PAYLOAD_TOO_LARGE",
  "REQUEST_TIMEOUT",
  "UNSUPPORTED_MEDIA_TYPE"
])

const answer = (method: string, status: string, response: unknown) => {
  if (!isJson(response)) return response
  if (Number(status) >= 400 && status !== "402") {
    const codes = codesOf(response["content"]).filter((code) => method !== "get" || !bodyCodes.has(code))
    return codes.length === 0 ? undefined : errorResponse(status, codes)
  }
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

const secretKey = keyScheme("secret", "sk")

const securitySchemes = {
  secretKey: {
    ...secretKey,
    description: `${secretKey.description} Operations with the role \`manage\` need full access; a read-only key lacks it.`
  },
  publishableKey: keyScheme("publishable", "pk"),
  agentKey: keyScheme("agent", "ak")
}

const plainResponse = (description: string, body: Json) => ({
  description,
  headers: requestHeaders,
  content: { "application/json": { schema: { type: "object", ...body } } }
})
const status = { required: ["status"], properties: { status: { type: "string" } } }

const unknownQuery = errorResponse("400", ["INVALID_REQUEST"])

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
  "/healthz": systemOperation("healthz", "Is the process alive", { "200": plainResponse("Alive.", status) }),
  "/readyz": systemOperation("readyz", "Does the database answer, with every migration", {
    "200": plainResponse("Ready.", status),
    "503": plainResponse("Unavailable; `status` says so.", status)
  }),
  "/openapi.json": systemOperation("openapi", "This document", { "200": plainResponse("OpenAPI 3.1.", {}) })
}

/** Text in requests has no U+0000, because `BodyRules` refuses it. */
const storable = (node: Json): Json =>
  node["type"] !== "string" || "pattern" in node || "enum" in node || "format" in node
    ? node
    : { ...node, pattern: "^[^\\u0000]*$" }

const operation = (node: unknown, method: string): unknown => {
  if (!isJson(node) || !isJson(node["responses"])) return node
  return {
    ...node,
    ...("parameters" in node ? { parameters: rewrite(node["parameters"], storable) } : {}),
    ...("requestBody" in node ? { requestBody: rewrite(node["requestBody"], storable) } : {}),
    responses: Object.fromEntries(
      Object.entries(node["responses"])
        .map(([status, response]) => [status, answer(method, status, response)] as const)
        .filter(([, response]) => response !== undefined)
    )
  }
}

/** Applied to the contract's own derivation, wherever it is used. */
export const compactDocument = (plain: Record<string, unknown>): Record<string, unknown> => {
  const compact = rewrite(rewrite(plain, exactPatterns), flattenUnions)
  const document = jsonAt(compact)
  const components = jsonAt(document, "components")
  const schemas = jsonAt(components, "schemas")
  const paths = jsonAt(document, "paths")
  const tags = Array.isArray(document["tags"]) ? document["tags"] : []
  return {
    ...document,
    paths: {
      ...mapFields(paths, (methods) => (isJson(methods) ? mapFields(methods, operation) : methods)),
      ...systemPaths
    },
    tags: [...tags, { name: "System", description: "Outside the versioned contract." }],
    components: { ...components, schemas, headers, securitySchemes }
  }
}
