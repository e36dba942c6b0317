// Requests generated from the published document only: a request that its schemas allow is never refused for its form.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import Ajv2020 from "ajv/dist/2020"
import addFormats from "ajv-formats"
import { Effect, Exit, Predicate, Scope } from "effect"
import fc from "fast-check"
import { openApiDocument } from "../../../src/app/openapi/Documents.ts"
import { testDatabase } from "../../support/database.ts"
import { startService, type TestService } from "../../support/service.ts"
import { makeShop, type Shop } from "./shop.ts"

setDefaultTimeout(300_000)

type Json = Readonly<Record<string, unknown>>
const isJson = (value: unknown): value is Json => Predicate.isObject(value)
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const seed = Number(process.env["FORMS_SEED"] ?? Date.now() % 1_000_000)
const valuesOfEach = 12

/** Refused for the meaning, not the form: no schema can express it. */
const meanings: ReadonlyArray<readonly [place: RegExp, message: RegExp]> = [
  [/^query\.(startingAfter|after)$/, /^No .* with this id exists/],
  [/^query\.to$/, /must not be before the first/],
  [/^query\.decimal$/, /JSON has decimal points/],
  [/^body\.amount$/, /^Send `amount`, or `minAmount` and `maxAmount`/],
  [/^body\.paymentId$/, /either `paymentId` or `incomingTransferId`/],
  [/^body\.(included|safe)$/, /have no limit at this level|the operator's limit/],
  // EIP-55: the letters' case is a checksum.
  [/^body\.recipient$/, /wrong checksum/],
  // The document allows any JSON; the form is in x402's specification of the named version.
  [/^body\.payment(Payload|Requirements|Required\.accepts)/, /./]
]

const document: Json = JSON.parse(JSON.stringify(Effect.runSync(openApiDocument("https://pay.example.com"))))
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats(ajv)

const resolved = (value: unknown): Json => {
  if (!isJson(value)) return {}
  const { $ref } = value
  if (!Predicate.isString($ref)) return value
  return resolved(
    $ref
      .split("/")
      .slice(1)
      .reduce<unknown>((at, key) => (isJson(at) ? at[key] : undefined), document)
  )
}
/** The schema with all references resolved. */
const whole = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(whole)
  if (!isJson(value)) return value
  return Object.fromEntries(Object.entries(resolved(value)).map(([key, one]) => [key, whole(one)]))
}

const instant = fc.date({ min: new Date("1000-01-01"), max: new Date("2999-12-31"), noInvalidDate: true })

/** Candidates, filtered by the schema's own validator. */
const candidates = (schema: Json): fc.Arbitrary<unknown> => {
  const {
    anyOf,
    enum: values,
    format,
    items,
    maxItems,
    maximum,
    maxLength,
    minItems,
    minimum,
    minLength,
    pattern
  } = schema
  if (Array.isArray(values)) return fc.constantFrom(...values)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.filter(isJson).map(valuesOf))
  switch (schema["type"]) {
    case "string": {
      if (format === "date") return instant.map((date) => date.toISOString().slice(0, 10))
      if (format === "date-time") return instant.map((date) => date.toISOString())
      const length = { minLength: Number(minLength ?? 0), maxLength: Math.min(Number(maxLength ?? 64), 300) }
      return Predicate.isString(pattern)
        ? fc.stringMatching(new RegExp(pattern, "u"))
        : fc.string({ ...length, unit: "binary" })
    }
    case "integer":
      return fc.integer({
        min: Math.max(Number(minimum ?? -(2 ** 31)), Number.MIN_SAFE_INTEGER),
        max: Math.min(Number(maximum ?? 2 ** 31), Number.MAX_SAFE_INTEGER)
      })
    case "boolean":
      return fc.boolean()
    case "array":
      return fc.array(valuesOf(isJson(items) ? items : {}), {
        minLength: Number(minItems ?? 0),
        maxLength: Math.min(Number(maxItems ?? 3), 3)
      })
    case "object": {
      const fields = Object.entries(resolved(schema["properties"])).map(
        ([name, one]) => [name, valuesOf(resolved(one))] as const
      )
      return fc.record(Object.fromEntries(fields), {
        requiredKeys: listOf(schema["required"]).filter(Predicate.isString)
      })
    }
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

const valuesOf = (schema: Json): fc.Arbitrary<unknown> => {
  const isValid = ajv.compile(schema)
  return candidates(schema).filter(
    (value) => isValid(value) && !JSON.stringify(value ?? null).includes("\\u0000")
  )
}

interface Place {
  readonly in: string
  readonly name: string
  readonly required: boolean
  readonly values: ReadonlyArray<unknown>
}

const drawn = (schema: unknown) => {
  const flat = whole(schema)
  return fc.sample(valuesOf(isJson(flat) ? flat : {}), { seed, numRuns: valuesOfEach })
}

const placesOf = (operation: Json): ReadonlyArray<Place> => {
  const parameters = listOf(operation["parameters"]).map(resolved)
  const content = resolved(resolved(operation["requestBody"])["content"])
  const body = resolved(resolved(content["application/json"])["schema"])
  return [
    ...parameters.map((one) => ({
      in: String(one["in"]),
      name: String(one["name"]),
      required: one["required"] === true,
      values: drawn(one["schema"])
    })),
    ...Object.entries(resolved(body["properties"])).map(([name, schema]) => ({
      in: "body",
      name,
      required: listOf(body["required"]).includes(name),
      values: drawn(schema)
    }))
  ]
}

const operations = Object.entries(resolved(document["paths"])).flatMap(([path, methods]) =>
  Object.entries(resolved(methods)).flatMap(([method, operation]) =>
    isJson(operation) ? [{ path, method: method.toUpperCase(), operation }] : []
  )
)

const scope = Effect.runSync(Scope.make())
let service: TestService
let shop: Shop
beforeAll(async () => {
  service = await Effect.runPromise(
    Scope.provide(startService(testDatabase, { rateLimitPerKey: 1_000_000 }), scope)
  )
  shop = await makeShop(service)
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** A request with the values of one draw; of the optional places it has only `only`. */
const requestOf = (path: string, places: ReadonlyArray<Place>, draw: number, only: Place) => {
  const sent = places.filter((one) => one.required || one === only)
  const within = (place: string) => sent.filter((one) => one.in === place)
  const valueOf = (one: Place) => one.values[one === only ? draw : 0]
  const query = within("query").map((one) => [one.name, String(valueOf(one))])
  const target = within("path").reduce(
    (at, one) => at.replace(`{${one.name}}`, encodeURIComponent(String(valueOf(one)))),
    path
  )
  const body = within("body")
  return {
    path: query.length === 0 ? target : `${target}?${new URLSearchParams(query)}`,
    headers: Object.fromEntries(within("header").map((one) => [one.name, String(valueOf(one))])),
    ...(body.length === 0 ? {} : { body: Object.fromEntries(body.map((one) => [one.name, valueOf(one)])) })
  }
}

test(`a request that the document allows is not refused for its form (FORMS_SEED=${seed})`, async () => {
  console.log(`FORMS_SEED=${seed}`)
  const refused: Array<string> = []
  let sent = 0
  for (const { method, operation, path } of operations) {
    const places = placesOf(operation)
    const [kind = ""] = listOf(operation["security"]).flatMap((one) => Object.keys(resolved(one)))
    const key = {
      secretKey: shop.keys.full,
      publishableKey: shop.keys.publishable,
      agentKey: shop.keys.agent
    }[kind]
    for (const place of places)
      for (const [draw, value] of place.values.entries()) {
        const { path: target, ...content } = requestOf(path, places, draw, place)
        sent++
        const answer = await shop.call({ method, path: target, key, ...content })
        if (answer.status !== 400 || answer.body.error.code !== "INVALID_REQUEST") continue
        for (const { message, path: at } of answer.body.error.details ?? [])
          if (!meanings.some(([where, why]) => where.test(at) && why.test(message)))
            refused.push(`${method} ${path} ${at}: ${message} (${JSON.stringify(value)?.slice(0, 120)})`)
      }
  }
  expect(sent).toBeGreaterThan(1_000)
  expect(refused).toEqual([])
})
