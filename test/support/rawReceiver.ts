// A TCP or TLS server that answers exactly the bytes that a test scripts, and counts its connections. Listens on
// 127.0.0.1 by default.
import { createServer as createTcpServer, type Server, type Socket } from "node:net"
import { createServer as createTlsServer, type TlsOptions } from "node:tls"
import { Effect, type Scope } from "effect"

export interface RawReceiver {
  readonly port: number
  /** TCP connections so far. */
  readonly connections: () => number
  /** Connections that the other side has closed or aborted. */
  readonly closed: () => number
  /** Whole requests so far, as text. */
  readonly requests: ReadonlyArray<string>
  /** The local address of each connection: which of this machine's addresses was dialled. */
  readonly dialled: ReadonlyArray<string>
  readonly bytesWritten: () => number
}

export interface RawReceiverOptions {
  /** Called with each whole request; writes the answer as it likes. */
  readonly answer?: (socket: Socket, request: string, index: number) => void
  readonly tls?: TlsOptions
  /** Accepts, and never sends a byte, not even a handshake. */
  readonly mute?: boolean
  readonly host?: string
  readonly port?: number
}

/** A plain 200 that allows the connection to be reused. */
export const ok200 = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"

const isWhole = (text: string): boolean => {
  const head = text.indexOf("\r\n\r\n")
  if (head < 0) return false
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return text.length >= head + 4 + length
}

/** Starts a server for the scope. */
export const rawReceiver = (
  options: RawReceiverOptions = {}
): Effect.Effect<RawReceiver, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly server: Server; readonly receiver: RawReceiver; readonly stop: () => void }>(
        (resume) => {
          const requests: Array<string> = []
          const dialled: Array<string> = []
          const sockets = new Set<Socket>()
          let closed = 0
          const serve = (socket: Socket): void => {
            let text = ""
            socket.on("data", (chunk: Buffer) => {
              text += chunk.toString("latin1")
              if (!isWhole(text)) return
              requests.push(text)
              const answer = options.answer ?? ((to: Socket) => to.write(ok200))
              answer(socket, text, requests.length - 1)
              text = ""
            })
            socket.on("error", () => {})
          }
          const track = (socket: Socket): void => {
            sockets.add(socket)
            dialled.push(socket.localAddress ?? "")
            socket.on("error", () => {})
            socket.on("close", () => {
              closed++
              sockets.delete(socket)
            })
            if (options.mute) socket.resume()
          }
          const server: Server =
            options.tls === undefined ? createTcpServer() : createTlsServer(options.tls, serve)
          server.on("connection", track)
          server.on("tlsClientError", () => {})
          if (options.tls === undefined && !options.mute) server.on("connection", serve)
          server.listen(options.port ?? 0, options.host ?? "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" && address !== null ? address.port : 0
            const receiver: RawReceiver = {
              port,
              connections: () => dialled.length,
              closed: () => closed,
              requests,
              dialled,
              bytesWritten: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0)
            }
            const stop = (): void => {
              for (const socket of sockets) socket.destroy()
              server.close()
            }
            resume(Effect.succeed({ server, receiver, stop }))
          })
        }
      ),
      ({ stop }) => Effect.sync(stop)
    ),
    ({ receiver }) => receiver
  )
