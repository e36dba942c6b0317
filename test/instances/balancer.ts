// A round-robin TCP balancer that checks /readyz. It tries another instance only if a connection was never accepted;
// data sent to one instance is sent to no other.
import { connect, createServer, type Socket } from "node:net"

interface Backend {
  readonly port: number
  readonly connections: Set<Socket>
  ready: boolean
}

export interface Balancer {
  readonly url: string
  readonly port: number
  readonly add: (port: number) => void
  readonly remove: (port: number) => void
  readonly isReady: (port: number) => boolean
  readonly stop: () => void
}

export const startBalancer = async (): Promise<Balancer> => {
  const backends: Array<Backend> = []
  let turn = 0

  const look = async (backend: Backend) => {
    const answer = await fetch(`http://127.0.0.1:${backend.port}/readyz`, {
      headers: { connection: "close" },
      signal: AbortSignal.timeout(3_000)
    }).catch(() => undefined)
    backend.ready = answer?.status === 200
  }
  const looks = setInterval(() => backends.forEach((one) => void look(one)), 100)

  const forward = (near: Socket, left: ReadonlyArray<Backend>) => {
    const [backend, ...others] = left
    if (backend === undefined) return void near.destroy()
    const far = connect(backend.port, "127.0.0.1")
    far.once("error", () => {
      if (far.bytesWritten === 0 && !backend.connections.has(near)) forward(near, others)
    })
    far.once("connect", () => {
      backend.connections.add(near)
      near.pipe(far)
      far.pipe(near)
    })
    far.once("close", () => {
      if (!backend.connections.delete(near)) return
      near.destroy()
    })
    near.on("close", () => far.destroy())
  }

  const server = createServer((near) => {
    near.on("error", () => {})
    turn += 1
    const ready = backends.filter((one) => one.ready)
    forward(near, [...ready.slice(turn % ready.length), ...ready.slice(0, turn % ready.length)])
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const find = (wanted: number) => backends.find((one) => one.port === wanted)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    add: (added) => {
      const backend: Backend = { port: added, connections: new Set(), ready: false }
      backends.push(backend)
      void look(backend)
    },
    remove: (removed) => {
      const index = backends.findIndex((one) => one.port === removed)
      if (index !== -1) backends.splice(index, 1)
    },
    isReady: (wanted) => find(wanted)?.ready === true,
    stop: () => {
      clearInterval(looks)
      server.close()
      for (const { connections } of backends) for (const socket of connections) socket.destroy()
    }
  }
}
