// The group `http`: each hostile request is followed by a plain one on the same connection.
import { Effect } from "effect"
import { caseMillis } from "./ask.ts"
import { type Case, failed, held, type Judgement, skipAll, skipped } from "./Case.ts"
import { chunks } from "./chunks.ts"
import { type Conversation, converse } from "./converse.ts"
import { heads } from "./heads.ts"
import { get, outcomes, type Place, type RawOutcome, type RawRequest } from "./RawRequest.ts"
import { smuggling } from "./smuggling.ts"
import { outageAmong } from "./unreachable.ts"

export interface HttpTarget {
  /** Answers a plain GET. */
  readonly url: URL
  /** Reads the body of a POST; on the same server. */
  readonly postUrl: URL
  readonly headers: ReadonlyArray<readonly [string, string]>
}

const requests: ReadonlyArray<RawRequest> = [...smuggling, ...chunks, ...heads]

const isRefusal = (status: number): boolean =>
  (status >= 400 && status < 500) || status === 501 || status === 505

const toldOf = ({ answers, closed, stray }: Conversation): string => {
  if (answers.length === 0 && !stray) {
    return closed ? "closed without an answer" : `no answer in ${caseMillis / 1000} s`
  }
  const statuses = answers.map(({ status }) => String(status))
  return [...statuses, ...(stray ? ["bytes that are no answer"] : []), closed ? "closed" : "left open"].join(
    ", "
  )
}

/**
 * The answers, less a last 400 before the connection closes: it is the parser's word on what it could
 * not read, and nobody's answer. `control` is what the second request is answered by itself.
 */
const answered = ({ answers, closed }: Conversation, control: number): ReadonlyArray<number> => {
  const statuses = answers.map(({ status }) => status)
  const isParsers = closed && control !== 400 && statuses.length > 1 && statuses.at(-1) === 400
  return isParsers ? statuses.slice(0, -1) : statuses
}

const isSound = (outcome: RawOutcome, heard: Conversation, control: number): boolean => {
  const statuses = answered(heard, control)
  const [first] = statuses
  const refused = first === undefined ? heard.closed : isRefusal(first)
  switch (outcome) {
    case "refuse":
      return refused && heard.closed && statuses.length <= 1
    case "once":
      return heard.closed && statuses.length <= 1
    case "reject":
      return refused && statuses.length <= 2
    case "wait":
      return (first === undefined || refused) && statuses.length <= 1
    case "separate":
      // Closed, or each of the two requests has its answer: none was taken for another's body.
      return (heard.closed || statuses.length === 2) && statuses.length <= 2
  }
}

/** How the plain request is answered when it is alone. */
export interface Control {
  readonly status: number
  readonly closed: boolean
}

/** What the bytes got from the server, against what a sound one gives. */
export const judgeConversation = (outcome: RawOutcome, heard: Conversation, control: Control): Judgement => {
  const told = toldOf(heard)
  const statuses = heard.answers.map(({ status }) => status)
  if (statuses.length > 2) return failed(`${statuses.length} answers to 2 requests: ${told}`)
  if (heard.stray || statuses.includes(101)) return failed(told)
  const why = outageAmong(statuses)
  if (why !== undefined) return skipped(why)
  if (statuses.some((status) => status >= 500 && !isRefusal(status))) return failed(told)
  if (!isSound(outcome, heard, control.status)) return failed(told)
  const isTheSame =
    statuses[0] === control.status && (outcome === "reject" || (outcome === "refuse" && control.closed))
  return isTheSame
    ? skipped(`${told}, but so is a plain GET: name an address that answers one with 200`)
    : held(told)
}

const placeOf = ({ url, postUrl, headers }: HttpTarget): Place => ({
  host: url.host,
  target: `${url.pathname}${url.search}`,
  postTarget: `${postUrl.pathname}${postUrl.search}`,
  lines: headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")
})

export const httpCases = Effect.fnUntraced(function* (target: HttpTarget) {
  const { url } = target
  const place = placeOf(target)
  const plain = get(place, [])
  const askPlainly = converse(url, { first: plain, enough: 1 })
  const { answers, closed, ...heard } = yield* askPlainly
  const control: Control = { status: answers[0]?.status ?? 0, closed }

  const hostile = requests.map(
    ({ name, reference, outcome, bytes }): Case => ({
      group: "http",
      id: `http-${name}`,
      reference,
      expected: outcomes[outcome],
      run: Effect.map(converse(url, { first: bytes(place), second: plain, enough: 2 }), (conversation) =>
        judgeConversation(outcome, conversation, control)
      )
    })
  )
  const pipelined: Case = {
    group: "http",
    id: "http-pipelined",
    reference: "RFC 9112 9.3.2",
    expected: "two plain requests at once: two answers, or one and closed",
    run: Effect.map(converse(url, { first: plain + plain, enough: 2 }), (conversation) => {
      const count = conversation.answers.length
      const why = outageAmong(conversation.answers.map(({ status }) => status))
      if (why !== undefined && count <= 2 && !conversation.stray) return skipped(why)
      const sound = !conversation.stray && (count === 2 || (count === 1 && conversation.closed))
      return (sound ? held : failed)(toldOf(conversation))
    })
  }
  const still: Case = {
    group: "http",
    id: "http-still-answers",
    reference: "CWE-400",
    expected: `a plain GET is answered as at first (${control.status})`,
    run: Effect.map(askPlainly, (conversation) =>
      (conversation.answers[0]?.status === control.status ? held : failed)(toldOf(conversation))
    )
  }
  const cases = [...hostile, pipelined, still]
  const why = outageAmong([control.status])
  if (why !== undefined) return skipAll(cases, why)
  return control.status === 0
    ? skipAll(cases, `a plain GET is not answered: ${toldOf({ answers, closed, ...heard })}`)
    : cases
})
