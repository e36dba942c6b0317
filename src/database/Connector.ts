// Opens the sockets of the pool, to the first of several servers that answers. While none does, callers
// are told at once: one connection is tried at a time, and whoever comes within half a second after it
// fails does not wait.
import { connect, type Socket } from "node:net"

/** Where a server listens. */
export type Server = { readonly path: string } | { readonly host: string; readonly port: number }

const restMillis = 500
/** A session that ends so soon, before a statement was answered, was refused: by a standby, or by a server that starts or stops. */
const refusedMillis = 250

/** ReadyForQuery, where it is not encrypted: the server has begun the session, or has answered a statement (protocol 3.0). */
const isReady = (chunk: Uint8Array) => {
  const at = chunk.length - 6
  return at >= 0 && chunk[at] === 0x5a && chunk[at + 4] === 5
}

/** For `stream` of the SQL client, which emits `session` and `cancel` on it: throws while no server is known to answer. */
export const makeConnector = (servers: readonly [Server, ...ReadonlyArray<Server>]): (() => Socket) => {
  let next = 0
  let trying: Socket | undefined
  let refusedUntil = 0
  let failures = 0
  return () => {
    const now = performance.now()
    if (now < refusedUntil || (failures > 0 && trying !== undefined))
      throw new Error("The server did not answer a moment ago")
    const server = servers[next % servers.length] ?? servers[0]
    const socket = connect({ ...server, noDelay: true, keepAlive: true })
    const triedBefore = trying
    trying = socket
    let kept: ReturnType<typeof setTimeout> | undefined
    let isKept = false
    let hasBegun = false
    let endedByServer = false
    let ready = 0
    const settled = () => {
      if (trying === socket) trying = undefined
    }
    const read = (chunk: Uint8Array) => {
      if (isReady(chunk)) ready += 1
      if (ready >= 2) keep()
    }
    const keep = () => {
      socket.off("data", read)
      isKept = true
      failures = 0
    }
    const ended = () => {
      endedByServer ||= !socket.writableEnded && !socket.destroyed
    }
    socket.once("data", settled)
    socket.on("data", read)
    socket.once("end", ended)
    socket.once("error", ended)
    socket.once("session", () => {
      hasBegun = true
      kept = setTimeout(keep, refusedMillis)
      kept.unref()
    })
    // The server ends the connection of a cancel request without a word. It tells nothing of the server.
    socket.once("cancel", () => {
      trying = triedBefore
      isKept = true
    })
    socket.once("close", () => {
      settled()
      clearTimeout(kept)
      // A session that this process has ended, however short, was not refused.
      if (isKept || (hasBegun && !endedByServer)) return
      failures += 1
      // Every other server is asked before anybody rests.
      next += 1
      if (failures >= servers.length) refusedUntil = performance.now() + restMillis
    })
    return socket
  }
}
