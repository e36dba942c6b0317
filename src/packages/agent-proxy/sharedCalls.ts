// Calls that an identical call joins, so that a client that gives up and calls again does not pay again: calls
// under way, and for some minutes paid calls whose answer a client may not have received.
import { createHash } from "node:crypto"

/** How long a paid call is remembered after its answer. */
const paidMillis = 5 * 60_000
/** How long a call is remembered whose answer nobody has collected. */
const storedMillis = 10 * 60_000
const maxCalls = 500
const maxAnswerBytes = 1024 * 1024
const maxBytes = 16 * maxAnswerBytes

interface Call<A> {
  readonly id: string
  readonly answer: Promise<A>
  /** True if this call has begun the request, and so was not joined to another. */
  readonly isNew: boolean
  /** True if the answer was already complete when this call joined. */
  readonly isRepeated: boolean
  /** Nothing was paid: the next identical call is a new request, unless an earlier one has paid under this id. */
  readonly done: () => void
  /** The next identical call is a new request. */
  readonly end: () => void
  /**
   * The answer is paid: identical calls get it for some minutes. If it is larger than what is kept in memory, or
   * `bytes` is Infinity, they repeat the request under the same id, which never pays twice.
   */
  readonly keep: (bytes: number) => void
}

interface Entry<A> {
  readonly id: string
  /** Its id and, unless the id is the caller's own, its content. */
  readonly names: readonly [id: string] | readonly [id: string, content: string]
  /** Undefined if only the id is kept. */
  answer: Promise<A> | undefined
  bytes: number
  isRetained: boolean
  timer: NodeJS.Timeout
}

/** Headers that trace an attempt and select no answer: a client may change them when it tries again. */
const tracingHeaders =
  /^(amz-sdk-request|b3|baggage|date|sentry-trace|traceparent|tracestate|x-(amzn-trace-id|b3-.+|cloud-trace-context|correlation-id|datadog-.+|request-id|stainless-retry-count))$/

/** The content of a request, by which identical requests are found. */
export const contentOf = (
  method: string,
  url: string,
  headers: Headers,
  body: Uint8Array | undefined
): string =>
  createHash("sha256")
    .update(JSON.stringify([method, url, [...headers].filter(([name]) => !tracingHeaders.test(name))]))
    .update(body ?? "")
    .digest("base64")

export const makeSharedCalls = <A>() => {
  const entries = new Map<string, Entry<A>>()
  let heldBytes = 0

  const drop = (entry: Entry<A>) => {
    heldBytes -= entry.bytes
    entry.bytes = 0
    entry.answer = undefined
  }
  const end = (entry: Entry<A>) => {
    clearTimeout(entry.timer)
    drop(entry)
    for (const name of entry.names) if (entries.get(name) === entry) entries.delete(name)
  }
  const timerOf = (entry: () => Entry<A>, millis: number) => setTimeout(() => end(entry()), millis).unref()
  const keep = (entry: Entry<A>, bytes: number) => {
    const [id, content] = entry.names
    // A caller's own id is its own way to repeat a request. An ended call stays ended.
    if (content === undefined || entries.get(content) !== entry) return end(entry)
    entries.delete(id)
    if (!entry.isRetained) {
      clearTimeout(entry.timer)
      entry.timer = timerOf(() => entry, paidMillis)
    }
    entry.isRetained = true
    if (bytes > maxAnswerBytes) return drop(entry)
    heldBytes += bytes - entry.bytes
    entry.bytes = bytes
    for (const oldest of entries.values()) {
      if (heldBytes <= maxBytes) break
      if (oldest.isRetained) drop(oldest)
    }
  }
  const callOf = (entry: Entry<A>, answer: Promise<A>, isNew: boolean): Call<A> => ({
    id: entry.id,
    answer,
    isNew,
    isRepeated: !isNew && entry.isRetained,
    done: () => (entry.isRetained ? drop(entry) : end(entry)),
    end: () => end(entry),
    keep: (bytes) => keep(entry, bytes)
  })
  const beginCall = (entry: Entry<A>, begin: (id: string) => Promise<A>): Call<A> => {
    const answer = begin(entry.id)
    // Callers that join handle the failure; without any, it is not an unhandled rejection.
    answer.catch(() => undefined)
    entry.answer = answer
    return callOf(entry, answer, true)
  }

  return {
    /** Joins the call with this id or, without one, this content. Otherwise begins a call. */
    join: (requestId: string | undefined, content: string, begin: (id: string) => Promise<A>): Call<A> => {
      const joined = entries.get(requestId ?? content)
      if (joined !== undefined)
        return joined.answer === undefined ? beginCall(joined, begin) : callOf(joined, joined.answer, false)
      const id = requestId ?? crypto.randomUUID()
      const entry: Entry<A> = {
        id,
        names: requestId === undefined ? [id, content] : [id],
        answer: undefined,
        bytes: 0,
        isRetained: false,
        timer: timerOf(() => entry, storedMillis)
      }
      for (const name of entry.names) entries.set(name, entry)
      for (const oldest of entries.values()) {
        if (entries.size <= 2 * maxCalls) break
        end(oldest)
      }
      return beginCall(entry, begin)
    }
  }
}
