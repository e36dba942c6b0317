// The proxy as an MCP server on standard input and output, for agents that speak it.
import { Effect, Layer, Schema } from "effect"
import { McpProtocol, McpServer, Tool, Toolkit } from "effect/ai"
import { outcomeHeaders, type PayingFetch } from "./PayingFetch.ts"
import { readUpTo } from "./readUpTo.ts"

const maxTextBytes = 256 * 1024
/** Until an answer must have been read. */
const fetchTimeoutMillis = 120_000

const brokenOff =
  "The resource was paid and its answer broke off. Fetch again with the same requestId: it repeats this payment and makes no other."

const Fetch = Tool.make("fetch", {
  description:
    "Fetches an http(s) address. A 402 is paid from the agent's wallet within its cap, and the request is repeated once. Give the same requestId to repeat a request without paying again.",
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
    body: Schema.String,
    truncated: Schema.Boolean,
    requestId: Schema.String,
    paid: Schema.NullOr(Schema.String),
    refused: Schema.NullOr(Schema.String),
    message: Schema.NullOr(Schema.String)
  })
})

const Balance = Tool.make("balance", {
  description: "The agent's wallet, what it holds, its caps, and what is left of the last 24 hours.",
  parameters: Tool.EmptyParams,
  success: Schema.Unknown
})

const History = Tool.make("history", {
  description: "The agent's newest payments and what became of them.",
  parameters: Tool.EmptyParams,
  success: Schema.Unknown
})

const toolkit = Toolkit.make(Fetch, Balance, History)

const Summary = Schema.Struct({ agent: Schema.Record(Schema.String, Schema.Unknown) })
const decodeSummary = Schema.decodeUnknownEffect(Summary)

const readText = async (response: Response) => {
  const { bytes, cancel, isWhole } = await readUpTo(response.body, maxTextBytes)
  if (!isWhole) await cancel()
  return { body: new TextDecoder().decode(bytes.subarray(0, maxTextBytes)), truncated: !isWhole }
}

/** An MCP server that speaks on stdio until its input ends. */
export const layer = (paying: PayingFetch) => {
  const agent = Effect.promise(() => paying.agent()).pipe(
    Effect.flatMap(decodeSummary),
    Effect.map(({ agent: found }) => found),
    Effect.orDie
  )
  const handlers = toolkit.toLayer({
    fetch: ({ url, method, headers, body, requestId }) =>
      Effect.promise(async () => {
        const id = requestId ?? crypto.randomUUID()
        const response = await paying.fetch({
          requestId: id,
          url,
          method: method ?? "GET",
          headers: new Headers({ ...headers, "accept-encoding": "identity" }),
          body: body === undefined ? undefined : new TextEncoder().encode(body),
          signal: AbortSignal.timeout(fetchTimeoutMillis)
        })
        const paid = response.headers.get(outcomeHeaders.amount)
        const told = {
          status: response.status,
          contentType: response.headers.get("content-type"),
          requestId: id,
          paid
        }
        try {
          return {
            ...told,
            ...(await readText(response)),
            refused: response.headers.get(outcomeHeaders.refused),
            message: response.headers.get(outcomeHeaders.message)
          }
        } catch (error) {
          if (paid === null) throw error
          return {
            ...told,
            body: "",
            truncated: true,
            refused: "PAYMENT_OUTCOME_UNKNOWN",
            message: brokenOff
          }
        }
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
