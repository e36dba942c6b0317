// The group `webhooks`: addresses that a webhook sender must not take, at its registration.
import { Effect, Schema } from "effect"
import { ask, describeReply, type ProbeQuestion, type Reply } from "./ask.ts"
import { type Case, failed, held, type Judgement, skipAll, skipped } from "./Case.ts"
import corpus from "./hostileUrls.json"
import { unreachable } from "./unreachable.ts"

export interface WebhookTarget {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, in which the text `{url}` stands for the address. */
  readonly body: string
  /** Of the sender's own, which it must not call either. */
  readonly own: ReadonlyArray<string>
  /** What takes a registration back, where it is known; its result is told. */
  readonly undo: Effect.Effect<string> | undefined
}

const references: ReadonlyArray<readonly [RegExp, string]> = [
  [/^IPv6 (link-local|mapped|compatible|translated|NAT64|6to4|Teredo)/, "RFC 4193, RFC 6890, CWE-918"],
  [/^IPv6/, "RFC 4193, RFC 4291, CWE-918"],
  [/^IPv4$/, "RFC 1918, RFC 6890, CWE-918"],
  [/^IPv4 /, "WHATWG URL 3.5, RFC 1918, CWE-918"],
  [/^reserved name/, "RFC 6761, RFC 8375, CWE-918"],
  [/^(malformed name|name without a dot)/, "RFC 1123 2.1, CWE-918"],
  [/^credentials/, "RFC 3986 3.2.1, CWE-918"],
  [/^(port|beside an allowed host)/, "CWE-441, CWE-918"],
  [/^control characters/, "WHATWG URL 4.4, CWE-93"],
  [/^scheme/, "RFC 3986 3.1, CWE-918"],
  [/^own host/, "CWE-441, CWE-918"],
  [/^length/, "RFC 9110 4.1, CWE-770"]
]

const referenceOf = (kind: string): string =>
  references.find(([pattern]) => pattern.test(kind))?.[1] ?? "WHATWG URL 4.4, CWE-918"

/** Names of a configuration that only the service's own tests have. */
const ofTests = new Set(["ok", "allowed", "own_host"])

export const hostileUrls = corpus.filter(({ verdict }) => !ofTests.has(verdict))

const kebab = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")

/** By class and place in it, so that ids stay when a class grows at its end. */
const named = (urls: ReadonlyArray<{ readonly url: string; readonly class: string }>) => {
  const counts = new Map<string, number>()
  return urls.map(({ url, class: kind }) => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return { url, kind, id: `webhooks-${kebab(kind)}-${count}` }
  })
}

const shown = (url: string): string => {
  const text = JSON.stringify(url)
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text
}

/** A reply to a registration. A conflict is no word on the address. */
const judgeRegistration = (reply: Reply): Judgement => {
  if (reply._tag !== "Answered") return failed(describeReply(reply))
  const { status } = reply
  const why = status === 409 ? "409: something is registered already; remove it first" : unreachable(status)
  if (why !== undefined) return skipped(why)
  return (status >= 400 && status < 500 ? held : failed)(String(status))
}

const decodeJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** Whether the text is JSON that has a place for the address. */
export const isTemplate = (text: string): boolean =>
  text.includes("{url}") && decodeJson(text)._tag === "Success"

const filled = (template: string, url: string): string =>
  template.replaceAll("{url}", () => JSON.stringify(url).slice(1, -1))

export const webhookCases = Effect.fnUntraced(function* (target: WebhookTarget) {
  const { url, method, headers } = target
  const question = (body: string): ProbeQuestion => ({
    method,
    url,
    headers: { "content-type": "application/json", ...headers },
    body
  })
  const urls = named([...hostileUrls, ...target.own.map((own) => ({ url: own, class: "own host" }))])
  const cases = urls.map(
    ({ url: hostile, kind, id }): Case => ({
      group: "webhooks",
      id,
      reference: referenceOf(kind),
      expected: `${shown(hostile)} refused with 4xx`,
      run: Effect.gen(function* () {
        const reply = yield* ask(question(filled(target.body, hostile)))
        const judgement = judgeRegistration(reply)
        if (reply._tag !== "Answered" || reply.status >= 300) return judgement
        const undone = target.undo === undefined ? "registered: remove it" : yield* target.undo
        return failed(`${reply.status}, ${undone}`)
      })
    })
  )
  const control = yield* ask(question("{}"))
  if (control._tag !== "Answered") return skipAll(cases, `an empty object gets ${describeReply(control)}`)
  const barred =
    unreachable(control.status) ??
    (control.status === 403 ? "403 also to an empty object: the caller may not register" : undefined)
  return barred === undefined ? cases : skipAll(cases, barred)
})
