// One JSON-RPC node, treated as a stranger: bounded time, bounded size, answers
// decoded by schema, and its chain id asked before anything else it says counts.
import { type Duration, Effect, Redacted, Schedule, Schema, Semaphore } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import { Quantity, RpcAnswer } from "../RpcSchemas.ts"
import { NodeFailure } from "./NodeFailure.ts"
import { timedExchange } from "./timedExchange.ts"

export type RpcUrl = string | Redacted.Redacted<string>

export interface RpcLimits {
  /** For one HTTP exchange. Default 3 seconds. */
  readonly timeout: Duration.Input
  /** For a call with its retries and its wait for a free slot. Default 6 seconds. */
  readonly deadline: Duration.Input
  /** Further tries after a transport failure. Default 2. */
  readonly retries: number
  /** Largest answer that is read. Default 8 MiB. */
  readonly maxResponseBytes: number
  /** Exchanges with one node at the same time. Default 32. */
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
  /** A call on the right chain; the chain id is asked first on every new or broken connection. */
  readonly call: <A>(
    method: string,
    params: ReadonlyArray<unknown>,
    result: Schema.Decoder<A>
  ) => Effect.Effect<A, NodeFailure>
  /** A call without the chain id check. */
  readonly callUnchecked: RpcNode["call"]
  /** Asks the chain id; fails with `wrong_chain` for another than the environment's. */
  readonly checkChain: Effect.Effect<void, NodeFailure>
  /** How often a call had to ask the chain id again because its connection was new or had broken. */
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

/** Credentials in the URL become a header, which `fetch` would refuse in the URL. */
const splitCredentials = (raw: string) => {
  const url = new URL(raw)
  const headers = new Headers({ "content-type": "application/json", accept: "application/json" })
  if (url.username !== "" || url.password !== "") {
    headers.set("authorization", `Basic ${btoa(decodeURIComponent(`${url.username}:${url.password}`))}`)
    url.username = ""
    url.password = ""
  }
  return { url, headers }
}

const jitteredBackoff = (retries: number) =>
  Schedule.exponential("100 millis").pipe(
    Schedule.jittered,
    Schedule.upTo({ times: retries }),
    Schedule.setInputType<NodeFailure>(),
    Schedule.while(({ input }) => input.kind === "transport")
  )

const decodeAnswer = Schema.decodeUnknownEffect(RpcAnswer)

/** Fails with a defect only for a URL that is no URL. */
export const makeRpcNode = (env: Env, rawUrl: RpcUrl, limits: RpcLimits): RpcNode => {
  const { url, headers } = splitCredentials(typeof rawUrl === "string" ? rawUrl : Redacted.value(rawUrl))
  const slots = Semaphore.makeUnsafe(limits.concurrency)
  const backoff = jitteredBackoff(limits.retries)
  const timed = timedExchange(env, url.host)
  let nextId = 1
  let chainKnown = false
  let reconnections = 0

  const exchange = Effect.fnUntraced(function* (method: string, params: ReadonlyArray<unknown>) {
    const id = nextId++
    const text = yield* Effect.tryPromise({
      try: async (signal) => {
        const body = JSON.stringify({ jsonrpc: "2.0", id, method, params })
        const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "error" })
        if (response.status === 429 || response.status >= 500) throw new Error(`HTTP ${response.status}`)
        return await readBounded(response, limits.maxResponseBytes)
      },
      catch: () => failure("transport", `${method}: no answer`)
    }).pipe(
      Effect.timeoutOrElse({
        duration: limits.timeout,
        orElse: () => Effect.fail(failure("transport", `${method}: no answer in time`))
      })
    )
    const answer = yield* decodeAnswer(text).pipe(
      Effect.mapError(() => failure("malformed", `${method}: the answer is not JSON-RPC`))
    )
    if (answer.error !== undefined) return yield* refusal(method, answer.error)
    if (answer.id !== id) return yield* failure("malformed", `${method}: an answer to another request`)
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
        Effect.retry(backoff),
        Effect.timeoutOrElse({
          duration: limits.deadline,
          orElse: () => Effect.fail(failure("transport", `${method}: no answer in time`))
        }),
        Effect.flatMap((value) =>
          Schema.decodeUnknownEffect(result)(value).pipe(
            Effect.mapError(() => failure("malformed", `${method}: the result has another form`))
          )
        ),
        Effect.tapError((cause) =>
          Effect.sync(() => {
            // After a broken connection another machine may answer at that address.
            if (cause.kind === "transport") chainKnown = false
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
    reconnections: () => reconnections,
    call: (method, params, result) =>
      Effect.suspend(() => (chainKnown ? Effect.void : reconnect)).pipe(
        Effect.andThen(callUnchecked(method, params, result))
      )
  }
}

/** However a node words it: the call ran and did not succeed, on any node. */
const failedExecution =
  /revert|out of gas|outofgas|invalid opcode|bad jump|invalid ?jump|stack (?:under|over)flow/i

/** However a node words it: it searches fewer blocks, or tells fewer logs, than it was asked for. */
const tooWide = /\brange\b|\bresults\b|too many (?:blocks|logs)/i

const refusal = (method: string, error: { readonly code: number; readonly message: string }) => {
  if (error.code === 3 || failedExecution.test(error.message))
    return failure("reverted", `${method}: reverted`)
  // Rate limits of public nodes come as errors with HTTP 200, some with the code of what is asked too widely.
  const isLimited = error.code === -32005 || error.code === 429 || /rate limit|too many/i.test(error.message)
  if (isLimited && !tooWide.test(error.message)) {
    return failure("transport", `${method}: rate limited`)
  }
  return new NodeFailure({ kind: "refused", message: `${method}: error ${error.code}`, said: error.message })
}
