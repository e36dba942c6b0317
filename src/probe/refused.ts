// The case of a request that must be refused, whatever the reason.
import { Effect } from "effect"
import { ask, describeReply, type Question, type Reply } from "./ask.ts"
import { type Case, failed, type Group, held, type Judgement, skipped } from "./Case.ts"

export const judgeRefusal = (reply: Reply): Judgement => {
  const told = describeReply(reply)
  if (reply._tag !== "Answered") return failed(told)
  if (reply.status === 429) return skipped("429: a rate limit answers; probe again later, or raise it")
  return (reply.status >= 400 && reply.status < 500 ? held : failed)(told)
}

export const refused = (group: Group, id: string, reference: string, question: Question): Case => ({
  group,
  id,
  reference,
  expected: "refused with 4xx",
  run: Effect.map(ask(question), judgeRefusal)
})
