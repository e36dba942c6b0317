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
    const [first] = look.people.failures
    return first === undefined ? undefined : `${first} was answered 500`
  }
}
