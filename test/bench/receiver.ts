// A merchant's webhook server in a process of its own, like the sender: answers 204, and reports the requests. `GET
// /state`, `GET /count` and `POST /reset` belong to the benchmark.
import { Effect } from "effect"
import { spawnProgram } from "../support/process.ts"

export interface Received {
  readonly count: number
  /** Ids that arrived more than once. */
  readonly twice: number
  /** Milliseconds since 1970 of the first message. */
  readonly firstAt: number | null
  /** The first messages, to check their contents. */
  readonly heads: ReadonlyArray<{ readonly headers: Readonly<Record<string, string>>; readonly body: string }>
}

const none: Received = { count: 0, twice: 0, firstAt: null, heads: [] }

const serve = () => {
  let state = none
  const ids = new Set<string>()
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    routes: {
      "/hook": {
        POST: async (request) => {
          const at = performance.timeOrigin + performance.now()
          const id = request.headers.get("webhook-id") ?? ""
          const body = await request.text()
          const head = { headers: Object.fromEntries(request.headers), body }
          state = {
            count: state.count + 1,
            twice: state.twice + (ids.has(id) ? 1 : 0),
            firstAt: state.firstAt ?? at,
            heads: state.heads.length < 20 ? [...state.heads, head] : state.heads
          }
          ids.add(id)
          return new Response(null, { status: 204 })
        }
      },
      "/count": () => Response.json(state.count),
      "/state": () => Response.json(state),
      "/reset": {
        POST: () => {
          state = none
          ids.clear()
          return new Response()
        }
      }
    }
  })
  console.log(server.port)
}

/** A webhook server at `127.0.0.1:port`, stopped with the scope. */
export const startReceiver = Effect.gen(function* () {
  const child = yield* spawnProgram(["test/bench/receiver.ts"], {})
  while (!child.output().includes("\n")) yield* Effect.sleep("10 millis")
  const port = Number(child.output().trim())
  const url = `http://127.0.0.1:${port}`
  return {
    port,
    hook: `${url}/hook`,
    state: async (): Promise<Received> => (await fetch(`${url}/state`)).json(),
    reset: () => fetch(`${url}/reset`, { method: "POST" }),
    /** Returns once this many messages have arrived. */
    untilReceived: async (count: number, timeoutMillis: number) => {
      const deadline = performance.now() + timeoutMillis
      while (Number(await (await fetch(`${url}/count`)).json()) < count) {
        if (performance.now() > deadline) throw new Error(`fewer than ${count} messages came in time`)
        await Bun.sleep(20)
      }
    }
  }
})

export type Receiver = Effect.Success<typeof startReceiver>

if (import.meta.main) serve()
