// One HTTP call of the client: time-out, retries with backoff, and errors from the envelope.
import type { Envelope } from "../../platform/http/Envelope.ts"
import { QuittanceError } from "./QuittanceError.ts"

export interface QuittanceOptions {
  /** A secret key, `sk_test_…` or `sk_live_…`. Never use it in a browser. */
  readonly key: string
  /** Origin of the service, for example `https://pay.example.com`. */
  readonly baseUrl: string
  /** Replaces the global `fetch`, for tests and proxies. */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>
  /** Milliseconds per try. Default: 20,000, because a test delivery waits for your endpoint. */
  readonly timeout?: number
  /** Retries after a 429 and, if repeating is safe, after a 5xx or a missing response. Default: 2. */
  readonly retries?: number
}

export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal
}

interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  readonly body?: unknown
  /** True if it is safe to repeat the call after a lost response. */
  readonly idempotent: boolean
  readonly signal?: AbortSignal | undefined
  /** Returns the body as a stream; the time-out ends when the body begins. */
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
    message: `The response (HTTP ${status}) is not from Quittance. Check baseUrl and any proxy in front of the service.`,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryable: status >= 500,
    retryAfter
  })
}

const noResponse = (cause: unknown): QuittanceError =>
  new QuittanceError({
    code: "NO_ANSWER",
    status: 0,
    message:
      "The service did not respond. Check baseUrl and the network; the call may have been carried out.",
    retryable: true,
    cause
  })

/** Waits for half to all of an exponential delay, so that clients do not return all at once. */
const backoff = (attempt: number) => 250 * 2 ** attempt * (0.5 + Math.random() / 2)

/** Removes its listener from the signal, which may live as long as the caller's process. */
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
    // The signal may have been aborted before the listener was added.
    if (signal?.aborted === true) end()
  })

/** Creates a function that makes calls and returns their JSON bodies. */
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
        // Another host's response proves nothing, and following a redirect may turn a POST into a GET.
        redirect: "manual",
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
      })
      if (stream === true && response.ok && response.body !== null) return response.body
      const text = await response.text()
      const answer = parse(text)
      // A web page, for example a proxy's login page, does not say what the service did.
      if (!response.ok || (answer === undefined && text !== "")) throw errorOf(response, answer)
      return answer
    } catch (error) {
      if (error instanceof QuittanceError || signal?.aborted === true) throw error
      throw noResponse(error)
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
        const delay = error.retryAfter === undefined ? backoff(tried) : error.retryAfter * 1000
        if (delay > maxWait) throw error
        await wait(delay, call.signal)
      }
    }
  }
}

export type Transport = ReturnType<typeof makeTransport>
