// An RPC node that misbehaves: it is a proxy of a real one and lags, lies, garbles or goes silent as the test says, and
// counts its calls. After it has refused a transaction for lack of funds, the next balance that it returns is 0, unless
// it behaves otherwise by then.
import { Effect, Schema } from "effect"

const Request = Schema.fromJsonString(
  Schema.Struct({ id: Schema.Int, method: Schema.String, params: Schema.Array(Schema.Unknown) })
)
const Answer = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))

/** Returns the answer to a method, or undefined to pass the call on. */
export type Behaviour = (
  method: string,
  params: ReadonlyArray<unknown>
) => Reply | undefined | Promise<Reply | undefined>

export type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  /** A whole HTTP response. */
  | { readonly raw: Response }
  /** Changes the real result. */
  | { readonly change: (result: unknown) => unknown }

export interface RpcProxy {
  readonly url: string
  readonly host: string
  /** The methods called, in order. */
  readonly calls: Array<string>
  readonly behave: (behaviour: Behaviour) => void
}

const isForFunds = (reply: Reply | undefined) =>
  reply !== undefined && "error" in reply && reply.error.message.startsWith("insufficient funds")

const anyOrigin = { "access-control-allow-origin": "*", "access-control-allow-headers": "content-type" }

/** Without a `target` every method that the behaviour does not answer is an error. */
export const rpcProxy = Effect.fnUntraced(function* (
  target: string | undefined,
  first: Behaviour = () => undefined
) {
  let behaviour = first
  const calls: Array<string> = []
  let refusedForFunds = 0
  const forward = async (body: string) => {
    if (target === undefined) throw new Error("no target")
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body
    })
    return response.text()
  }
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        port: 0,
        idleTimeout: 30,
        // The chain has stopped already, as at the end of a test.
        error: () => new Response(null, { status: 502 }),
        fetch: async (request) => {
          // Browsers' wallets call it too.
          if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: anyOrigin })
          const body = await request.text()
          const { id, method, params } = Schema.decodeUnknownSync(Request)(body)
          calls.push(method)
          const reply = await behaviour(method, params)
          if (isForFunds(reply)) refusedForFunds += 1
          if (reply === undefined && method === "eth_getBalance" && refusedForFunds > 0) {
            refusedForFunds -= 1
            return Response.json({ jsonrpc: "2.0", id, result: "0x0" })
          }
          if (reply === undefined) return new Response(await forward(body), { headers: anyOrigin })
          if ("raw" in reply) return reply.raw
          if ("change" in reply) {
            const answer = Schema.decodeUnknownSync(Answer)(await forward(body))
            const { result, ...rest } = answer
            return Response.json({ ...rest, result: reply.change(result) })
          }
          return Response.json({ jsonrpc: "2.0", id, ...reply })
        }
      })
    ),
    (running) => Effect.promise(() => running.stop(true))
  )
  const proxy: RpcProxy = {
    url: String(server.url),
    host: server.url.host,
    calls,
    behave: (next) => {
      behaviour = next
      refusedForFunds = 0
    }
  }
  return proxy
})

/** Replaces properties of an object in the answer, at any depth by a function of the old value. */
export const patch =
  (changes: Record<string, unknown>) =>
  (result: unknown): unknown =>
    typeof result === "object" && result !== null ? { ...result, ...changes } : result
