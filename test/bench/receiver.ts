// A merchant's receiver in a process of its own: answers 204, and tells when each message
// came. `GET /state` and `POST /reset` are the benchmark's.
export interface Received {
  readonly count: number
  /** Ids that came more than once. */
  readonly twice: number
  /** Milliseconds since 1970 of the first message. */
  readonly firstAt: number | null
  /** By the transaction that the message names: when it came. */
  readonly arrivals: Readonly<Record<string, number>>
  /** The first messages, for a look at what was sent. */
  readonly heads: ReadonlyArray<{ readonly headers: Readonly<Record<string, string>>; readonly body: string }>
}

/** So many messages are kept whole. */
const kept = 20

const start = () => {
  let count = 0
  let twice = 0
  let firstAt: number | null = null
  const ids = new Set<string>()
  const arrivals = new Map<string, number>()
  let heads: Array<Received["heads"][number]> = []

  const received = async (request: Request) => {
    const at = performance.timeOrigin + performance.now()
    firstAt ??= at
    const id = request.headers.get("webhook-id") ?? ""
    const body = await request.text()
    if (ids.has(id)) twice++
    ids.add(id)
    arrivals.set(/"transactionId":"(0x[0-9a-f]{64})"/.exec(body)?.[1] ?? id, at)
    if (heads.length < kept) heads.push({ headers: Object.fromEntries(request.headers), body })
    count++
    return new Response(null, { status: 204 })
  }
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    routes: {
      "/hang": { POST: () => new Promise<Response>(() => {}) },
      "/hook": { POST: received },
      "/count": () => Response.json(count),
      "/state": () => {
        const state: Received = { count, twice, firstAt, arrivals: Object.fromEntries(arrivals), heads }
        return Response.json(state)
      },
      "/reset": {
        POST: () => {
          count = 0
          twice = 0
          firstAt = null
          ids.clear()
          arrivals.clear()
          heads = []
          return new Response()
        }
      }
    }
  })
  console.log(server.port)
}

if (import.meta.main) start()
