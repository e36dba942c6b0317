// One HTTP call of the client: time-out, retries with backoff, errors from the envelope.
import type { Envelope } from "../../platform/http/Envelope.ts"
import { QuittanceError } from "./QuittanceError.ts"

export interface QuittanceOptions {
  /** A secret key, `sk_test_…` or `sk_live_…`. Never put one into a browser. */
  readonly key: string
  /** Origin of the service, for example `https://pay.example.com`. */
  readonly baseUrl: string
  /** Replaces the global `fetch`, for tests and proxies. */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>
  /** Milliseconds for one try. Default 20,000: a test send waits for the receiver. */
  readonly timeout?: number
  /** Further tries after a 429, and after 5xx or no answer where that is safe. Default 2. */
  readonly retries?: number
}

export interface CallOptions {
  /** Ends the call when it aborts. */
  readonly signal?: AbortSignal
}

interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  readonly body?: unknown
  /** True if a call whose answer was lost may be made again. */
  readonly idempotent: boolean
  readonly signal?: AbortSignal | undefined
  /** Answers the body as it comes: the time-out ends where it begins. */
  readonly stream?: boolean
}

const maxWait = 30_000

const isEnvelope = (value: unknown): value is typeof Envelope.Encoded =>
  typeof value === "object" &&
  value !== null &&
  "error" in value &&
  typeof value.error === "object" &&
  value.error !== null &&
  "code" in value.error &&
  typeof value.error.code === "string" &&
  "message" in value.error &&
  typeof value.error.message === "string"

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const errorOf = (response: Response, body: unknown): QuittanceError => {
  const seconds = Number(response.headers.get("retry-after"))
  const retryAfter = Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
  const { status } = response
  if (isEnvelope(body)) return new QuittanceError({ ...body.error, status, retryAfter })
  return new QuittanceError({
    code: "UNKNOWN_ANSWER",
    status,
    message: `The answer (HTTP ${status}) is not from Quittance. Check baseUrl and any proxy in front of the service.`,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryable: status >= 500,
    retryAfter
  })
}

const noAnswer = (cause: unknown): QuittanceError =>
  new QuittanceError({
    code: "NO_ANSWER",
    status: 0,
    message:
      "No answer came from the service. Check baseUrl and the network; the call may have been carried out.",
    retryable: true,
    cause
  })

/** Half to all of an exponential delay, so that clients do not come back together. */
const backoff = (attempt: number) => 250 * 2 ** attempt * (0.5 + Math.random() / 2)

/** Leaves nothing on the signal, which may live as long as the caller's process. */
const wait = (millis: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", end)
      if (signal?.aborted === true) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, millis)
    signal?.addEventListener("abort", end)
    // An abort that came with the answer is heard no more.
    if (signal?.aborted === true) end()
  })

/** A function that makes calls and answers their JSON bodies. */
export const makeTransport = (options: QuittanceOptions) => {
  const { key, baseUrl, timeout = 20_000, retries = 2 } = options
  const send = options.fetch ?? ((input: string, init: RequestInit) => fetch(input, init))
  const origin = baseUrl.replace(/\/+$/, "")

  const attempt = async ({ method, path, body, signal, stream }: Call): Promise<unknown> => {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new DOMException("no answer in time", "TimeoutError")), timeout)
    try {
      const response = await send(`${origin}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          accept: stream === true ? "*/*" : "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // Elsewhere nobody vouches for the answer, and a POST that is led on may become a GET.
        redirect: "manual",
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
      })
      if (stream === true && response.ok && response.body !== null) return response.body
      const text = await response.text()
      const answer = parse(text)
      // A page, as of a proxy that asks for a login, says nothing of what was done.
      if (!response.ok || (answer === undefined && text !== "")) throw errorOf(response, answer)
      return answer
    } catch (error) {
      if (error instanceof QuittanceError || signal?.aborted === true) throw error
      throw noAnswer(error)
    } finally {
      clearTimeout(timer)
    }
  }

  const mayRetry = (error: QuittanceError, idempotent: boolean) =>
    error.status === 429 || (idempotent && (error.status >= 500 || error.status === 0))

  return async (call: Call): Promise<unknown> => {
    for (let tried = 0; ; tried++) {
      try {
        return await attempt(call)
      } catch (error) {
        if (!(error instanceof QuittanceError) || tried >= retries || !mayRetry(error, call.idempotent))
          throw error
        const asked = error.retryAfter === undefined ? backoff(tried) : error.retryAfter * 1000
        if (asked > maxWait) throw error
        await wait(asked, call.signal)
      }
    }
  }
}

export type Transport = ReturnType<typeof makeTransport>
