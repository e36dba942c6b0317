// Every state change that a payment, a claim, an incoming transfer, a refund or an x402 settlement may make.
// Triggers refuse all others (src/platform/database/transitionTriggers.ts), and the table of docs/contract.md,
// section 3 is generated from it. The statements that make the changes are written by hand.

export const entities = [
  "payments",
  "claimed_transfers",
  "incoming_transfers",
  "refunds",
  "x402_settlements"
] as const
export type Entity = (typeof entities)[number]

/** A condition of a state change besides the state itself. */
export type Requirement =
  | "it is of a payment"
  | "it is of a refund"
  | "it is watched"
  | "its money stays"
  | "its transfer is another"

export interface Transition {
  readonly entity: Entity
  /** null: the row is created. */
  readonly from: string | null
  readonly event: string
  /** null: the row is deleted. */
  readonly to: string | null
  readonly requires?: Requirement
  /** The caller's response, for the contract's table. */
  readonly answer?: string
}

const transitionOf =
  (entity: Entity) =>
  (
    from: string | null,
    event: string,
    to: string | null,
    more: Pick<Transition, "answer" | "requires"> = {}
  ): Transition => ({ entity, from, event, to, ...more })

const payment = transitionOf("payments")
const claim = transitionOf("claimed_transfers")
const transfer = transitionOf("incoming_transfers")
const refund = transitionOf("refunds")
const settlement = transitionOf("x402_settlements")

const settles = "200; `payment.settled` is sent"

/**
 * No update may change the columns that identify a row's money. An update that keeps a row's state is otherwise not
 * checked, unless the table has transitions from that state to itself: then one of them must match.
 */
export const transitions: ReadonlyArray<Transition> = [
  payment(null, "first use of an intent token", "pending", { answer: "201" }),
  payment(
    "pending",
    "a report whose transfer is proven, or an announced transfer that the service finds itself",
    "settled",
    { answer: settles }
  ),
  payment("pending", "`PAYMENT_EXPIRY` without a transfer, once the chain is read up to then", "failed"),
  payment("pending", "24 hours after its last report, none of which was proven", "failed"),
  payment("pending", "its payment link opens another payment in its place", "failed"),
  payment("failed", "its exact transfer, proven late", "settled", { answer: settles }),
  payment("settled", "another of its columns changes", "settled", { requires: "its money stays" }),

  claim(null, "a payment settles", "held", { requires: "it is of a payment" }),
  claim(null, "a refund is proven", "held", { requires: "it is of a refund" }),
  claim("held", "its block is looked at", "held", { requires: "its money stays" }),
  claim("held", "the chain no longer shows its transfer", "dropped", { requires: "it is watched" }),
  claim("dropped", "its block is looked at", "dropped", { requires: "its money stays" }),
  claim("dropped", "its transfer returns", "held", { requires: "its money stays" }),
  claim("dropped", "another transfer of the same authorization or nonce is mined", "held", {
    requires: "its transfer is another"
  }),
  claim("dropped", "its refund is cancelled", null, { requires: "it is of a refund" }),

  transfer(null, "it is read from the chain", "open"),
  transfer(null, "it is read from the chain after a payment has claimed it", "paid"),
  transfer("open", "a payment claims it", "paid"),
  transfer("open", "a person begins to attach it to a payment", "attaching"),
  transfer("attaching", "the payment claims it", "paid"),
  transfer("paid", "another of its columns changes", "paid", { requires: "its money stays" }),
  transfer("attaching", "the payment does not settle", "open"),
  transfer("open", "a person handles or refunds it", "handled"),
  transfer("attaching", "a person handles or refunds it", "handled"),
  transfer("handled", "its last refund ends unsent", "open"),
  ...["open", "paid", "attaching", "handled"].flatMap((state) => [
    transfer(state, "the chain no longer shows it", "dropped"),
    transfer("dropped", "it returns", state)
  ]),

  refund(null, "it is announced", "pending"),
  refund("pending", "its transfer is proven", "proven"),
  refund("pending", "nobody sends it, or its transaction does not prove it", "failed"),
  refund("pending", "the merchant cancels it", "cancelled"),
  refund("proven", "its block is looked at", "proven", { requires: "its money stays" }),
  refund("proven", "the chain no longer shows its transfer", "dropped", { requires: "its money stays" }),
  refund("dropped", "its block is looked at", "dropped", { requires: "its money stays" }),
  refund("dropped", "its transfer returns", "proven", { requires: "its money stays" }),
  refund("dropped", "its transfer does not return", "failed"),
  refund("dropped", "the merchant cancels it", "cancelled"),

  settlement(null, "an authorization is handed in", "reserved"),
  settlement("reserved", "its transaction cannot be sent now", "released"),
  settlement("released", "its transaction is sent after all", "reserved"),
  settlement("reserved", "the chain has used its authorization", "settled"),
  settlement("released", "the chain has used its authorization", "settled"),
  settlement("reserved", "its authorization can no longer be used", "failed"),
  settlement("released", "its authorization can no longer be used", "failed"),
  settlement("failed", "a new signature for the same nonce is handed in", "reserved"),
  settlement("settled", "another of its columns changes", "settled", { requires: "its money stays" }),
  settlement("settled", "its success is delivered", "delivered", { requires: "its money stays" }),
  settlement("delivered", "another of its columns changes", "delivered", { requires: "its money stays" })
]

export const transitionsOf = (entity: Entity): ReadonlyArray<Transition> =>
  transitions.filter((move) => move.entity === entity)

/** States of an entity, in the order of the table. */
export const statesOf = (entity: Entity): ReadonlyArray<string> => [
  ...new Set(transitionsOf(entity).flatMap(({ from, to }) => [from, to].filter((state) => state !== null)))
]

/** Responses to requests that do not change a payment. `any` means every state. */
const responsesWithoutTransition: ReadonlyArray<Omit<Transition, "entity">> = [
  { from: "any", event: "the same token again", to: "unchanged", answer: "200 with the same payment" },
  {
    from: "pending",
    event: "a report that is not on the chain yet, or not confirmed",
    to: "pending",
    answer: "202 `TEST_SETTLEMENT_PENDING`"
  },
  {
    from: "pending",
    event: "a report that does not match",
    to: "pending",
    answer: "422 `TEST_SETTLEMENT_MISMATCH`"
  },
  {
    from: "pending",
    event: "a live report while Mainnet is closed",
    to: "pending",
    answer: "202 `LIVE_SETTLEMENT_GATED`"
  },
  { from: "settled", event: "the same evidence again", to: "settled", answer: "200" },
  { from: "settled", event: "other evidence", to: "settled", answer: "409 `PAYMENT_REPORT_CONFLICT`" }
]

const order = [null, "any", ...statesOf("payments")]
const stateCell = (state: string | null) =>
  state === null ? "none" : statesOf("payments").includes(state) ? `\`${state}\`` : state

/** The table of docs/contract.md, section 3: events that change a payment, and events that do not. */
export const paymentTable = (): string =>
  [
    "| From | By | To | Answer |",
    "|---|---|---|---|",
    ...[...transitionsOf("payments").filter(({ from, to }) => from !== to), ...responsesWithoutTransition]
      .toSorted((left, right) => order.indexOf(left.from) - order.indexOf(right.from))
      .map(({ answer = "", event, from, to }) =>
        `| ${stateCell(from)} | ${event} | ${stateCell(to)} | ${answer} |`.replace("|  |", "| |")
      )
  ].join("\n")
