// A scripted DNS server on 127.0.0.1 over UDP: returns exactly the addresses that a test wants for a name, can change
// them between queries, and can be silent.
import { createSocket, type RemoteInfo } from "node:dgram"
import { Effect, type Scope } from "effect"
import ipaddr from "ipaddr.js"

/** The server's answers for one name. Omitted kinds are empty answers. */
export interface Zone {
  readonly a?: ReadonlyArray<string>
  readonly aaaa?: ReadonlyArray<string>
  /** The alias; `a` and `aaaa` are then returned for it in the same answer, as a recursive server does. */
  readonly cname?: string
  readonly behaviour?: "silent" | "nxdomain" | "servfail" | "garbage"
}

/** A fixed zone, or one that depends on how often the name has been queried for this record type. */
export type Script = Zone | ((timesAsked: number) => Zone)

export interface DnsServer {
  /** `address:port`, for a resolver's list of servers. */
  readonly address: string
  readonly set: (name: string, script: Script) => void
  /** Queries so far, as `name/type`. */
  readonly questions: ReadonlyArray<string>
}

const types = { a: 1, cname: 5, aaaa: 28 }

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])),
    Buffer.of(0)
  ])

const record = (name: string, type: number, data: Buffer): Buffer => {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  // An hour, so that a cache anywhere would be noticed.
  fixed.writeUInt32BE(3600, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(name), fixed, data])
}

const readQuestion = (
  query: Buffer
): { readonly name: string; readonly type: number; readonly end: number } => {
  const labels: Array<string> = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

const answersFor = (name: string, type: number, zone: Zone): ReadonlyArray<Buffer> => {
  const alias = zone.cname === undefined ? [] : [record(name, types.cname, encodeName(zone.cname))]
  if (type === types.cname) return alias
  const owner = zone.cname ?? name
  const addresses = type === types.a ? zone.a : type === types.aaaa ? zone.aaaa : undefined
  return [
    ...alias,
    ...(addresses ?? []).map((text) => record(owner, type, Buffer.from(ipaddr.parse(text).toByteArray())))
  ]
}

/** Starts the server for the scope. Names without a script do not exist. */
export const scriptedDns: Effect.Effect<DnsServer, never, Scope.Scope> = Effect.acquireRelease(
  Effect.callback<DnsServer & { readonly close: () => void }>((resume) => {
    const scripts = new Map<string, Script>()
    const asked = new Map<string, number>()
    const questions: Array<string> = []
    const socket = createSocket("udp4")
    socket.on("message", (query: Buffer, from: RemoteInfo) => {
      const { name, type, end } = readQuestion(query)
      const question = `${name}/${type}`
      questions.push(question)
      const before = asked.get(question) ?? 0
      asked.set(question, before + 1)
      const script = scripts.get(name) ?? { behaviour: "nxdomain" }
      const zone = typeof script === "function" ? script(before) : script
      if (zone.behaviour === "silent") return
      if (zone.behaviour === "garbage") return socket.send(Buffer.alloc(40, 0xff), from.port, from.address)
      const answers = answersFor(name, type, zone)
      const head = Buffer.alloc(12)
      query.copy(head, 0, 0, 2)
      const code = zone.behaviour === "nxdomain" ? 3 : zone.behaviour === "servfail" ? 2 : 0
      head.writeUInt16BE(0x8180 + code, 2)
      head.writeUInt16BE(1, 4)
      head.writeUInt16BE(answers.length, 6)
      socket.send(Buffer.concat([head, query.subarray(12, end), ...answers]), from.port, from.address)
    })
    socket.bind(0, "127.0.0.1", () =>
      resume(
        Effect.succeed({
          address: `127.0.0.1:${socket.address().port}`,
          set: (name, script) => void scripts.set(name, script),
          questions,
          close: () => socket.close()
        })
      )
    )
  }),
  (server) => Effect.sync(server.close)
)
