// The group `facilitator`: hostile payments at an x402 facilitator's `/verify` and `/settle`.
import { Effect, Option, Schema } from "effect"
import { ask, describeReply, type ProbeQuestion, type Reply, under } from "./ask.ts"
import { networkNames, stranger, type Terms, versions } from "./authorizations.ts"
import { type Case, failed, held, type Judgement, skipAll, skipped } from "./Case.ts"
import type { HostileBody } from "./HostileBody.ts"
import { jsonBodies } from "./jsonBodies.ts"
import { paymentNumbers } from "./paymentNumbers.ts"
import { paymentTerms } from "./paymentTerms.ts"
import { signatures } from "./signatures.ts"
import { unreachable } from "./unreachable.ts"

export interface FacilitatorTarget {
  /** Without `/verify`. */
  readonly url: string
  readonly key: string | undefined
  readonly payTo: string | undefined
  readonly payer: string | undefined
}

const Verdict = Schema.fromJsonString(
  Schema.Struct({
    isValid: Schema.optionalKey(Schema.Unknown),
    success: Schema.optionalKey(Schema.Unknown)
  })
)
const decodeVerdict = Schema.decodeUnknownOption(Verdict)

/** Refused is 4xx, or 200 that says false. A connection that is cut says so for a large body alone. */
const judgeFacilitator = (endpoint: "verify" | "settle", reply: Reply, isLarge: boolean): Judgement => {
  if (reply._tag === "Cut" && isLarge) return held(describeReply(reply))
  if (reply._tag !== "Answered") return failed(describeReply(reply))
  const { status, text } = reply
  const why = unreachable(status)
  if (why !== undefined) return skipped(why)
  if (status >= 400 && status < 500) return held(String(status))
  const field = endpoint === "verify" ? "isValid" : "success"
  const verdict = Option.getOrUndefined(decodeVerdict(text))
  if (status === 200 && verdict?.[field] === false) return held(`200, ${field} false`)
  return failed(verdict?.[field] === true ? `${status}, ${field} true` : `${status} without ${field} false`)
}

const Supported = Schema.fromJsonString(
  Schema.Struct({ kinds: Schema.Array(Schema.Struct({ x402Version: Schema.Int, network: Schema.String })) })
)
const decodeSupported = Schema.decodeUnknownOption(Supported)

/** Bytes from which a server may cut a connection rather than answer. */
const large = 60_000

export const facilitatorCases = Effect.fnUntraced(function* (target: FacilitatorTarget) {
  const headers = {
    "content-type": "application/json",
    ...(target.key === undefined ? {} : { authorization: `Bearer ${target.key}` })
  }
  const question = (endpoint: string, body: HostileBody["body"]): ProbeQuestion => ({
    method: "POST",
    url: under(target.url, endpoint),
    headers,
    body
  })
  const terms: Terms = { payTo: target.payTo ?? stranger.address, payer: target.payer }

  const supported = yield* ask({ method: "GET", url: under(target.url, "supported"), headers })
  const kinds =
    supported._tag === "Answered" ? Option.getOrUndefined(decodeSupported(supported.text))?.kinds : undefined
  const control = yield* ask(question("verify", "{}"))
  const barred =
    control._tag === "Answered"
      ? (unreachable(control.status) ??
        (control.status === 403 ? "403 also to an empty object: the key may not ask" : undefined))
      : `an empty object gets ${describeReply(control)}`

  const all = yield* Effect.forEach(versions, (version) =>
    Effect.gen(function* () {
      const bodies = (yield* Effect.promise(() =>
        Promise.all([
          paymentTerms(version, terms),
          paymentNumbers(version, terms),
          signatures(version, terms),
          jsonBodies(version, terms)
        ])
      )).flat()
      const cases = bodies.flatMap(({ name, reference, body }) =>
        (["verify", "settle"] as const).map(
          (endpoint): Case => ({
            group: "facilitator",
            id: `facilitator-v${version}-${endpoint}-${name}`,
            reference,
            expected: `4xx, or 200 with ${endpoint === "verify" ? "isValid" : "success"} false`,
            run: Effect.map(ask(question(endpoint, body)), (reply) =>
              judgeFacilitator(endpoint, reply, body.length > large)
            )
          })
        )
      )
      if (barred !== undefined) return skipAll(cases, barred)
      const isTaken =
        kinds === undefined ||
        kinds.some((kind) => kind.x402Version === version && kind.network === networkNames[version])
      return isTaken
        ? cases
        : skipAll(cases, `the facilitator does not take ${networkNames[version]} in version ${version}`)
    })
  )
  return all.flat()
})
