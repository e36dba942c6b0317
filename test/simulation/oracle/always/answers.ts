// Of what callers are told.
import type { Invariant } from "../Look.ts"

export const answers: Readonly<Record<string, Invariant>> = {
  "what is wrong is refused": ({ thief }) => thief.gotAway[0],

  "nobody gets what is another's": ({ intruder }) => intruder.gotIn[0],

  "a refusal tells what is wrong": ({ thief }) => thief.misled[0],

  "an answer tells what was asked, stored and on the chain": ({ people }) => people.untrue[0],

  "no answer is an internal error": (look) => {
    if (
      look.board.has("a statement fails before its commit") ||
      look.board.has("the answer of a commit is lost")
    )
      return undefined
    const last = look.people.answers.at(-1)
    return last?.answer.status === 500 ? `${last.ask.do} was answered 500` : undefined
  }
}
