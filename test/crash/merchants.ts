// The merchants' webhook servers: one server that records every request, and may hold one while the service is killed.
export interface Received {
  readonly id: string
  readonly at: number
  readonly body: string
  readonly signature: string
  readonly answered: number
}

export interface Receiver {
  readonly port: number
  readonly requests: ReadonlyArray<Received>
  /** Called with the next request before its answer, once. */
  hold: ((id: string) => Promise<void>) | undefined
  readonly stop: () => void
}

/** The ids decide which deliveries are refused at first: three in a hundred. */
const isRefused = (id: string): boolean => Number.parseInt(id.slice(-4), 16) % 100 < 3

/** Starts the server. With `refusals` some deliveries are refused once. */
export const startReceiver = (refusals: boolean): Receiver => {
  const requests: Array<Received> = []
  const seen = new Map<string, number>()
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: async (request) => {
      const body = await request.text()
      const id = request.headers.get("webhook-id") ?? ""
      const at = Date.now()
      const count = (seen.get(id) ?? 0) + 1
      seen.set(id, count)
      const answered = refusals && count === 1 && isRefused(id) ? 503 : 200
      requests.push({ id, at, body, signature: request.headers.get("x-service-signature") ?? "", answered })
      const hold = receiver.hold
      receiver.hold = undefined
      if (hold !== undefined) await hold(id)
      return new Response("noted", { status: answered })
    }
  })
  const receiver: Receiver = {
    port: server.port ?? 0,
    requests,
    hold: undefined,
    stop: () => void server.stop(true)
  }
  return receiver
}
