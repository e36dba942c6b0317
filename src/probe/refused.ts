// The case of a request that must be refused, whatever the reason.
import { Effect } from "effect"
import { ask, describeReply, type ProbeQuestion, type Reply } from "./ask.ts"
import { type Case, failed, type Group, held, type Judgement, skipped } from "./Case.ts"
import { unanswered } from "./unreachable.ts"

export const judgeRefusal = (reply: Reply): Judgement => {
  const told = describeReply(reply)
  if (reply._tag !== "Answered") return failed(told)
  const why = unanswered(reply.status)
  if (why !== undefined) return skipped(why)
  return (reply.status >= 400 && reply.status < 500 ? held : failed)(told)
}

export const refused = (group: Group, id: string, reference: string, question: ProbeQuestion): Case => ({
  group,
  id,
  reference,
  expected: "refused with 4xx",
  run: Effect.map(ask(question), judgeRefusal)
})
