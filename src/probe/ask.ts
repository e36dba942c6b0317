// One HTTP request by a well-behaved client, for cases whose hostility is in what it carries.
import { Effect } from "effect"

export interface ProbeQuestion {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export type Reply =
  | { readonly _tag: "Answered"; readonly status: number; readonly text: string }
  /** Nothing within the time-out. */
  | { readonly _tag: "Silent" }
  /** No connection, or closed before an answer. */
  | { readonly _tag: "Cut" }

/** Milliseconds that one request may take. */
export const caseMillis = 5_000

/** Longest pause that a 429 is given, in seconds, and how often. */
const longestPause = 3
const mostPauses = 3

const pauseOf = (response: Response): number => {
  const seconds = Number(response.headers.get("retry-after") ?? "1")
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, longestPause) : 1
}

const exchange = ({ method, url, headers, body }: ProbeQuestion) =>
  Effect.promise(async (): Promise<{ readonly reply: Reply; readonly pause: number }> => {
    const signal = AbortSignal.timeout(caseMillis)
    try {
      const response = await fetch(url, {
        method,
        headers: { "user-agent": "quittance-probe", ...headers },
        redirect: "manual",
        signal,
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) })
      })
      const text = await response.text()
      return { reply: { _tag: "Answered", status: response.status, text }, pause: pauseOf(response) }
    } catch {
      return { reply: { _tag: signal.aborted ? "Silent" : "Cut" }, pause: 0 }
    }
  })

/** A 429 says nothing of what was sent: it is waited for and sent again, three times. */
export const ask = Effect.fnUntraced(function* (question: ProbeQuestion) {
  for (let pauses = 0; ; pauses++) {
    const { reply, pause } = yield* exchange(question)
    if (reply._tag !== "Answered" || reply.status !== 429 || pauses === mostPauses) return reply
    yield* Effect.sleep(pause * 1000)
  }
})

export const describeReply = (reply: Reply): string => {
  if (reply._tag === "Silent") return `no answer in ${caseMillis / 1000} s`
  return reply._tag === "Cut" ? "closed without an answer" : String(reply.status)
}

/** An address under a base: `under("http://a/b/", "verify")` is `http://a/b/verify`. */
export const under = (base: string, path: string): string => `${base.replace(/\/+$/, "")}/${path}`
