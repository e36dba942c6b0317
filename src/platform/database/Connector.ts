// Opens the pool's sockets to the first of several servers that responds, and watches them. A silent server is
// abandoned, and so is a standby. While no server responds, callers fail immediately: one connection is tried at a
// time, and within half a second after a failure no caller waits.
import { connect, type Socket } from "node:net"

/** The address of a server. */
export type Server = { readonly path: string } | { readonly host: string; readonly port: number }

export interface Connector {
  /**
   * A socket for one session; throws while no server is known to respond. With `silenceMillis`, the socket is
   * destroyed if its server does not respond to a write for this long, together with idle sessions that were silent as
   * well.
   */
  readonly open: (silenceMillis?: number) => Socket
  /** True if sessions are encrypted: then the connector cannot detect a silent server or a standby. */
  readonly isEncrypted: () => boolean
  /** Ends all sessions, so that the next session is with the next server. */
  readonly failOver: (why: string) => void
}

const pauseMillis = 500
/**
 * A server that ends a session this soon after its first message has refused it: a standby, or one that starts or
 * stops.
 */
const refusedMillis = 250

// Postgres protocol 3, "Message Formats". In an encrypted session, only the first message is readable.
const cancelRequest = 80_877_102
const sslRequest = 80_877_103
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])
const inHotStandby = Buffer.from("in_hot_standby\0on\0")
/** SQLSTATE of a write on a standby, in an ErrorResponse. */
const readOnly = Buffer.from("C25006\0")

/**
 * Calls `seen` with each ErrorResponse that begins in a chunk. The same bytes within a row's value are not an error.
 */
const errorReader = (seen: (body: Buffer) => void) => {
  let head = Buffer.alloc(0)
  let skip = 0
  return (chunk: Buffer) => {
    let at = 0
    while (at < chunk.length) {
      if (skip > 0) {
        const passed = Math.min(skip, chunk.length - at)
        skip -= passed
        at += passed
        continue
      }
      const taken = chunk.subarray(at, at + 5 - head.length)
      head = Buffer.concat([head, taken])
      at += taken.length
      if (head.length < 5) return
      skip = Math.max(0, head.readInt32BE(1) - 4)
      if (head[0] === 0x45) seen(chunk.subarray(at, at + skip))
      head = Buffer.alloc(0)
    }
  }
}

/** The code of a connection's first message, which has no type. */
const codeOf = (bytes: Uint8Array) => (bytes.length < 8 ? 0 : Buffer.from(bytes).readInt32BE(4))

/** Silence is counted in beats, because a process that was suspended counts only one of them. */
const beats = 4

interface Session {
  readonly socket: Socket
  /** True if it was written to and has not responded since. */
  isWaiting: boolean
  /** Beats since its last data. */
  quiet: number
  /** The consecutive beats in which it was waiting for a response. */
  silent: number
}

/** Accepts only the primary, unless `takesStandby`. */
export const makeConnector = (
  servers: readonly [Server, ...ReadonlyArray<Server>],
  { takesStandby = false } = {}
): Connector => {
  const sessions = new Set<Session>()
  let encrypted = false
  let next = 0
  let trying: Socket | undefined
  let refusedUntil = 0
  let failures = 0

  const beat = (session: Session) => {
    session.quiet += 1
    // A socket that this process is not reading shows nothing about its server.
    session.silent = session.isWaiting && !session.socket.isPaused() ? session.silent + 1 : 0
    if (session.silent <= beats) return
    const silent = () => new Error("The server is silent: no answer within the silence timeout")
    session.socket.destroy(silent())
    // Spares the next caller from finding this out on another session of the same path.
    for (const other of sessions) if (!other.isWaiting && other.quiet > beats) other.socket.destroy(silent())
  }

  const open = (silenceMillis?: number) => {
    const now = performance.now()
    if (now < refusedUntil || (failures > 0 && trying !== undefined))
      throw new Error("The server did not answer a moment ago")
    const server = servers[next % servers.length] ?? servers[0]
    const socket = connect({ ...server, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 })
    const session: Session = { socket, isWaiting: false, quiet: 0, silent: 0 }
    const triedBefore = trying
    trying = socket
    let firstCode: number | undefined
    let hasBegun = false
    let isAccepted = false
    let isStandby = false
    let isEndedByServer = false
    let acceptTimer: ReturnType<typeof setTimeout> | undefined
    const accept = () => {
      isAccepted = true
      failures = 0
    }

    const standby = () => {
      if (takesStandby || isStandby) return
      isStandby = true
      // After the driver has read the reason. The next session may reach a primary.
      setImmediate(() => socket.destroy(new Error("The server is a standby, which rejects writes")))
    }
    const readErrors = errorReader((body) => {
      if (hasBegun && body.includes(readOnly)) standby()
    })

    const write = socket.write.bind(socket)
    Object.assign(socket, {
      write: (bytes: Uint8Array, ...rest: []) => {
        if (firstCode === undefined) {
          firstCode = codeOf(bytes)
          // A cancel request has its own connection, which shows nothing about the server.
          if (firstCode === cancelRequest) trying = triedBefore
          if (firstCode === sslRequest) encrypted = true
        }
        session.isWaiting = true
        return write(bytes, ...rest)
      }
    })
    socket.on("data", (chunk: Buffer) => {
      session.isWaiting = false
      session.quiet = 0
      session.silent = 0
      if (trying === socket) trying = undefined
      if (!hasBegun && chunk.includes(inHotStandby)) standby()
      // The response to a TLS request is one byte before all messages.
      readErrors(acceptTimer === undefined && firstCode === sslRequest ? chunk.subarray(1) : chunk)
      acceptTimer ??= setTimeout(accept, refusedMillis).unref()
      if (chunk.includes(readyForQuery)) {
        // The second one completes a statement.
        if (hasBegun && !isAccepted) accept()
        hasBegun = true
      }
    })
    const ended = () => {
      isEndedByServer ||= !socket.writableEnded && !socket.destroyed
    }
    socket.once("end", ended)
    socket.once("error", ended)
    const watch =
      silenceMillis === undefined ? undefined : setInterval(beat, silenceMillis / beats, session).unref()
    sessions.add(session)
    socket.once("close", () => {
      sessions.delete(session)
      clearInterval(watch)
      clearTimeout(acceptTimer)
      if (trying === socket) trying = undefined
      // A session that this process ended, however short, was not refused.
      const isOurEnd = acceptTimer !== undefined && !isEndedByServer && !isStandby
      if (firstCode === cancelRequest || isAccepted || isOurEnd) return
      failures += 1
      // Every other server is tried before anyone pauses.
      next += 1
      if (failures >= servers.length) refusedUntil = performance.now() + pauseMillis
    })
    return socket
  }

  const failOver = (why: string) => {
    next += 1
    for (const { socket } of sessions) socket.destroy(new Error(why))
  }
  return { open, isEncrypted: () => encrypted, failOver }
}
