// A TCP proxy whose path can fail: connections, the open ones or all, that stay open and transfer nothing, like a
// half-open connection; and connections that are cut.
import { connect, createServer, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

export interface TcpProxy {
  readonly port: number
  /** Freezes the connections that are open now; later ones work. */
  readonly freeze: () => void
  /** All connections, later ones too, transfer nothing until `resume`; bytes that arrived until then are passed on. */
  readonly stall: () => void
  readonly resume: () => void
  /** Ends all connections. */
  readonly cut: () => void
}

/** Starts a proxy to the port on this machine, for the scope; `answered` sees the bytes that come back. */
export const tcpProxy = (
  target: number,
  {
    host = "127.0.0.1",
    answered
  }: { readonly host?: string; readonly answered?: (chunk: Buffer) => void } = {}
): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly proxy: TcpProxy; readonly stop: () => void }>((resume) => {
        const sockets = new Set<Socket>()
        const frozen = new WeakSet<Socket>()
        let stalled = false
        const carry = (from: Socket, to: Socket) => {
          sockets.add(from)
          if (stalled) from.pause()
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
          if (answered !== undefined) far.on("data", answered)
          carry(near, far)
          carry(far, near)
        })
        server.listen(0, host, () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          const cut = () => {
            for (const socket of sockets) socket.destroy()
          }
          const proxy: TcpProxy = {
            port,
            cut,
            freeze: () => {
              for (const socket of sockets) frozen.add(socket)
            },
            stall: () => {
              stalled = true
              for (const socket of sockets) socket.pause()
            },
            resume: () => {
              stalled = false
              for (const socket of sockets) socket.resume()
            }
          }
          const stop = () => {
            cut()
            server.close()
          }
          resume(Effect.succeed({ proxy, stop }))
        })
      }),
      ({ stop }) => Effect.sync(stop)
    ),
    ({ proxy }) => proxy
  )
