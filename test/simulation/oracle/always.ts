// The invariants that must hold after every step that changes a row. Each returns a violation, or undefined.
import { authorizations } from "./always/authorizations.ts"
import { deliveries } from "./always/deliveries.ts"
import { payments } from "./always/payments.ts"
import { refunds } from "./always/refunds.ts"
import type { Invariants } from "./Look.ts"

export const always: Invariants = {
  ...payments,
  ...authorizations,
  ...deliveries,
  ...refunds,

  "a report of what did not happen is refused": ({ thief }) => thief.gotAway[0],

  "an answer agrees with what is stored": ({ people }) => people.untrue[0],

  "no answer is an internal error": ({ board, people }) => {
    if (board.has("a statement fails before its commit") || board.has("the answer of a commit is lost"))
      return undefined
    const [first] = people.failures
    return first === undefined ? undefined : `${first} was answered 500`
  }
}
