// One PGlite behind any number of connections in the wire protocol. It is one session: an open transaction makes the
// other connections wait. Answers come at once and in order, so that a run replays.
import { Duplex } from "node:stream"
import type { PGlite } from "@electric-sql/pglite"
import type { Owner, World } from "../World.ts"

/** PGlite's one session cannot be replaced: after this time of the world it would answer nothing any more. */
const idleTimeout = "idle_session_timeout"

const [readyForQuery, parse, bind, query, sync, terminate] = [..."ZPBQSX"].map((letter) =>
  letter.charCodeAt(0)
)

/** A statement that may change rows that the invariants read. */
const changesRows =
  /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(?:alerts|incoming_transfers|payment_attempts|payments|refunds|wallet_transactions|webhook_attempts|webhook_deliveries|x402_settlements)\b/i

/** Messages up to a Sync or a query. */
interface Batch {
  readonly messages: Buffer
  readonly changesRows: boolean
}

/** Up to the next zero byte. */
const textAt = (body: Buffer, from: number): string => body.toString("latin1", from, body.indexOf(0, from))

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
/** A server's greeting to a trusted connection. */
const welcome = Buffer.concat([
  message("R", int32(0)),
  ...Object.entries(parameters).map(([name, value]) => message("S", Buffer.from(`${name}\0${value}\0`))),
  message("K", int32(1), int32(1)),
  message("Z", Buffer.from("I"))
])

class Connection extends Duplex {
  readonly owner: Owner
  /** In order. */
  readonly waiting: Array<Batch> = []
  /** The names of its prepared statements that change rows. */
  readonly #changing = new Set<string>()
  #rest = Buffer.alloc(0)
  #isStarted = false
  readonly #session: SharedSession

  constructor(session: SharedSession, owner: Owner) {
    super()
    this.#session = session
    this.owner = owner
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
    let changes = false
    while (end + 5 <= this.#rest.length) {
      const next = end + 1 + this.#rest.readInt32BE(end + 1)
      if (next > this.#rest.length) break
      const type = this.#rest[end]
      changes ||= this.#changesRows(type, this.#rest.subarray(end + 5, next))
      end = next
      if (type === terminate) {
        this.push(null)
        begin = end
      } else if (type === sync || type === query) {
        this.waiting.push({ messages: Buffer.from(this.#rest.subarray(begin, end)), changesRows: changes })
        begin = end
        changes = false
      }
    }
    this.#rest = Buffer.from(this.#rest.subarray(begin))
    done()
    this.#session.work()
  }

  #changesRows(type: number | undefined, body: Buffer): boolean {
    if (type === query) return changesRows.test(textAt(body, 0))
    if (type === bind) return this.#changing.has(textAt(body, body.indexOf(0) + 1))
    if (type !== parse) return false
    const name = textAt(body, 0)
    if (changesRows.test(textAt(body, name.length + 1))) this.#changing.add(name)
    else this.#changing.delete(name)
    return false
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
  /** The connection in a transaction. */
  #holder: Connection | undefined
  #world: World | undefined
  #onChange: () => void = () => {}
  /** True if rows may have changed since no transaction was last open. */
  #mayHaveChanged = false
  /** The number of the next transaction that writes. */
  #nextTransaction = ""

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  close(): Promise<void> {
    return this.#pglite.close()
  }

  /** From now on its connections belong to the world's instances. `onChange` is called at once after each commit. */
  begin(world: World, onChange: () => void): void {
    this.#world = world
    this.#onChange = onChange
  }

  connect(): Duplex {
    const owner = this.#world?.running ?? { name: "", alive: true, skewMillis: 0 }
    const connection = new Connection(this, owner)
    this.#connections.push(connection)
    return connection
  }

  /** No transaction is open: everything read now is committed. */
  get isIdle(): boolean {
    return this.#holder === undefined
  }

  /** One query outside all connections; returns the first column of its rows. */
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

  /** Uncommitted changes of an abandoned instance are rolled back. */
  abandon(owner: Owner): void {
    for (const connection of this.#connections.filter((one) => one.owner === owner)) this.leave(connection)
    this.work()
  }

  work(): void {
    while (true) {
      const next = this.#holder ?? this.#connections.find(({ waiting }) => waiting.length > 0)
      const batch = next?.waiting.shift()
      if (next === undefined || batch === undefined) return
      const { messages } = batch
      const answer = this.#pglite.execProtocolRawSync(messages)
      this.#holder = statusIn(answer) === "I" ? undefined : next
      this.#mayHaveChanged ||= batch.changesRows
      if (this.isIdle) this.#tellChange()
      if (messages.includes(idleTimeout))
        this.run(`RESET ${idleTimeout}; RESET idle_in_transaction_session_timeout`)
      next.push(Buffer.from(answer))
    }
  }

  /** A statement that finds no row to change begins no transaction that writes. */
  #tellChange(): void {
    if (!this.#mayHaveChanged) return
    this.#mayHaveChanged = false
    const [next = ""] = this.run("SELECT pg_snapshot_xmax(pg_current_snapshot())")
    if (next === this.#nextTransaction) return
    this.#nextTransaction = next
    this.#onChange()
  }
}
