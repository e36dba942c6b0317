// One JSON-RPC node, which is not trusted: time and size are bounded, responses are decoded by schema, and its chain
// id is checked before anything else counts.
import { Clock, type Duration, Effect, Option, Redacted, Schedule, Schema, Semaphore } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import { Quantity, RpcResponse } from "../RpcSchemas.ts"
import { NodeFailure } from "./NodeFailure.ts"
import { meaningOf, readError } from "./nodeErrors.ts"
import { timedExchange } from "./timedExchange.ts"

export type RpcUrl = string | Redacted.Redacted<string>

export interface RpcLimits {
  /** For one HTTP exchange. Default 3 seconds. */
  readonly timeout: Duration.Input
  /** For a call with its retries and its wait for a free slot. Default 6 seconds. */
  readonly deadline: Duration.Input
  /** Further tries after no response, or one that says nothing about the chain. Default 2. */
  readonly retries: number
  /** The largest response that is read. Default 8 MiB. */
  readonly maxResponseBytes: number
  /** Concurrent exchanges with one node. Default 32. */
  readonly concurrency: number
}

export const defaultRpcLimits: RpcLimits = {
  timeout: "3 seconds",
  deadline: "6 seconds",
  retries: 2,
  maxResponseBytes: 8 * 1024 * 1024,
  concurrency: 32
}

export interface RpcNode {
  readonly host: string
  /** A call on the right chain. The chain id is checked first on each new or broken connection. */
  readonly call: <A>(
    method: string,
    params: ReadonlyArray<unknown>,
    result: Schema.Decoder<A>
  ) => Effect.Effect<A, NodeFailure>
  /** A call without the chain id check. */
  readonly callUnchecked: RpcNode["call"]
  /** Checks the chain id; fails with `wrong_chain` if it is not the environment's. */
  readonly checkChain: Effect.Effect<void, NodeFailure>
  /** True if the node declined a method so often in a row, and lately, that an operator must look at it. */
  readonly isRefusing: (now: number) => boolean
  /** The number of calls that had to check the chain id again because their connection was new or had broken. */
  readonly reconnections: () => number
}

const failure = (kind: NodeFailure["kind"], message: string) => new NodeFailure({ kind, message })

const readBounded = async (response: Response, limit: number): Promise<string | undefined> => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let text = ""
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > limit) {
      await response.body?.cancel().catch(() => undefined)
      return undefined
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Credentials in the URL become a header, because `fetch` refuses them in the URL. */
const splitCredentials = (raw: string) => {
  const url = new URL(raw)
  const headers = new Headers({ "content-type": "application/json", accept: "application/json" })
  if (url.username === "" && url.password === "") return { url, headers, credentials: [] }
  const password = decodeURIComponent(url.password)
  const basic = btoa(`${decodeURIComponent(url.username)}:${password}`)
  const credentials = [basic, password, url.password]
  headers.set("authorization", `Basic ${basic}`)
  url.username = ""
  url.password = ""
  return { url, headers, credentials }
}

/** True if the failure says nothing about the chain: no response, the node's own error, or a page instead of JSON. */
const isRetryable = ({ kind }: NodeFailure) =>
  kind === "transport" || kind === "declined" || kind === "malformed"

const jitteredBackoff = (retries: number) =>
  Schedule.exponential("100 millis").pipe(
    Schedule.jittered,
    Schedule.upTo({ times: retries }),
    Schedule.setInputType<NodeFailure>(),
    Schedule.while(({ input }) => isRetryable(input))
  )

/** After this many consecutive declined calls of one method, each with its retries, the node counts as refusing it. */
export const refusingAfter = 3
/** A method that is not called again says nothing about the node after this time. */
const forgottenMillis = 10 * 60_000
const maxMessageLength = 200

/** A node's message in readable form: one line, without any part of the URL that could be a key or a password. */
const makeReadable = (url: URL, credentials: ReadonlyArray<string>) => {
  const keys = [...url.pathname.split("/"), ...url.searchParams.values()].filter(({ length }) => length >= 8)
  const secrets = [...keys, ...credentials].filter(({ length }) => length > 0)
  return (nodeMessage: string) =>
    secrets
      .reduce((text, secret) => text.replaceAll(secret, "…"), nodeMessage)
      .replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, " ")
      .trim()
      .slice(0, maxMessageLength)
}

const decodeResponse = Schema.decodeUnknownOption(RpcResponse)

/** Fails with a defect only if the URL is invalid. */
export const makeRpcNode = (env: Env, rawUrl: RpcUrl, limits: RpcLimits): RpcNode => {
  const { url, headers, credentials } = splitCredentials(
    typeof rawUrl === "string" ? rawUrl : Redacted.value(rawUrl)
  )
  const slots = Semaphore.makeUnsafe(limits.concurrency)
  const backoff = jitteredBackoff(limits.retries)
  const timed = timedExchange(env, url.host)
  const readable = makeReadable(url, credentials)
  /** Consecutive declined calls by method, and the time of the last. */
  const declined = new Map<string, { readonly times: number; readonly at: number }>()
  let nextId = 1
  let chainKnown = false
  let reconnections = 0

  const exchange = Effect.fnUntraced(function* (method: string, params: ReadonlyArray<unknown>) {
    const id = nextId++
    const { location, status, text } = yield* Effect.tryPromise({
      try: async (signal) => {
        const body = JSON.stringify({ jsonrpc: "2.0", id, method, params })
        const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" })
        const text = await readBounded(response, limits.maxResponseBytes)
        return { status: response.status, location: response.headers.get("location"), text }
      },
      catch: () => failure("transport", `${method}: no answer`)
    }).pipe(
      Effect.timeoutOrElse({
        duration: limits.timeout,
        orElse: () => Effect.fail(failure("transport", `${method}: no answer in time`))
      })
    )
    // A redirect is not followed: it could lead the request's key elsewhere.
    if (status >= 300 && status < 400) {
      const to = URL.parse(location ?? "", url)?.origin
      return yield* failure("transport", `${method}: HTTP ${status}${to === undefined ? "" : ` to ${to}`}`)
    }
    const answer = Option.getOrUndefined(decodeResponse(text))
    const isBareError = status < 400 && answer?.result === undefined && typeof answer?.message === "string"
    const error = answer?.error ?? (isBareError ? answer : null)
    if (error !== null) {
      const { code, nodeMessage } = readError(error)
      const readableMessage = readable(nodeMessage)
      return yield* new NodeFailure({
        kind: meaningOf(method, code, nodeMessage, params),
        message: `${method}: error${code === undefined ? "" : ` ${code}`}`,
        isRpcError: true,
        nodeMessage: code === undefined ? readableMessage : `${readableMessage} (${code})`
      })
    }
    // A gateway in front of the node returns 5xx if it cannot reach one.
    if (status >= 400) {
      const message = `${method}: HTTP ${status}`
      const body = readable(text === undefined || text.startsWith("<") ? "" : text)
      return yield* status >= 500
        ? new NodeFailure({ kind: "transport", message, ...(body === "" ? {} : { nodeMessage: body }) })
        : new NodeFailure({ kind: "declined", message, nodeMessage: `HTTP ${status} ${body}`.trim() })
    }
    if (answer === undefined) {
      const message = `${method}: the answer is not JSON-RPC`
      // A gateway's own words or page: it refuses, and nothing is known of the node.
      if (text === undefined || text === "" || /^\s*[[{]/.test(text))
        return yield* failure("malformed", message)
      const nodeMessage = /^\s*</.test(text) ? "an HTML page" : readable(text)
      return yield* new NodeFailure({ kind: "declined", message, nodeMessage })
    }
    if (answer.result === undefined)
      return yield* failure("malformed", `${method}: neither a result nor an error`)
    if (answer.id !== id && answer.id !== String(id))
      return yield* failure("malformed", `${method}: an answer to another request`)
    return answer.result
  })

  const callUnchecked: RpcNode["call"] = (method, params, result) =>
    slots
      .withPermits(1)(
        Effect.withSpan(timed(exchange(method, params)), `rpc ${method}`, {
          kind: "client",
          attributes: { "rpc.system": "jsonrpc", "rpc.method": method, "server.address": url.host, env }
        })
      )
      .pipe(
        // Before each try, the sender checks whether the transaction is still wanted, so nothing is retried here.
        Effect.retry({ schedule: backoff, while: () => method !== "eth_sendRawTransaction" }),
        Effect.timeoutOrElse({
          duration: limits.deadline,
          orElse: () => Effect.fail(failure("transport", `${method}: no answer in time`))
        }),
        Effect.tap(() => Effect.sync(() => declined.delete(method))),
        Effect.flatMap((value) =>
          Schema.decodeUnknownEffect(result)(value).pipe(
            Effect.mapError(() => failure("malformed", `${method}: the result has another form`))
          )
        ),
        Effect.tapError(({ kind }) =>
          Effect.sync(() => {
            // After a broken connection, another machine may respond at that address.
            if (kind === "transport") chainKnown = false
            else if (kind !== "declined") declined.delete(method)
          })
        ),
        Effect.catchIf(
          ({ kind }) => kind === "declined",
          Effect.fnUntraced(function* (cause) {
            const consecutiveDeclines = (declined.get(method)?.times ?? 0) + 1
            declined.set(method, { times: consecutiveDeclines, at: yield* Clock.currentTimeMillis })
            return yield* new NodeFailure({ ...cause, message: cause.message, consecutiveDeclines })
          })
        )
      )

  const checkChain = Effect.gen(function* () {
    const actual = yield* callUnchecked("eth_chainId", [], Quantity)
    const expected = networks[env].chainId
    if (actual !== BigInt(expected)) {
      return yield* failure("wrong_chain", `serves chain ${actual}, not ${expected}`)
    }
    chainKnown = true
  })
  const reconnect = Effect.andThen(
    checkChain,
    Effect.sync(() => {
      reconnections += 1
    })
  )

  return {
    host: url.host,
    callUnchecked,
    checkChain,
    isRefusing: (now) =>
      [...declined.values()].some(({ at, times }) => times >= refusingAfter && now - at < forgottenMillis),
    reconnections: () => reconnections,
    call: (method, params, result) =>
      Effect.suspend(() => (chainKnown ? Effect.void : reconnect)).pipe(
        Effect.andThen(callUnchecked(method, params, result))
      )
  }
}
