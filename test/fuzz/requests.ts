// Requests drawn from the OpenAPI document: valid, nearly valid, hostile (the classes of docs/threats.md 5).
import { Effect } from "effect"
import fc from "fast-check"
import { contractDocument } from "../../src/app/openapi/Documents.ts"
import type { Call } from "../support/contractCheck.ts"

// biome-ignore lint/suspicious/noExplicitAny: a JSON document of any shape is walked here
type Json = any

const document: Json = JSON.parse(JSON.stringify(Effect.runSync(contractDocument("http://localhost:8787"))))

/** Values that exist in the service under test, so that valid requests succeed. */
export interface Known {
  readonly keys: ReadonlyArray<string>
  readonly full: string
  readonly publishable: string
  readonly paymentIds: ReadonlyArray<string>
  readonly intentTokens: ReadonlyArray<string>
  readonly transactionIds: ReadonlyArray<string>
  readonly addresses: ReadonlyArray<string>
}

const resolve = (schema: Json): Json =>
  schema?.$ref === undefined
    ? schema
    : resolve(
        String(schema.$ref)
          .slice(2)
          .split("/")
          .reduce((node: Json, part) => node[part.replaceAll("~1", "/").replaceAll("~0", "~")], document)
      )

const hostileText = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\u0000",
    "\ud800",
    "\u202e",
    "１",
    "null",
    "undefined",
    "__proto__",
    "../../etc/passwd",
    "%00",
    "%ff",
    "%2e%2e%2f",
    "' OR 1=1 --",
    "<script>",
    "#{7*7}",
    "{{7*7}}",
    "\r\nx: y",
    "🂡",
    "a".repeat(300),
    "1e309",
    "-0",
    "0x",
    "NaN",
    "٠"
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 })
)

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e21, [], {}, [[]], { toString: 1 }),
  fc.jsonValue({ maxDepth: 3 })
)

const x402Requirements = fc.record({
  scheme: fc.constantFrom("exact", "upto"),
  network: fc.constantFrom("eip155:84532", "base-sepolia", "eip155:1"),
  amount: fc.constantFrom("1", "1000000", "0", "99999999999999999999999"),
  maxAmountRequired: fc.constantFrom("1", "1000000", "-1"),
  asset: fc.constantFrom("0x036CbD53842c5426634e7929541eC2318f3dCF7e", "0x12"),
  payTo: fc.constantFrom("0x70997970C51812dc3A010C7d01b50e0d17dc79C8", ""),
  maxTimeoutSeconds: fc.constantFrom<number>(60, 0, 1e9),
  extra: fc.constantFrom<unknown>({ name: "USDC", version: "2" }, {}, null, [])
})

/** A value that meets the schema, using an existing one if the name suggests it. */
const valid = (schema: Json, name: string, known: Known): fc.Arbitrary<unknown> => {
  const node = resolve(schema)
  if (name === "intentToken" && known.intentTokens.length > 0) return fc.constantFrom(...known.intentTokens)
  if (name === "buyerDidToken") return fc.constantFrom(...known.addresses.map((one) => `buyer:${one}`))
  if (name === "transactionId") return fc.constantFrom(...known.transactionIds)
  if (name === "intentUrl") return fc.webUrl({ validSchemes: ["https"] })
  if (name === "url")
    return fc.constantFrom("https://hooks.example.com/a", "https://b.example.org:8443/x?y=1")
  if (name === "amount")
    return fc.constantFrom("1", "10.00", "0.000001", "99999999999999.999999", "0.50", "1.00")
  if (name === "pk") return fc.constant(known.publishable)
  if (name === "address" || name === "receiver" || name === "tokenAddress")
    return fc.constantFrom(...known.addresses)
  if (name === "accepts")
    return fc.array(fc.oneof(x402Requirements, hostileValue), { minLength: 1, maxLength: 3 })
  if (Array.isArray(node.enum)) return fc.constantFrom(...node.enum)
  switch (node.type) {
    case "object":
      return fc.record(
        Object.fromEntries(
          Object.entries(node.properties ?? {}).map(([key, one]) => [key, valid(one, key, known)])
        )
      )
    case "array":
      return fc.array(valid(node.items, name, known), {
        minLength: node.minItems ?? 0,
        maxLength: Math.min(node.maxItems ?? 3, 3)
      })
    case "integer":
      return fc.constantFrom(84532, 42161, 1, 0)
    case "string":
      // A class that excludes characters still has a million others, and drawing from it takes too long.
      return node.pattern === undefined || /\[\^|\\P\{|\\p\{/.test(node.pattern)
        ? fc.string({ minLength: 1, maxLength: 20 })
        : fc.stringMatching(new RegExp(node.pattern, "u"))
    default:
      return hostileValue
  }
}

/** One place of a valid value broken: dropped, replaced, or added. */
const nearly = (value: unknown): fc.Arbitrary<unknown> => {
  if (Array.isArray(value) && value.length > 0) {
    return fc.oneof(
      nearly(value[0]).map((one) => [one, ...value.slice(1)]),
      fc.constant([]),
      fc.constant(Array.from({ length: 40 }, () => value[0]))
    )
  }
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    const entries = Object.entries(value)
    return fc.integer({ min: 0, max: entries.length - 1 }).chain((index) => {
      const [key, one] = entries[index] ?? ["", null]
      return fc.oneof(
        fc.constant(Object.fromEntries(entries.filter(([name]) => name !== key))),
        hostileText.map((name) => ({ ...value, [name]: 1 })),
        nearly(one).map((broken) => ({ ...value, [key]: broken }))
      )
    })
  }
  return hostileValue
}

const hostileBody = fc.oneof(
  fc.constantFrom(
    "",
    "null",
    "[]",
    "{}",
    "{",
    "}",
    '"',
    "[[[[",
    "{}{}",
    "\ufeff{}",
    '{"a":1,"a":2}',
    '{"__proto__":{"polluted":1}}',
    "1e999",
    "-",
    "[".repeat(20_000),
    `${'{"a":'.repeat(20_000)}`,
    JSON.stringify(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, index]))),
    `"${"x".repeat(65_600)}"`
  ),
  fc.json(),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 })
)

const uuidSpellings = fc.constantFrom(
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "{01a1fc34-7205-710e-9410-874fee9a4996}",
  "urn:uuid:01a1fc34-7205-710e-9410-874fee9a4996",
  "01a1fc347205710e9410874fee9a4996",
  "1",
  "-1",
  "null",
  "..",
  "%2e%2e",
  "%2F",
  "a%00b",
  "%E0%A4%A",
  "*",
  ":id"
)

const hostileHeaders = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  { "content-type": "text/plain" },
  { "content-type": "application/json; charset=latin1" },
  { "content-type": "" },
  { "content-encoding": "gzip" },
  { "idempotency-key": "x" },
  { "x-request-id": "<script>" },
  { "x-forwarded-for": "1.2.3.4, ::1, x" },
  { "x-http-method-override": "DELETE" },
  { origin: "null" },
  { accept: "text/html" },
  { cookie: "a=b; c=%00" },
  { "x-long": "y".repeat(4_000) },
  { authorization: "Basic eDp5" },
  { authorization: "Bearer" }
)

const operations: ReadonlyArray<{
  readonly method: string
  readonly path: string
  readonly operation: Json
}> = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
)

const query = (parameters: ReadonlyArray<Json>, known: Known): fc.Arbitrary<string> => {
  const wanted = parameters.filter((one) => one.in === "query")
  const fine = fc.tuple(
    ...wanted.map((one) =>
      fc
        .tuple(fc.constant(String(one.name)), valid(one.schema, one.name, known), fc.boolean())
        .map(([name, value, present]) =>
          one.required === true || present ? `${name}=${encodeURIComponent(String(value))}` : ""
        )
    )
  )
  const odd = fc.constantFrom(
    "x=1",
    "limit=1&limit=2",
    "limit[]=1",
    "=",
    "&&",
    "%",
    "a".repeat(2_000),
    "limit=%ff",
    "env=%00",
    "__proto__=1"
  )
  const text = fine.map((parts) => parts.filter((part) => part !== "").join("&"))
  return fc.oneof(
    { weight: 8, arbitrary: text },
    { weight: 1, arbitrary: fc.tuple(text, odd).map((parts) => parts.join("&")) },
    { weight: 1, arbitrary: odd }
  )
}

/** Any request: mostly to real operations, sometimes to other paths. */
export const requests = (known: Known): fc.Arbitrary<Call> => {
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...known.keys) },
    { weight: 1, arbitrary: fc.constantFrom("", "x", "sk_test_0") }
  )
  const atOperation = fc.constantFrom(...operations).chain(({ method, path, operation }) => {
    const schema = operation.requestBody?.content?.["application/json"]?.schema
    const good: fc.Arbitrary<unknown> =
      schema === undefined ? fc.constant(undefined) : valid(schema, "", known)
    const id = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...known.paymentIds) },
      { weight: 1, arbitrary: uuidSpellings }
    )
    const fitting = operation.security?.some((scheme: object) => "publishableKey" in scheme)
      ? known.publishable
      : known.full
    return fc.record({
      method: fc.oneof(
        { weight: 19, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS") }
      ),
      path: fc
        .tuple(id, query(operation.parameters ?? [], known))
        .map(([value, search]) => `${path.replace("{id}", value)}${search === "" ? "" : `?${search}`}`),
      key: fc.oneof({ weight: 3, arbitrary: fc.constant(fitting) }, { weight: 1, arbitrary: key }),
      body: fc.oneof(
        { weight: 4, arbitrary: good },
        {
          weight: 4,
          arbitrary: good.chain((value) => (value === undefined ? fc.constant(undefined) : nearly(value)))
        },
        { weight: 2, arbitrary: schema === undefined ? fc.constant(undefined) : hostileBody }
      ),
      headers: fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: hostileHeaders })
    })
  })
  const beside = fc.record({
    method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"),
    path: fc.oneof(
      fc.constantFrom(
        "/",
        "/api/v1",
        "/api/v1/payments/",
        "/api//v1/payments",
        "/API/V1/PAYMENTS",
        "/api/v1/payments/%2e%2e",
        "/docs/errors",
        "/healthz",
        "/openapi.json",
        "/readyz"
      ),
      fc.webPath().map((text) => (text.startsWith("/") ? text : `/${text}`))
    ),
    key,
    body: fc.constant(undefined),
    headers: hostileHeaders
  })
  return fc.oneof({ weight: 19, arbitrary: atOperation }, { weight: 1, arbitrary: beside })
}
