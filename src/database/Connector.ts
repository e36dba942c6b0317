// Opens the sockets of the pool. While the server does not answer, callers are told at once: one
// connection is tried at a time, and whoever comes within half a second after it fails does not wait.
import { connect, type Socket } from "node:net"

/** Where a server listens. */
export type Server = { readonly path: string } | { readonly host: string; readonly port: number }

const restMillis = 500

/** For `stream` of the SQL client: throws while the server is known not to answer. */
export const makeConnector = (server: Server): (() => Socket) => {
  let trying: Socket | undefined
  let refusedUntil = 0
  let isDown = false
  return () => {
    const now = performance.now()
    if (now < refusedUntil || (isDown && trying !== undefined))
      throw new Error("The server did not answer a moment ago")
    const socket = connect({ ...server, noDelay: true, keepAlive: true })
    trying = socket
    let answered = false
    socket.once("data", () => {
      answered = true
      isDown = false
      if (trying === socket) trying = undefined
    })
    socket.once("close", () => {
      if (trying === socket) trying = undefined
      if (answered) return
      isDown = true
      refusedUntil = performance.now() + restMillis
    })
    return socket
  }
}
