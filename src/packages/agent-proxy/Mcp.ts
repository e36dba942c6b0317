// The proxy as an MCP server on standard input and output.
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Layer, Option, Schema } from "effect"
import { McpProtocol, McpServer, Tool, Toolkit } from "effect/ai"
import { outcomeHeaders, type PayingFetch } from "./PayingFetch.ts"
import { readUpTo } from "./readUpTo.ts"
import { contentOf, makeSharedCalls } from "./sharedCalls.ts"

const maxTextBytes = 256 * 1024
/** Time within which a complete response must have arrived. */
const fetchTimeoutMillis = 120_000
/** Clients give up after a minute by default; before that, the tool reports a call in progress. */
const answerWithinMillis = 50_000

const repeated =
  "This is the paid response to your earlier identical call. Nothing more was paid. To buy again, pass a new requestId."
const brokenOff =
  "The server was paid, but its response broke off. Fetch again with the same requestId: this sends the same payment again and makes no second one."

/** The reason why a tool did nothing. */
const Refused = Schema.Struct({ code: Schema.String, message: Schema.String })

const Fetch = Tool.make("fetch", {
  description:
    "Fetches an http(s) address. A 402 is paid from the agent's wallet within its cap, and the request is repeated once. A redirect is not followed: fetch its location. Pass the same requestId to repeat a request without paying again. An identical call within five minutes gets the same paid response again: to buy again, pass a new requestId.",
  parameters: Schema.Struct({
    url: Schema.String,
    method: Schema.optionalKey(Schema.Literals(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])),
    headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    body: Schema.optionalKey(Schema.String),
    requestId: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9._:-]{1,128}$/)))
  }),
  success: Schema.Struct({
    status: Schema.Int,
    contentType: Schema.NullOr(Schema.String),
    location: Schema.NullOr(Schema.String),
    body: Schema.String,
    truncated: Schema.Boolean,
    requestId: Schema.String,
    paid: Schema.NullOr(Schema.String),
    refused: Schema.NullOr(Schema.String),
    message: Schema.NullOr(Schema.String)
  }),
  failure: Refused
})

const Balance = Tool.make("balance", {
  description: "The agent's wallet, its balances, its caps, and what is left of the last 24 hours.",
  parameters: Tool.EmptyParams,
  success: Schema.Unknown,
  failure: Refused
})

const History = Tool.make("history", {
  description: "The agent's newest payments and what became of them.",
  parameters: Tool.EmptyParams,
  success: Schema.Unknown,
  failure: Refused
})

const toolkit = Toolkit.make(Fetch, Balance, History)

const Summary = Schema.Struct({ agent: Schema.Record(Schema.String, Schema.Unknown) })
const decodeSummary = Schema.decodeUnknownOption(Summary)
const decodeEnvelope = Schema.decodeUnknownOption(Schema.Struct({ error: Refused }))

const serviceSilent = {
  code: "SERVICE_UNAVAILABLE",
  message: "The payment service does not respond. Try again later."
}

const readText = async (response: Response) => {
  const { bytes, cancel, isWhole } = await readUpTo(response.body, maxTextBytes)
  if (!isWhole) await cancel()
  return { body: new TextDecoder().decode(bytes.subarray(0, maxTextBytes)), truncated: !isWhole }
}

interface FetchCall {
  readonly target: URL
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array<ArrayBuffer> | undefined
}

/** An MCP server that speaks on stdio until its input ends. */
export const layer = (paying: PayingFetch) => {
  const agent = Effect.tryPromise({ try: () => paying.agent(), catch: () => serviceSilent }).pipe(
    Effect.flatMap((answer) =>
      Option.match(decodeSummary(answer), {
        onSome: ({ agent: summary }) => Effect.succeed(summary),
        onNone: () =>
          Effect.fail(
            Option.match(decodeEnvelope(answer), {
              onSome: ({ error: { code, message } }) => ({ code, message }),
              onNone: () => serviceSilent
            })
          )
      })
    )
  )
  /** The complete result of one request, for the agent. */
  const answerOf = async (id: string, { target, ...request }: FetchCall) => {
    const response = await paying.fetch(
      { ...request, signal: AbortSignal.timeout(fetchTimeoutMillis) },
      ({ pay }) => pay(id)
    )
    const paid = response.headers.get(outcomeHeaders.amount)
    const location = response.headers.get("location")
    const summary = {
      status: response.status,
      contentType: response.headers.get("content-type"),
      location: location === null ? null : (URL.parse(location, target)?.href ?? location),
      requestId: id,
      paid
    }
    try {
      return {
        ...summary,
        ...(await readText(response)),
        refused: response.headers.get(outcomeHeaders.refused),
        message: response.headers.get(outcomeHeaders.message)
      }
    } catch (error) {
      if (paid === null) throw error
      return { ...summary, body: "", truncated: true, refused: "PAYMENT_OUTCOME_UNKNOWN", message: brokenOff }
    }
  }
  const calls = makeSharedCalls<Awaited<ReturnType<typeof answerOf>>>()

  const handlers = toolkit.toLayer({
    fetch: Effect.fnUntraced(function* ({ url, method, headers, body, requestId }) {
      const target = URL.parse(url)
      if (target === null || !/^https?:$/.test(target.protocol))
        return yield* Effect.fail({ code: "NO_TARGET", message: "Give an http(s) address." })
      const sent = yield* Effect.try({
        try: () => {
          const all = new Headers(headers)
          // The agent needs text, not a compressed body. `set` replaces the header in any spelling.
          all.set("accept-encoding", "identity")
          return all
        },
        catch: () => ({ code: "INVALID_HEADERS", message: "A header's name or value is not valid." })
      })
      const request = {
        target,
        url,
        method: method ?? "GET",
        headers: sent,
        body: body === undefined ? undefined : new TextEncoder().encode(body)
      }
      const content = contentOf(request.method, target.href, sent, request.body)
      const call = calls.join(requestId, content, (id) => answerOf(id, request))
      const answer = yield* Effect.tryPromise({
        // Fails only before anything is paid.
        catch: () => ({
          code: "UPSTREAM_UNREACHABLE",
          message: `${target.host} does not respond, or its response broke off. Nothing was paid.`
        }),
        try: () => Promise.race([call.answer, sleep(answerWithinMillis, undefined, { ref: false })])
      }).pipe(Effect.tapError(() => Effect.sync(call.done)))
      if (answer !== undefined) {
        // The client may have left. An answer without the goods is not given again: its payment is sent again.
        if (answer.refused === "PAYMENT_ENDED") call.end()
        else if (answer.paid === null) call.done()
        else call.keep(answer.refused === null && answer.status < 500 ? answer.body.length : Infinity)
        return call.isRepeated && answer.refused === null ? { ...answer, message: repeated } : answer
      }
      return yield* Effect.fail({
        code: "STILL_UNDER_WAY",
        message: `${target.host} has not responded yet, and may have been paid. Fetch again with requestId ${call.id}: it waits for the same response and makes no other payment.`
      })
    }),
    balance: () => Effect.map(agent, ({ payments: _payments, ...rest }) => rest),
    history: () => Effect.map(agent, ({ payments }) => payments)
  })
  return McpServer.layerStdio({
    name: "quittance-agent",
    version: "0.1.0",
    protocols: [
      McpProtocol.v2025_11_25,
      McpProtocol.v2025_06_18,
      McpProtocol.v2025_03_26,
      McpProtocol.v2026_07_28
    ],
    registrations: McpServer.toolkit(toolkit).pipe(Layer.provide(handlers))
  })
}
