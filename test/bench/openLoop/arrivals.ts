// A load of its own process whose requests arrive when they arrive: Poisson, at a fixed rate, whether or not
// those before have been answered. Times count from the planned arrival (no coordinated omission).
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { quantile } from "../statistics.ts"

/** Milliseconds from the planned arrival to the end of the answer. */
export interface Arrivals {
  readonly answered: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

const open = 64
/** After the last arrival, for what is still to be answered. */
const patienceMillis = 10_000
const endOfHead = Buffer.from("\r\n\r\n")

interface Connection {
  readonly write: (request: Buffer) => void
  /** When its request was to arrive; undefined while it is free. */
  planned: number | undefined
  received: Buffer
}

/** The status, once the whole answer is there. */
const statusOf = (received: Buffer): number | undefined => {
  const head = received.indexOf(endOfHead)
  if (head === -1) return undefined
  const text = received.subarray(0, head).toString("latin1")
  const length = Number(/^content-length: (\d+)$/im.exec(text)?.[1] ?? Number.NaN)
  if (Number.isNaN(length)) throw new Error(`an answer without a length:\n${text}`)
  return received.length < head + endOfHead.length + length ? undefined : Number(text.slice(9, 12))
}

const run = async (url: URL, requests: ReadonlyArray<Buffer>, rate: number, seconds: number) => {
  const times: Array<number> = []
  const waiting: Array<{ readonly request: Buffer; readonly planned: number }> = []
  const free: Array<Connection> = []

  const send = (connection: Connection, request: Buffer, planned: number) => {
    connection.planned = planned
    connection.write(request)
  }
  const answered = (connection: Connection, status: number) => {
    if (status < 200 || status > 299) throw new Error(`status ${status}:\n${connection.received}`)
    times.push(performance.now() - (connection.planned ?? Number.NaN))
    connection.received = Buffer.alloc(0)
    connection.planned = undefined
    const next = waiting.shift()
    if (next === undefined) free.push(connection)
    else send(connection, next.request, next.planned)
  }
  for (let count = 0; count < open; count++) {
    const socket = await Bun.connect<Connection>({
      hostname: url.hostname,
      port: Number(url.port),
      socket: {
        data: ({ data }, chunk) => {
          data.received = data.received.length === 0 ? chunk : Buffer.concat([data.received, chunk])
          const status = statusOf(data.received)
          if (status !== undefined) answered(data, status)
        },
        close: () => {}
      }
    })
    const connection: Connection = {
      write: (request) => socket.write(request),
      planned: undefined,
      received: Buffer.alloc(0)
    }
    socket.data = connection
    free.push(connection)
  }

  const begun = performance.now()
  let planned = begun
  let count = 0
  const gap = () => (-Math.log(1 - Math.random()) * 1000) / rate
  planned += gap()
  while (planned < begun + seconds * 1000) {
    while (planned <= performance.now() && planned < begun + seconds * 1000) {
      const request = requests[count % requests.length]
      if (request === undefined) throw new Error("no requests")
      const connection = free.pop()
      if (connection === undefined) waiting.push({ request, planned })
      else send(connection, request, planned)
      count++
      planned += gap()
    }
    await Bun.sleep(1)
  }
  const patience = performance.now() + patienceMillis
  while (times.length < count && performance.now() < patience) await Bun.sleep(5)
  if (times.length < count) throw new Error(`${count - times.length} of ${count} are not answered`)
  const told: Arrivals = {
    answered: times.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    p999: quantile(times, 0.999)
  }
  console.log(JSON.stringify(told))
  process.exit()
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      url: { type: "string", default: "" },
      requests: { type: "string", default: "" },
      rate: { type: "string", default: "" },
      seconds: { type: "string", default: "" }
    }
  })
  const url = new URL(values.url)
  const requests = readFileSync(values.requests, "utf8")
    .split("\n")
    .map((line) => {
      const [method, path, key, body = ""] = line.split("\t")
      const length =
        body === "" ? "" : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
      return Buffer.from(
        `${method} ${path} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${key}\r\n${length}\r\n${body}`
      )
    })
  await run(url, requests, Number(values.rate), Number(values.seconds))
}
