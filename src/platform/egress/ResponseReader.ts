// Reads one HTTP/1.1 response from hostile bytes, within fixed budgets and without decoding its content. Own code,
// because the runtime's client decompresses, follows redirects and buffers.
import type { EgressBudgets } from "./EgressPolicy.ts"

/** The reader's state after the bytes so far. */
export type ReadState = "reading" | "done" | "malformed"

type Phase =
  | { readonly _tag: "Head" }
  | { readonly _tag: "Length"; left: number }
  | { readonly _tag: "ChunkSize" | "ChunkEnd" | "Trailer" }
  | { readonly _tag: "Chunk"; left: number }
  | { readonly _tag: "UntilClose" }
  | { readonly _tag: "Done" }

const newline = 0x0a

/** Bytes up to and including the empty line that ends a head. Bare line feeds count, as RFC 9112 2.2 allows. */
const headSize = (bytes: Buffer): number | undefined => {
  const strict = bytes.indexOf("\n\r\n")
  const bare = bytes.indexOf("\n\n")
  if (strict < 0) return bare < 0 ? undefined : bare + 2
  return bare >= 0 && bare < strict ? bare + 2 : strict + 3
}

/**
 * Call `push` with each chunk, and `end` when the peer closes. Once it returns `done`, `status` and `body` contain the
 * response, and `reusable` shows whether the connection can carry another request.
 */
export class ResponseReader {
  /** Status code; 0 until the head is read. */
  status = 0
  /** True if the response ended exactly as declared and the peer keeps the connection open. */
  reusable = false
  #phase: Phase = { _tag: "Head" }
  #pending: Buffer = Buffer.alloc(0)
  #headBytes = 0
  #bodyBytes = 0
  #keepAlive = false
  readonly #shown: Array<Buffer> = []
  #shownBytes = 0
  readonly #budgets: Pick<EgressBudgets, "headBytes" | "bodyBytes" | "shownBytes">

  constructor(budgets: Pick<EgressBudgets, "headBytes" | "bodyBytes" | "shownBytes">) {
    this.#budgets = budgets
  }

  /** The start of the body as it was sent: never decompressed, at most `shownBytes`. */
  get body(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#shown))
  }

  push(chunk: Buffer): ReadState {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    let state: ReadState | undefined
    while (state === undefined) state = this.#step()
    return state
  }

  /** The peer closed: complete only if closing ends the body. */
  end(): ReadState {
    return this.#phase._tag === "UntilClose" || this.#phase._tag === "Done" ? "done" : "malformed"
  }

  #step(): ReadState | undefined {
    const phase = this.#phase
    switch (phase._tag) {
      case "Head":
        return this.#readHead()
      case "Length":
      case "Chunk": {
        const next: Phase = phase._tag === "Chunk" ? { _tag: "ChunkEnd" } : { _tag: "Done" }
        if (phase.left === 0) return this.#enter(next)
        if (this.#pending.length === 0) return "reading"
        phase.left -= this.#show(phase.left)
        return this.#overBudget()
      }
      case "UntilClose": {
        if (this.#pending.length === 0) return "reading"
        this.#show(this.#pending.length)
        return this.#overBudget()
      }
      case "ChunkSize": {
        const line = this.#bodyLine()
        if (typeof line !== "string") return this.#overBudget() ?? "reading"
        const digits = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line)?.[1]
        if (digits === undefined) return "malformed"
        const size = Number.parseInt(digits, 16)
        return this.#enter(size === 0 ? { _tag: "Trailer" } : { _tag: "Chunk", left: size })
      }
      case "ChunkEnd": {
        const line = this.#bodyLine()
        if (typeof line !== "string") return this.#overBudget() ?? "reading"
        return line === "" ? this.#enter({ _tag: "ChunkSize" }) : "malformed"
      }
      case "Trailer": {
        const line = this.#bodyLine()
        if (typeof line !== "string") return this.#overBudget() ?? "reading"
        return line === "" ? this.#enter({ _tag: "Done" }) : undefined
      }
      case "Done":
        this.reusable = this.#keepAlive && this.#pending.length === 0
        return "done"
    }
  }

  #enter(phase: Phase): undefined {
    this.#phase = phase
  }

  /** Ends the response at its limit: a longer body is cut off and the connection closed. */
  #overBudget(): ReadState | undefined {
    return this.#bodyBytes + this.#unreadLine() > this.#budgets.bodyBytes ? "done" : undefined
  }

  /** Bytes of an unfinished line count as well; otherwise a chunk extension could grow without limit. */
  #unreadLine(): number {
    return this.#phase._tag === "Chunk" || this.#phase._tag === "Length" ? 0 : this.#pending.length
  }

  #show(maxBytes: number): number {
    const part = this.#pending.subarray(0, maxBytes)
    this.#pending = this.#pending.subarray(part.length)
    this.#bodyBytes += part.length
    const free = this.#budgets.shownBytes - this.#shownBytes
    if (free > 0) {
      const shownPart = Buffer.from(part.subarray(0, free))
      this.#shown.push(shownPart)
      this.#shownBytes += shownPart.length
    }
    return part.length
  }

  #bodyLine(): string | undefined {
    const end = this.#pending.indexOf(newline)
    if (end < 0) return undefined
    const line = this.#pending.toString("latin1", 0, end).replace(/\r$/, "")
    this.#pending = this.#pending.subarray(end + 1)
    this.#bodyBytes += end + 1
    return line
  }

  #readHead(): ReadState | undefined {
    const size = headSize(this.#pending)
    if (this.#headBytes + (size ?? this.#pending.length) > this.#budgets.headBytes) return "malformed"
    if (size === undefined) return "reading"
    const lines = this.#pending.toString("latin1", 0, size).trimEnd().split(/\r?\n/)
    this.#headBytes += size
    this.#pending = this.#pending.subarray(size)
    return this.#interpretHead(lines)
  }

  #interpretHead(lines: ReadonlyArray<string>): ReadState | undefined {
    const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(lines[0] ?? "")
    if (statusLine === null) return "malformed"
    const status = Number(statusLine[2])
    const headers = new Map<string, string>()
    for (const line of lines.slice(1)) {
      const colon = line.indexOf(":")
      if (colon <= 0) return "malformed"
      const name = line.slice(0, colon).toLowerCase()
      const value = line.slice(colon + 1).trim()
      const earlier = headers.get(name)
      if (name === "content-length" && earlier !== undefined && earlier !== value) return "malformed"
      headers.set(name, earlier === undefined || name === "content-length" ? value : `${earlier}, ${value}`)
    }
    // Interim responses precede the real one; 101 would switch the connection to another protocol.
    if (status < 200 && status !== 101) return undefined
    this.status = status
    return this.#chooseFraming(headers, statusLine[1] === "1")
  }

  #chooseFraming(headers: ReadonlyMap<string, string>, isHttp11: boolean): ReadState | undefined {
    this.#keepAlive =
      isHttp11 &&
      this.status !== 101 &&
      !/\bclose\b/i.test(headers.get("connection") ?? "") &&
      // A peer that closes within a second may close just as the next delivery is written.
      !/\btimeout=[01]\b/i.test(headers.get("keep-alive") ?? "")
    if (this.status === 101 || this.status === 204 || this.status === 304) {
      return this.#enter({ _tag: "Done" })
    }
    const transferEncoding = headers.get("transfer-encoding")
    const contentLength = headers.get("content-length")
    if (transferEncoding !== undefined) {
      // Both framings at once are used to smuggle responses (RFC 9112 6.3).
      if (contentLength !== undefined) this.#keepAlive = false
      if (/(?:^|,)\s*chunked$/i.test(transferEncoding)) return this.#enter({ _tag: "ChunkSize" })
      return this.#enter({ _tag: "UntilClose" })
    }
    if (contentLength === undefined) return this.#enter({ _tag: "UntilClose" })
    if (!/^\d{1,15}$/.test(contentLength)) return "malformed"
    return this.#enter({ _tag: "Length", left: Number(contentLength) })
  }
}
