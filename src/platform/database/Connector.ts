// Opens the sockets of the pool, to the first of several servers that answers, and watches them: a silent server is
// given up, a standby is left. While no server answers, callers are told at once: one connection is tried at a
// time, and a caller within half a second after it fails does not wait.
import { connect, type Socket } from "node:net"

/** The address of a server. */
export type Server = { readonly path: string } | { readonly host: string; readonly port: number }

export interface Connector {
  /**
   * A socket for one session; throws while no server is known to answer. With `silenceMillis` it is destroyed once its
   * server has said nothing for so long after it was written to, and with it the idle sessions that were as silent.
   */
  readonly open: (silenceMillis?: number) => Socket
  /** True if sessions are encrypted: then it cannot see that their server is silent, or a standby. */
  readonly isEncrypted: () => boolean
  /** Ends every session, so that the next one is with the next server. */
  readonly leave: (why: string) => void
}

const restMillis = 500
/** A server that ends a session so soon after its first word has refused it: a standby, or one that starts or stops. */
const refusedMillis = 250

// Postgres protocol 3, "Message Formats". An encrypted session shows its first message alone.
const cancelRequest = 80_877_102
const sslRequest = 80_877_103
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])
const inHotStandby = Buffer.from("in_hot_standby\0on\0")
/** SQLSTATE of a write on a standby, in an ErrorResponse. */
const readOnly = Buffer.from("C25006\0")

/** Calls `seen` with each ErrorResponse that begins in a chunk: its bytes in a row's value are no error. */
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

/** Silence is counted in so many beats: a process that stood still for long has counted one of them. */
const beats = 4

interface Session {
  readonly socket: Socket
  /** It was written to since it was heard. */
  isWaiting: boolean
  /** Beats since it was heard. */
  quiet: number
  /** The sessions among them that were waiting for a response. */
  silent: number
}

/** To the primary alone, unless `takesStandby`. */
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
    // A socket that this process does not read says nothing of its server.
    session.silent = session.isWaiting && !session.socket.isPaused() ? session.silent + 1 : 0
    if (session.silent <= beats) return
    const silent = () => new Error("The server is silent: no answer within the silence timeout")
    session.socket.destroy(silent())
    // The next caller is not to find out the same way on another session of the same path.
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
    let isKept = false
    let isStandby = false
    let isEndedByServer = false
    let keepTimer: ReturnType<typeof setTimeout> | undefined
    const keep = () => {
      isKept = true
      failures = 0
    }

    const standby = () => {
      if (takesStandby || isStandby) return
      isStandby = true
      // Once the driver has read why. A session may be the primary's the next time.
      setImmediate(() => socket.destroy(new Error("The server is a standby, which takes no writes")))
    }
    const readErrors = errorReader((body) => {
      if (hasBegun && body.includes(readOnly)) standby()
    })

    const write = socket.write.bind(socket)
    Object.assign(socket, {
      write: (bytes: Uint8Array, ...rest: []) => {
        if (firstCode === undefined) {
          firstCode = codeOf(bytes)
          // A cancel request has a connection of its own, which tells nothing of the server.
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
      // The answer to a request for TLS is one byte before all messages.
      readErrors(keepTimer === undefined && firstCode === sslRequest ? chunk.subarray(1) : chunk)
      keepTimer ??= setTimeout(keep, refusedMillis).unref()
      if (chunk.includes(readyForQuery)) {
        // The second one answers a statement.
        if (hasBegun && !isKept) keep()
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
      clearTimeout(keepTimer)
      if (trying === socket) trying = undefined
      // A session that this process has ended, however short, was not refused.
      const isOurEnd = keepTimer !== undefined && !isEndedByServer && !isStandby
      if (firstCode === cancelRequest || isKept || isOurEnd) return
      failures += 1
      // Every other server is asked before anybody rests.
      next += 1
      if (failures >= servers.length) refusedUntil = performance.now() + restMillis
    })
    return socket
  }

  const leave = (why: string) => {
    next += 1
    for (const { socket } of sessions) socket.destroy(new Error(why))
  }
  return { open, isEncrypted: () => encrypted, leave }
}
