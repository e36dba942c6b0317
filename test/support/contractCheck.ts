// Checks every response of the suite against the published OpenAPI document: status declared, body valid, common
// headers present.

import Ajv2020 from "ajv/dist/2020"
import addFormats from "ajv-formats"
import { Effect } from "effect"
import { openApiDocument } from "../../src/app/openapi/Documents.ts"
import { errorCodes } from "../../src/domain/ErrorCode.ts"
import { networks } from "../../src/domain/networks.ts"
import type { AnswerBody } from "./AnswerBody.ts"

const document = JSON.parse(JSON.stringify(Effect.runSync(openApiDocument("http://localhost:8787"))))
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats(ajv)
ajv.addSchema({ $id: "openapi", ...document })

interface Route {
  readonly template: string
  readonly pattern: RegExp
}

const routes: ReadonlyArray<Route> = Object.keys(document.paths).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, "[^/]+")}$`)
}))

const validators = new Map<string, ReturnType<typeof ajv.compile>>()
const validatorAt = (pointer: string) => {
  const found = validators.get(pointer)
  if (found !== undefined) return found
  const made = ajv.compile({ $ref: `openapi#${pointer}` })
  validators.set(pointer, made)
  return made
}
const escape = (part: string) => part.replaceAll("~", "~0").replaceAll("/", "~1")

const envelope = () => validatorAt("/components/schemas/ErrorEnvelope")

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: AnswerBody
}

/** The invariants of docs/contract.md 2.1, wherever a payment appears. */
const brokenInvariant = (
  payment: Answer["body"]["payment"] | Answer["body"]["payments"][number]
): string | undefined => {
  const { status, env, livemode, token } = payment
  if (livemode !== (env === "live")) return "livemode does not match env"
  const network = env === "live" ? networks.live : networks.test
  if (token.address !== network.usdc.address || token.chainId !== network.chainId)
    return "token does not match env"
  const evidence = ["settledAt", "reportedAt", "reportedTransactionId", "payerAddress"] as const
  if (status === "settled" && evidence.some((field) => payment[field] === undefined))
    return "settled without evidence"
  if (status === "pending" && ("settledAt" in payment || "failureReason" in payment))
    return "pending with an outcome"
  if (status === "failed" && !payment.failureReason) return "failed without a reason"
  return undefined
}

/** The rule that a response breaks, or undefined. */
export const contractBreak = (method: string, path: string, answer: Answer): string | undefined => {
  const { status, headers, text, body } = answer
  // Browsers cache only the checkout's script, and revalidate it by its tag.
  const caching = /^\/checkout\.js(\?|$)/.test(path) ? "no-cache" : "no-store"
  if (headers.get("cache-control") !== caching) return `cache-control is not ${caching}`
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(headers.get("x-request-id") ?? "")) return "no x-request-id"
  if (status >= 500 && status !== 503) return `status ${status}`
  // As the client sends it: dot segments are resolved before the request leaves.
  const pathname = URL.parse(path, "http://localhost")?.pathname ?? "/"
  const withoutBody = method === "HEAD" || status === 204
  if (withoutBody) return text === "" ? undefined : "a body where none may be"
  // x402 has its own body for 402.
  const isX402 = status === 402 && body?.x402Version === 1
  // Pages.test.ts holds to whom the page goes.
  const isPage = status === 404 && headers.get("content-type")?.startsWith("text/html") === true
  if (isPage) return pathname.startsWith("/api/") ? "a page in place of an error" : undefined
  if (!isX402 && (status >= 400 || body?.error !== undefined)) {
    if (!headers.get("content-type")?.startsWith("application/json")) return "an error that is not JSON"
    if (status >= 400 && !envelope()(body)) return `not the envelope: ${ajv.errorsText(envelope().errors)}`
    const code: unknown = body.error.code
    const known = Object.entries(errorCodes).find(([name]) => name === code)?.[1]
    if (known?.status !== status) return `code ${String(code)} with status ${status}`
    if (body.error.requestId !== headers.get("x-request-id"))
      return "envelope and header name different requests"
    if (status === 429 && !/^[1-9]\d*$/.test(headers.get("retry-after") ?? ""))
      return "429 without retry-after"
  }
  for (const payment of [body?.payment, ...(body?.payments ?? [])]) {
    const broken = payment === undefined ? undefined : brokenInvariant(payment)
    if (broken !== undefined) return `${broken}: ${text.slice(0, 300)}`
  }
  const route = routes.find((one) => one.pattern.test(pathname))
  const operation = route === undefined ? undefined : document.paths[route.template][method.toLowerCase()]
  if (route === undefined || operation === undefined) return undefined
  const declared = operation.responses[String(status)]
  if (declared === undefined) return `${method} ${route.template} does not declare ${status}`
  const inPlace = ["paths", route.template, method.toLowerCase(), "responses", String(status)]
  const place = "$ref" in declared ? declared.$ref.slice(1) : `/${inPlace.map(escape).join("/")}`
  const { content } = "$ref" in declared ? document.components.responses[place.split("/").at(-1)] : declared
  // A stream has no value to check against a schema.
  if (content === undefined || "text/csv" in content) return undefined
  const validate = validatorAt(`${place}/content/${escape("application/json")}/schema`)
  return validate(body)
    ? undefined
    : `${method} ${route.template} ${status}: ${ajv.errorsText(validate.errors)}: ${text.slice(0, 300)}`
}

export interface Call {
  readonly method: string
  readonly path: string
  readonly key?: string | undefined
  /** A value is sent as JSON; a string or bytes as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request and checks the answer against the contract. */
export const send = async (baseUrl: string, call: Call): Promise<Answer> => {
  const { method, path, key, body, headers } = call
  const raw = typeof body === "string" || body instanceof Uint8Array
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) })
  })
  const text = await response.text()
  const json = response.headers.get("content-type")?.startsWith("application/json") === true && text !== ""
  const answer: Answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: json ? JSON.parse(text) : undefined
  }
  const broken = contractBreak(method, path, answer)
  if (broken !== undefined)
    throw new Error(`${method} ${path} breaks the contract: ${broken}\n${text.slice(0, 500)}`)
  return answer
}
