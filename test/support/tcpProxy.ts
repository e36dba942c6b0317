// A TCP proxy whose connections can be frozen: they stay open and carry nothing, which
// is what a half-open connection looks like.
import { connect, createServer, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

export interface TcpProxy {
  readonly port: number
  /** Freezes the connections that are open now; later ones work. */
  readonly freeze: () => void
}

/** Starts a proxy to the port on this machine, for the scope. */
export const tcpProxy = (target: number): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly proxy: TcpProxy; readonly stop: () => void }>((resume) => {
        const sockets = new Set<Socket>()
        const frozen = new WeakSet<Socket>()
        const carry = (from: Socket, to: Socket) => {
          sockets.add(from)
          from.on("data", (chunk) => {
            if (!frozen.has(from)) to.write(chunk)
          })
          from.on("error", () => {})
          from.on("close", () => {
            sockets.delete(from)
            if (!frozen.has(from)) to.destroy()
          })
        }
        const server = createServer((near) => {
          const far = connect(target, "127.0.0.1")
          carry(near, far)
          carry(far, near)
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          const freeze = () => {
            for (const socket of sockets) frozen.add(socket)
          }
          const stop = () => {
            for (const socket of sockets) socket.destroy()
            server.close()
          }
          resume(Effect.succeed({ proxy: { port, freeze }, stop }))
        })
      }),
      ({ stop }) => Effect.sync(stop)
    ),
    ({ proxy }) => proxy
  )
