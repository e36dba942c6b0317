// Returns an example of a schema in the OpenAPI document: the schema's own if it has one, otherwise one for
// its name or pattern.
import { Predicate } from "effect"
import { isJson, type Json, listAt, resolveRef } from "./json.ts"

const time = "2026-01-31T12:00:00.000Z"
const uuid = "01a1fc34-7205-710e-9410-874fee9a4996"

const usdc = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"

const requirements = {
  scheme: "exact",
  network: "base-sepolia",
  maxAmountRequired: "1500000",
  asset: usdc,
  payTo: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
  resource: "https://api.example.com/report",
  maxTimeoutSeconds: 600
}

/** Examples by field name. */
const named: Readonly<Record<string, unknown>> = {
  intentUrl: "https://shop.example.com/orders/1042",
  url: "https://shop.example.com/webhooks/quittance",
  intentToken: "eyJhbGciOiJIUzI1NiIsInR5cCI6ImludGVudCtqd3QifQ.eyJqdGkiOiIwMWExZmMzNCJ9.c2lnbmF0dXJl",
  resumeCode: "AaH8NHIFcQ6UEIdP7pqZlgECAwQFBgcICQo",
  buyerDidToken: "WyIweDNmY2EuLi4iLCJ7XCJpYXRcIjoxNzk1MjMwMDAwfSJd",
  secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
  secretLast4: "Hh8=",
  amountAtomic: "10000000",
  usdcAtomic: "10000000",
  gasWei: "200000000000000",
  requestId: "req_c5e3f1d27cbd000003",
  livemode: false,
  health: "healthy",
  listening: true,
  status: "settled",
  delivery: "delivered",
  failureReason: null,
  failure: undefined,
  responseStatus: 204,
  durationMs: 48,
  chainId: 84532,
  number: 1,
  hasMore: false,
  name: "Demo Books",
  description: "Chess lesson",
  explorerUrl: "https://sepolia.basescan.org",
  logoUrl: "https://shop.example.com/logo.png",
  tokenAddress: usdc,
  message: "The transfer is not confirmed yet.",
  docUrl: "https://pay.example.com/docs/errors#TEST_SETTLEMENT_PENDING",
  reason: undefined,
  expected: undefined,
  actual: undefined,
  details: undefined,
  id: uuid,
  posterUrl: "https://pay.example.com/poster/k3vJ8mQ2xN5wT7pR9sB4cD",
  merchant: "Demo Books",
  publishableKey: "pk_test_4fX9mKq2LzT7vB8nR1wYc5",
  version: "2",
  nonce: `0x${"5c".repeat(32)}`,
  iss: "https://pay.example.com",
  jti: "k3vJ8mQ2xN5wT7pR9sB4cD",
  refCode: "PAY-7Q2M4XKD",
  jws: "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL3BheS5leGFtcGxlLmNvbSJ9.c2lnbmF0dXJl",
  support: "help@shop.example.com",
  email: "buyer@example.com",
  language: "en",
  audience: "https://pay.example.com",
  rpcUrl: "https://sepolia.base.org",
  onrampUrl: "https://onramp.example.com",
  symbol: "USDC",
  projectId: "4f1c9a7be2d84c6f8a0b5d3e7c1f2a90",
  relayUrl: "wss://relay.example.com",
  scheme: "exact",
  network: "eip155:84532",
  payer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  transaction: `0x${"ab".repeat(32)}`,
  error: "payment required",
  invalidMessage: undefined,
  errorMessage: undefined,
  extensions: undefined,
  invalidReason: undefined,
  errorReason: undefined,
  type: "test",
  x402Version: 1,
  resource: "https://api.example.com/report",
  value: "eyJ4NDAyVmVyc2lvbiI6Mn0=",
  accepts: [requirements],
  paymentRequirements: requirements,
  paymentPayload: {
    x402Version: 1,
    scheme: "exact",
    network: "base-sepolia",
    payload: {
      signature: `0x${"1b".repeat(65)}`,
      authorization: {
        from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        to: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
        value: "1500000",
        validAfter: "0",
        validBefore: "1795230600",
        nonce: `0x${"5c".repeat(32)}`
      }
    }
  }
}

const byPattern = (pattern: string): string | undefined => {
  if (pattern.includes("0x") && pattern.includes("{40}")) return "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
  if (pattern.includes("0x") && pattern.includes("{64}")) return `0x${"ab".repeat(32)}`
  if (pattern.includes("0x")) return `0x${"1b".repeat(65)}`
  if (/\[0-9a-f(A-F)?\]\{8\}/.test(pattern)) return uuid
  if (pattern.includes("[0-9]{1,14}")) return "10.00"
  return /\\d|0-9/.test(pattern) ? "1" : undefined
}

export const exampleOf = (document: Json, schema: unknown, name = "", depth = 0): unknown => {
  if (!isJson(schema) || depth > 12) return null
  const again = (part: unknown, field = name) => exampleOf(document, part, field, depth + 1)
  const { $ref, examples, enum: values, anyOf, oneOf, allOf, items, properties } = schema
  if ($ref === "#/components/schemas/Token") return { address: usdc, chainId: 84532 }
  if (Predicate.isString($ref)) return again(resolveRef(document, $ref))
  const [own] = listAt(examples)
  if (own !== undefined) return own
  if ("const" in schema) return schema["const"]
  const [value] = listAt(values)
  if (value !== undefined) return listAt(values).includes(named[name]) ? named[name] : value
  if (name === "status" && schema["type"] === "string") return "ok"
  if (name in named && !isJson(properties)) return named[name]
  const choices = [...listAt(oneOf), ...listAt(anyOf)]
  const [choice] = choices.filter((choice) => !isJson(choice) || choice["type"] !== "null")
  if (choice !== undefined) return again(choice)
  if (isJson(properties)) {
    const fields = Object.entries(properties).map(([field, part]) => [field, again(part, field)] as const)
    return Object.fromEntries(fields.filter(([, example]) => example !== undefined))
  }
  const parts = listAt(allOf)
  if (parts.length > 0) {
    const examplesOf = parts.map((part) => again(part))
    return examplesOf.every(isJson)
      ? Object.assign({}, ...examplesOf)
      : examplesOf.find((example) => example !== null && example !== undefined)
  }
  switch (schema["type"]) {
    case "array":
      return [again(items)]
    case "integer":
    case "number":
      return schema["minimum"] ?? 1
    case "boolean":
      return true
    case "null":
      return null
    case "object":
      return {}
    default:
      if (/At$|^(now|since|expires)/.test(name)) return time
      return byPattern(String(schema["pattern"] ?? "")) ?? name
  }
}

/** The document with an example beside the schema of every JSON body. */
export const withExamples = (document: Json): Json => {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (!isJson(value)) return value
    const schema = value["schema"]
    const isBody = isJson(schema) && !("in" in value) && !("example" in value) && !("description" in value)
    const visited = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, visit(part)]))
    return isBody ? { ...visited, example: exampleOf(document, schema) } : visited
  }
  return { ...document, paths: visit(document["paths"]), webhooks: visit(document["webhooks"]) }
}
