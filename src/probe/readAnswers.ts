// Reads a byte stream as the HTTP/1.1 answers that a client would see in it.

export interface RawAnswer {
  readonly status: number
  readonly body: string
}

export interface Reading {
  readonly answers: ReadonlyArray<RawAnswer>
  /** Bytes after the last answer that begin no answer. */
  readonly stray: boolean
}

/** Where the body that starts at `from` ends; undefined while it is incomplete. */
const endOfChunks = (text: string, from: number): number | undefined => {
  for (let at = from; ; ) {
    const line = text.indexOf("\r\n", at)
    if (line < 0) return undefined
    const size = Number.parseInt(text.slice(at, line), 16)
    if (!Number.isFinite(size)) return undefined
    if (size === 0) {
      const end = text.indexOf("\r\n\r\n", line)
      return end < 0 ? undefined : end + 4
    }
    at = line + 2 + size + 2
    if (at > text.length) return undefined
  }
}

const endOfBody = (
  text: string,
  from: number,
  status: number,
  head: string,
  closed: boolean
): number | undefined => {
  if (status === 101) return text.length
  if (status < 200 || status === 204 || status === 304) return from
  if (/^transfer-encoding:.*chunked/im.test(head)) return endOfChunks(text, from)
  const length = /^content-length:[ \t]*(\d+)/im.exec(head)?.[1]
  if (length === undefined) return closed ? text.length : undefined
  const end = from + Number(length)
  return end <= text.length ? end : undefined
}

/**
 * `text` is latin1; `isHead`: the first answer has no body, whatever its length says. An answer that `closed` has cut off counts. Interim answers do not, but for 101.
 */
export const readAnswers = (text: string, closed: boolean, isHead = false): Reading => {
  const answers: Array<RawAnswer> = []
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at)
    const status = Number(/^HTTP\/\d\.\d (\d{3})/.exec(rest)?.[1])
    if (!Number.isFinite(status)) return { answers, stray: closed || rest.length > 12 }
    const headEnd = rest.indexOf("\r\n\r\n")
    if (headEnd < 0) return { answers: closed ? [...answers, { status, body: "" }] : answers, stray: false }
    const from = at + headEnd + 4
    const isBodiless = isHead && answers.length === 0
    const end = isBodiless ? from : endOfBody(text, from, status, rest.slice(0, headEnd), closed)
    if (end === undefined && !closed) return { answers, stray: false }
    if (status >= 200 || status === 101) answers.push({ status, body: text.slice(from, end) })
    at = end ?? text.length
  }
  return { answers, stray: false }
}
