// An RPC node that misbehaves: it stands before a real one and lags, lies,
// garbles or goes silent as the test says, and counts what it is asked.
import { Effect, Schema } from "effect"

const Request = Schema.fromJsonString(
  Schema.Struct({ id: Schema.Int, method: Schema.String, params: Schema.Array(Schema.Unknown) })
)
const Answer = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))

/** Gives the answer to a method, or undefined to pass it on. */
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
  /** Methods that were asked, in order. */
  readonly calls: Array<string>
  readonly behave: (behaviour: Behaviour) => void
}

const anyOrigin = { "access-control-allow-origin": "*", "access-control-allow-headers": "content-type" }

/** Without a `target` every method that the behaviour leaves out is an error. */
export const rpcProxy = Effect.fnUntraced(function* (
  target: string | undefined,
  first: Behaviour = () => undefined
) {
  let behaviour = first
  const calls: Array<string> = []
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
        // A chain that has stopped already, as at the end of a test.
        error: () => new Response(null, { status: 502 }),
        fetch: async (request) => {
          // Browsers' wallets ask it too.
          if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: anyOrigin })
          const body = await request.text()
          const { id, method, params } = Schema.decodeUnknownSync(Request)(body)
          calls.push(method)
          const reply = await behaviour(method, params)
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
    }
  }
  return proxy
})

/** Replaces properties of an answer that is an object, at any depth by a function of it. */
export const patch =
  (changes: Record<string, unknown>) =>
  (result: unknown): unknown =>
    typeof result === "object" && result !== null ? { ...result, ...changes } : result
