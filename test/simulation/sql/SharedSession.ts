// One PGlite, spoken to by any number of connections in the wire protocol. It is one session: whoever is in
// a transaction keeps the others waiting. Answers come at once and in order, so that a run replays.
import { Duplex } from "node:stream"
import type { PGlite } from "@electric-sql/pglite"
import type { Owner, World } from "../World.ts"

/** Of the world's time, at whose end PGlite, whose one session cannot end, answers nothing any more. */
const idleTimeout = "idle_session_timeout"

const [readyForQuery, query, sync, terminate] = ["Z", "Q", "S", "X"].map((letter) => letter.charCodeAt(0))

const message = (type: string, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const parameters = {
  server_version: "18.0",
  server_encoding: "UTF8",
  client_encoding: "UTF8",
  DateStyle: "ISO, MDY",
  integer_datetimes: "on",
  standard_conforming_strings: "on",
  TimeZone: "UTC",
  in_hot_standby: "off",
  default_transaction_read_only: "off"
}
/** What a server says to a connection that it trusts. */
const welcome = Buffer.concat([
  message("R", int32(0)),
  ...Object.entries(parameters).map(([name, value]) => message("S", Buffer.from(`${name}\0${value}\0`))),
  message("K", int32(1), int32(1)),
  message("Z", Buffer.from("I"))
])

class Connection extends Duplex {
  readonly owner: Owner
  /** Whole messages up to a Sync or a query, in order. */
  readonly waiting: Array<Buffer> = []
  #rest = Buffer.alloc(0)
  #isStarted = false
  readonly #session: SharedSession
  /** Whether the other end has just been killed. */
  readonly isCut: () => boolean

  constructor(session: SharedSession, owner: Owner, isCut: () => boolean) {
    super()
    this.#session = session
    this.owner = owner
    this.isCut = isCut
  }

  override _read(): void {}

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#session.leave(this)
    done(error)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    if (!this.#isStarted) {
      this.#isStarted = true
      this.#rest = this.#rest.subarray(this.#rest.readInt32BE(0))
      this.push(welcome)
    }
    let end = 0
    let begin = 0
    while (end + 5 <= this.#rest.length) {
      const next = end + 1 + this.#rest.readInt32BE(end + 1)
      if (next > this.#rest.length) break
      const type = this.#rest[end]
      end = next
      if (type === terminate) {
        this.push(null)
        begin = end
      } else if (type === sync || type === query) {
        this.waiting.push(Buffer.from(this.#rest.subarray(begin, end)))
        begin = end
      }
    }
    this.#rest = Buffer.from(this.#rest.subarray(begin))
    done()
    this.#session.work()
  }
}

/** The transaction status of the last ReadyForQuery. */
const statusIn = (answer: Uint8Array): string => {
  const at = answer.length - 6
  return answer[at] === readyForQuery ? String.fromCharCode(answer[at + 5] ?? 0) : "I"
}

export class SharedSession {
  readonly #pglite: PGlite
  #connections: Array<Connection> = []
  /** Who is in a transaction. */
  #holder: Connection | undefined
  #world: World | undefined

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  close(): Promise<void> {
    return this.#pglite.close()
  }

  /** From now on its connections are of the world's instances. */
  begin(world: World): void {
    this.#world = world
  }

  /** `isCut` is asked before each statement and before its answer. */
  connect(isCut: () => boolean = () => false): Duplex {
    const owner = this.#world?.running ?? { name: "", alive: true, skewMillis: 0 }
    const connection = new Connection(this, owner, isCut)
    this.#connections.push(connection)
    return connection
  }

  /** Nobody is in a transaction: what is read now is committed. */
  get isIdle(): boolean {
    return this.#holder === undefined
  }

  /** One query past all connections; its rows' first columns. */
  run(text: string): ReadonlyArray<string> {
    const answer = Buffer.from(this.#pglite.execProtocolRawSync(message("Q", Buffer.from(`${text}\0`))))
    const rows: Array<string> = []
    for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readInt32BE(at + 1)) {
      const type = String.fromCharCode(answer.readUInt8(at))
      if (type === "E") throw new Error(`${text}: ${answer.subarray(at + 5, at + 300).toString("latin1")}`)
      if (type !== "D") continue
      const length = answer.readInt32BE(at + 7)
      rows.push(length < 0 ? "" : answer.subarray(at + 11, at + 11 + length).toString("utf8"))
    }
    return rows
  }

  leave(connection: Connection): void {
    this.#connections = this.#connections.filter((one) => one !== connection)
    if (this.#holder !== connection) return
    this.#holder = undefined
    this.run("ROLLBACK")
  }

  /** Its session ends, with its locks and settings. */
  cut(connection: Connection): void {
    this.leave(connection)
    this.run("SELECT pg_advisory_unlock_all(); RESET ALL")
  }

  /** What an abandoned instance had not committed never was. */
  abandon(owner: Owner): void {
    for (const connection of this.#connections.filter((one) => one.owner === owner)) this.leave(connection)
    this.work()
  }

  work(): void {
    while (true) {
      const next = this.#holder ?? this.#connections.find(({ waiting }) => waiting.length > 0)
      const messages = next?.waiting.shift()
      if (next === undefined || messages === undefined) return
      if (next.isCut()) {
        this.cut(next)
        continue
      }
      const answer = this.#pglite.execProtocolRawSync(messages)
      this.#holder = statusIn(answer) === "I" ? undefined : next
      if (messages.includes(idleTimeout))
        this.run(`RESET ${idleTimeout}; RESET idle_in_transaction_session_timeout`)
      if (next.isCut()) this.cut(next)
      else next.push(Buffer.from(answer))
    }
  }
}
