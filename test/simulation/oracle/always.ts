// What must hold after every step that changes a row. To add an invariant, write it into one of these: it answers what
// is wrong, or undefined.
import { answers } from "./always/answers.ts"
import { authorizations } from "./always/authorizations.ts"
import { deliveries } from "./always/deliveries.ts"
import { payments } from "./always/payments.ts"
import { refunds } from "./always/refunds.ts"
import type { Invariant } from "./Look.ts"

export const always: Readonly<Record<string, Invariant>> = {
  ...payments,
  ...authorizations,
  ...deliveries,
  ...refunds,
  ...answers
}
