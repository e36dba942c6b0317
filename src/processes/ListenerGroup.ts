// The listening sockets that share a port (SO_REUSEPORT, Linux), seen from the one of this process. The kernel gives
// each new connection to one of them, and resets what still waits there when it closes. So whoever leaves has new
// connections go to the others first, serves what has come, and closes then.
import { dlopen, ptr } from "bun:ffi"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { connect } from "node:net"

const solSocket = 1
const attachFilter = 26
const acceptsConnections = 30
const attachReusePortFilter = 51
const detachReusePortFilter = 68

/** For how long connections that have begun may take to be accepted: a round trip. */
const settleMillis = 250
/** How often, and after how many milliseconds each, it is looked whether a connection has come here. */
const looks = { times: 40, everyMillis: 5 }

const sleep = (millis: number) => new Promise<void>((done) => setTimeout(done, millis))

/** An instruction of the classic packet filter (Linux, Documentation/networking/filter.rst): code, jumps, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number]

const returns = (value: number): Instruction => [0x06, 0, 0, value]

/** Drops what begins a connection, SYN without ACK, at octet 13 of TCP's header: its sender repeats it after a second. */
const withoutNew: ReadonlyArray<Instruction> = [
  [0x30, 0, 0, 13],
  [0x54, 0, 0, 0x12],
  [0x15, 0, 1, 0x02],
  returns(0),
  returns(0xffffffff)
]

/** Any socket of the group but one, at random. */
const anyBut = (index: number, size: number): ReadonlyArray<Instruction> => [
  [0x20, 0, 0, 0xfffff038],
  [0x94, 0, 0, size],
  [0x15, 0, 2, index],
  [0x04, 0, 0, 1],
  [0x94, 0, 0, size],
  [0x16, 0, 0, 0]
]

/** Of the GNU C library; undefined where there is another: who leaves then waits, and closes. */
const load = () => {
  try {
    return dlopen("libc.so.6", {
      setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
      getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
      getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
      getpeername: { args: ["i32", "ptr", "ptr"], returns: "i32" }
    }).symbols
  } catch {
    return undefined
  }
}
let loaded: { readonly symbols: ReturnType<typeof load> } | undefined
const libc = () => {
  loaded ??= { symbols: load() }
  return loaded.symbols
}

/** With a `sock_fprog` (length, address) before the instructions that it points to. */
const set = (descriptor: number, name: number, program: ReadonlyArray<Instruction>): boolean => {
  const bytes = new Uint8Array(16 + Math.max(program.length, 1) * 8)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, program.length, true)
  view.setBigUint64(8, BigInt(ptr(bytes)) + 16n, true)
  for (const [index, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    const at = 16 + index * 8
    view.setUint16(at, code, true)
    view.setUint8(at + 2, ifTrue)
    view.setUint8(at + 3, ifFalse)
    view.setUint32(at + 4, operand, true)
  }
  return libc()?.setsockopt(descriptor, solSocket, name, bytes, 16) === 0
}

/** A socket's port here, or at its other end; undefined where the descriptor is no such socket. */
const portOf = (end: "getsockname" | "getpeername", descriptor: number): number | undefined => {
  const address = new Uint8Array(128)
  const size = new Uint32Array([address.length])
  return libc()?.[end](descriptor, address, size) === 0
    ? new DataView(address.buffer).getUint16(2)
    : undefined
}

const isListening = (descriptor: number): boolean => {
  const value = new Uint32Array([0])
  const size = new Uint32Array([4])
  return libc()?.getsockopt(descriptor, solSocket, acceptsConnections, value, size) === 0 && value[0] === 1
}

const ownDescriptors = () => readdirSync("/proc/self/fd").map(Number)

interface Address {
  readonly host: string
  readonly port: number
}

const ownListener = ({ port }: Address): number | undefined =>
  ownDescriptors().find((one) => isListening(one) && portOf("getsockname", one) === port)

/** How many listen at the port, in the network that this process is in. */
const sizeOf = ({ port }: Address): number => {
  const listening = new RegExp(
    `^ *\\d+: \\w+:${port.toString(16).toUpperCase().padStart(4, "0")} \\w+:0000 0A `,
    "gm"
  )
  // Without IPv6 there is one of them.
  return ["/proc/net/tcp", "/proc/net/tcp6"]
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").match(listening) ?? []).length
}

/** Whether a connection that is made now comes to this process. */
const comesHere = async ({ host, port }: Address): Promise<boolean> => {
  const socket = connect({ host: host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host, port })
  try {
    await new Promise<void>((done, fail) => {
      socket.once("connect", done)
      socket.once("error", fail)
    })
    // What says nothing is not accepted at once (TCP_DEFER_ACCEPT).
    socket.write("G")
    for (let look = 0; look < looks.times; look++) {
      await sleep(looks.everyMillis)
      const near = socket.localPort
      if (
        ownDescriptors().some(
          (one) => portOf("getpeername", one) === near && portOf("getsockname", one) === port
        )
      )
        return true
    }
    return false
  } finally {
    socket.destroy()
  }
}

/** Has the kernel give new connections to the others. The group's order is not told: it is tried. */
const steerAway = async (address: Address, descriptor: number, size: number): Promise<boolean> => {
  for (let index = 0; index < size; index++) {
    if (!set(descriptor, attachReusePortFilter, [returns(index)])) return false
    if (await comesHere(address)) return set(descriptor, attachReusePortFilter, anyBut(index, size))
  }
  set(descriptor, detachReusePortFilter, [])
  return false
}

/** Has the kernel choose among all again, once one has left. */
export const chooseAmongAll = (address: Address): void => {
  const descriptor = ownListener(address)
  if (descriptor !== undefined) set(descriptor, detachReusePortFilter, [])
}

/**
 * Resolves once nothing that was sent here waits unaccepted, and nothing more comes: the socket may be closed.
 * With `toOthers` what is new goes to them, until one of them calls `chooseAmongAll`; otherwise it is not answered.
 */
export const leaveGroup = async (address: Address, toOthers: boolean): Promise<void> => {
  const descriptor = ownListener(address)
  if (descriptor === undefined) return sleep(settleMillis)
  const size = toOthers ? sizeOf(address) : 1
  const steered = size > 1 && (await steerAway(address, descriptor, size).catch(() => false))
  if (steered) await sleep(settleMillis)
  set(descriptor, attachFilter, withoutNew)
  if (!steered) await sleep(settleMillis)
}
