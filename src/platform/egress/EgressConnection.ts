// One connection to a checked address: dialled by address, named in TLS, used for one exchange at a time. Uses sockets
// instead of an HTTP client, to control peer, budgets and bytes.
import { createConnection, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { Effect } from "effect"
import type { EgressBudgets, EgressPolicy } from "./EgressPolicy.ts"
import { canonicalAddress, isPublicAddress } from "./PublicAddress.ts"
import { ResponseReader } from "./ResponseReader.ts"

/** The target of a connection: the checked address, and the name that its certificate must contain. */
export interface DialTarget {
  readonly address: string
  readonly port: number
  /** Undefined for plain http, which only allowed hosts may use. */
  readonly serverName: string | undefined
  readonly connectMillis: number
  /** Called with the socket before it connects; the caller must destroy it on failure. */
  readonly onSocket: (socket: Socket) => void
}

type Peer = { readonly onData: (chunk: Buffer) => void; readonly onClose: () => void }

/** An open socket to a checked address, between or during exchanges. */
export class EgressConnection {
  readonly address: string
  /** True if the endpoint's responses may be shown. */
  readonly isPublic: boolean
  #closed = false
  #peer: Peer | undefined
  readonly #socket: Socket

  constructor(address: string, socket: Socket) {
    this.address = address
    this.isPublic = isPublicAddress(address)
    this.#socket = socket
    const closed = (): void => {
      this.close()
      this.#peer?.onClose()
    }
    socket.on("data", (chunk: Buffer) => {
      // Unsolicited bytes would be taken for the response to the next request.
      if (this.#peer === undefined) this.close()
      else this.#peer.onData(chunk)
    })
    socket.on("end", closed)
    socket.on("error", closed)
    socket.on("close", closed)
  }

  get closed(): boolean {
    return this.#closed
  }

  close(): void {
    this.#closed = true
    this.#socket.destroy()
  }

  /**
   * Writes one request and reads its response. Fails with `response` if the peer closes early or does not speak
   * HTTP/1.1 within the budgets, and with `timeout` if it takes longer than `timeoutMillis`. Closes the connection
   * unless it can carry another request.
   */
  exchange(
    request: Buffer,
    budgets: EgressBudgets,
    timeoutMillis: number
  ): Effect.Effect<ResponseReader, "response" | "timeout"> {
    return Effect.callback((resume) => {
      const reader = new ResponseReader(budgets)
      const settle = (state: "done" | "malformed" | "timeout"): void => {
        clearTimeout(timer)
        this.#peer = undefined
        if (state !== "done" || !reader.reusable) this.close()
        if (state === "done") resume(Effect.succeed(reader))
        else resume(Effect.fail(state === "timeout" ? state : "response"))
      }
      // One timer: a race of two fibers costs as much as the rest of the exchange.
      const timer = setTimeout(() => settle("timeout"), timeoutMillis)
      const read = (step: () => "reading" | "done" | "malformed"): void => {
        const state = step()
        if (state !== "reading") settle(state)
      }
      this.#peer = {
        onData: (chunk) => read(() => reader.push(chunk)),
        onClose: () => read(() => reader.end())
      }
      if (this.#closed) settle("malformed")
      else this.#socket.write(request)
      return Effect.sync(() => {
        clearTimeout(timer)
        this.#peer = undefined
        this.close()
      })
    })
  }
}

const openSocket = ({ address, port, onSocket }: DialTarget): Effect.Effect<Socket, "connect" | "blocked"> =>
  Effect.callback((resume) => {
    const socket = createConnection({ host: address, port, noDelay: true })
    onSocket(socket)
    socket.once("error", () => {
      socket.destroy()
      resume(Effect.fail("connect"))
    })
    socket.once("connect", () => {
      // Nothing has been sent yet, so a server at another address learns nothing.
      if (canonicalAddress(socket.remoteAddress ?? "") === canonicalAddress(address)) {
        return resume(Effect.succeed(socket))
      }
      socket.destroy()
      resume(Effect.fail("blocked"))
    })
    return Effect.sync(() => socket.destroy())
  })

const secure = (
  socket: Socket,
  serverName: string,
  policy: Pick<typeof EgressPolicy.Service, "certificateAuthorities">
): Effect.Effect<Socket, "tls"> =>
  Effect.callback((resume) => {
    const secured = connectTls({
      socket,
      host: serverName,
      // An address is not a server name (RFC 6066 3). Only allowed hosts use one.
      ...(isIP(serverName) === 0 && { servername: serverName }),
      ALPNProtocols: ["http/1.1"],
      minVersion: "TLSv1.2",
      // Explicit, so that no environment variable can turn it off.
      rejectUnauthorized: true,
      ...(policy.certificateAuthorities && { ca: [...policy.certificateAuthorities] })
    })
    const fail = (): void => {
      secured.destroy()
      socket.destroy()
      resume(Effect.fail("tls"))
    }
    secured.once("error", fail)
    secured.once("close", fail)
    secured.once("secureConnect", () => {
      secured.off("close", fail)
      if (secured.authorized) resume(Effect.succeed(secured))
      else fail()
    })
    return Effect.sync(() => {
      secured.destroy()
      socket.destroy()
    })
  })

/**
 * Connects to one checked address and, with a server name, secures the connection. Fails with `connect`, `tls`, or
 * `blocked` if the socket's peer is not the requested address.
 */
export const dial = (
  target: DialTarget,
  policy: Pick<typeof EgressPolicy.Service, "budgets" | "certificateAuthorities">
): Effect.Effect<EgressConnection, "connect" | "tls" | "blocked"> =>
  Effect.gen(function* () {
    const { address, serverName } = target
    const socket = yield* Effect.timeoutOrElse(openSocket(target), {
      duration: target.connectMillis,
      orElse: () => Effect.fail("connect" as const)
    })
    if (serverName === undefined) return new EgressConnection(address, socket)
    const secured = yield* Effect.timeoutOrElse(secure(socket, serverName, policy), {
      duration: policy.budgets.tlsMillis,
      orElse: () => Effect.fail("tls" as const)
    })
    return new EgressConnection(address, secured)
  })
