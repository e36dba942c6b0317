// The model: what was sent, in which block it lies, and what every payment may
// become. It knows no code of the service. fast-check drives it and a world at
// once; whatever differs is a bug of one of the two.
import { expect } from "bun:test"
import fc from "fast-check"

export type Fault = "none" | "fail" | "lie"
/** People by number: 0 and 1 are buyers. */
export type Buyer = 0 | 1

/** The service and a chain, wherever they stand. Payments and transactions go by the order of their making. */
export interface World {
  readonly open: (amount: number) => Promise<void>
  /** Mined at once, in a block of its own. `copies` equal transfers in one transaction. */
  readonly send: (from: Buyer, amount: number, copies: number) => Promise<void>
  readonly mine: (blocks: number) => Promise<void>
  readonly reorganise: (depth: number, keep: boolean) => Promise<void>
  readonly fault: (fault: Fault) => Promise<void>
  /** `Settled`, `Pending`, or the error's code and reason. */
  readonly report: (payment: number, transaction: number, by: Buyer) => Promise<string>
  /** Ends the service between two requests and restarts it on the same database. */
  readonly restart: () => Promise<void>
  /** Lets time pass, and the reconciler work. */
  readonly pass: (seconds: number) => Promise<void>
  readonly statuses: () => Promise<ReadonlyArray<{ readonly status: string; readonly transaction: number }>>
  readonly deliveries: () => Promise<number>
  readonly close: () => Promise<void>
}

interface Sent {
  readonly from: Buyer
  readonly amount: number
  readonly copies: number
  claimed: number
  /** A reorganisation has moved it after a payment had claimed it: further claims wait. */
  moved: boolean
}
interface Kept {
  readonly transaction: number
  readonly by: Buyer
  /** A look may have ended it permanently. */
  ended: boolean
}
interface Opened {
  readonly amount: number
  readonly at: number
  status: "pending" | "settled" | "failed"
  evidence: { readonly transaction: number; readonly by: Buyer } | undefined
  /** Each report by its own evidence: none displaces another. */
  readonly kept: Map<string, Kept>
}

export class Model {
  readonly payments: Array<Opened> = []
  readonly sent: Array<Sent> = []
  /** Transactions by block, with the block's time; one empty block below. */
  blocks: Array<{ readonly time: number; readonly transactions: ReadonlyArray<number> }> = [
    { time: 0, transactions: [] }
  ]
  fault: Fault = "none"
  now = 0
  /** What happened, to show that the lives were not idle. */
  readonly seen: Array<string> = []

  height(transaction: number): number {
    return this.blocks.findIndex(({ transactions }) => transactions.includes(transaction))
  }

  /** What a look at the chain must give now. */
  look(payment: Opened, transaction: number, by: Buyer): string {
    if (this.fault === "fail") return "CHAIN_UNAVAILABLE"
    if (this.fault === "lie") return "Pending"
    const height = this.height(transaction)
    const sent = this.sent[transaction]
    const block = this.blocks[height]
    if (sent === undefined || block === undefined) return "Pending"
    if (sent.from !== by || sent.amount !== payment.amount) {
      return `TEST_SETTLEMENT_MISMATCH ${sent.from === by ? "amount" : "payer"}`
    }
    if (block.time < payment.at - 60) return "TEST_SETTLEMENT_MISMATCH too_old"
    if (this.blocks.length - 1 - height < 1) return "Pending"
    return sent.claimed < sent.copies ? "Settled" : "TEST_SETTLEMENT_MISMATCH already_used"
  }

  settle(payment: Opened, transaction: number, by: Buyer): void {
    const sent = this.sent[transaction]
    expect(sent !== undefined && sent.claimed < sent.copies).toBe(true)
    if (sent !== undefined) sent.claimed += 1
    payment.status = "settled"
    payment.evidence = { transaction, by }
  }
}

/** Everything that a report and the service's own work can come to. */
export const outcomes = [
  "Settled",
  "Pending",
  "CHAIN_UNAVAILABLE",
  "PAYMENT_REPORT_CONFLICT",
  "TEST_SETTLEMENT_MISMATCH amount",
  "TEST_SETTLEMENT_MISMATCH payer",
  "TEST_SETTLEMENT_MISMATCH too_old",
  "TEST_SETTLEMENT_MISMATCH already_used",
  "settled by the reconciler",
  "failed"
] as const

type Command = fc.AsyncCommand<Model, World>

class Step implements Command {
  readonly name: string
  readonly ready: (model: Readonly<Model>) => boolean
  readonly act: (model: Model, world: World) => Promise<void>
  constructor(name: string, ready: Step["ready"], act: Step["act"]) {
    this.name = name
    this.ready = ready
    this.act = act
  }
  check(model: Readonly<Model>) {
    return this.ready(model)
  }
  async run(model: Model, world: World) {
    await this.act(model, world)
    await agree(model, world)
  }
  toString() {
    return this.name
  }
}
const always = () => true

/** After every step: settled permanently, justified, each transfer used once, a webhook for each settlement. */
const agree = async (model: Model, world: World) => {
  const statuses = await world.statuses()
  expect(statuses).toHaveLength(model.payments.length)
  for (const [index, payment] of model.payments.entries()) {
    const real = statuses[index]
    if (real === undefined) continue
    if (payment.status !== "settled" && real.status === "settled") {
      // By the reconciler, a failed one too: one of the kept reports must justify it.
      const kept = [...payment.kept.values()].find(
        (one) =>
          one.transaction === real.transaction && model.look(payment, one.transaction, one.by) === "Settled"
      )
      expect(kept).toBeDefined()
      if (kept !== undefined) model.settle(payment, kept.transaction, kept.by)
      model.seen.push("settled by the reconciler")
    }
    if (payment.status === "pending" && real.status === "failed") {
      expect(payment.kept.size).toBe(0)
      expect(model.now - payment.at).toBeGreaterThan(expirySeconds)
      payment.status = "failed"
      model.seen.push("failed")
    }
    expect(real.status).toBe(payment.status)
    if (payment.evidence !== undefined) expect(real.transaction).toBe(payment.evidence.transaction)
  }
  expect(await world.deliveries()).toBe(model.payments.filter(({ status }) => status === "settled").length)
}

export const expirySeconds = 110

const open = (amount: number) =>
  new Step(`open(${amount})`, always, async (model, world) => {
    await world.open(amount)
    model.payments.push({ amount, at: model.now, status: "pending", evidence: undefined, kept: new Map() })
  })
const send = (from: Buyer, amount: number, copies: number) =>
  new Step(`send(${from}, ${amount}, ${copies})`, always, async (model, world) => {
    await world.send(from, amount, copies)
    model.sent.push({ from, amount, copies, claimed: 0, moved: false })
    model.blocks.push({ time: model.now, transactions: [model.sent.length - 1] })
  })
const mine = (blocks: number) =>
  new Step(`mine(${blocks})`, always, async (model, world) => {
    await world.mine(blocks)
    for (let block = 0; block < blocks; block++) model.blocks.push({ time: model.now, transactions: [] })
  })
const reorganise = (depth: number, keep: boolean) =>
  new Step(
    `reorganise(${depth}, ${keep})`,
    (model) => model.blocks.length > depth,
    async (model, world) => {
      await world.reorganise(depth, keep)
      const removed = model.blocks.splice(model.blocks.length - depth)
      for (const one of removed.flatMap((block) => block.transactions)) {
        const sent = model.sent[one]
        if (sent !== undefined && sent.claimed > 0) sent.moved = true
      }
      const transactions = keep ? removed.flatMap((block) => block.transactions) : []
      for (const [index] of removed.entries()) {
        model.blocks.push({ time: model.now, transactions: index === 0 ? transactions : [] })
      }
    }
  )
const fault = (kind: Fault) =>
  new Step(`fault(${kind})`, always, async (model, world) => {
    await world.fault(kind)
    model.fault = kind
  })
const report = (which: number, what: number, by: Buyer) =>
  new Step(
    `report(${which}, ${what}, ${by})`,
    (model) => model.payments.length > 0 && model.sent.length > 0,
    async (model, world) => {
      const index = which % model.payments.length
      const transaction = what % model.sent.length
      const payment = model.payments[index]
      if (payment === undefined) return
      const { evidence, status } = payment
      const look = model.look(payment, transaction, by)
      const proven =
        status === "settled"
          ? evidence?.transaction === transaction && evidence.by === by
            ? "Settled"
            : "PAYMENT_REPORT_CONFLICT"
          : status === "failed" && look.startsWith("TEST_SETTLEMENT_MISMATCH")
            ? "PAYMENT_FAILED"
            : look
      const actual = await world.report(index, transaction, by)
      const waits = status !== "settled" && model.sent[transaction]?.moved === true && actual === "Pending"
      const expected = waits ? "Pending" : proven
      expect(actual).toBe(expected)
      model.seen.push(expected)
      if (payment.status === "settled") return
      payment.kept.set(`${by} ${transaction}`, {
        transaction,
        by,
        ended: look.startsWith("TEST_SETTLEMENT_MISMATCH")
      })
      if (expected === "Settled") model.settle(payment, transaction, by)
    }
  )
const restart = new Step("restart", always, (_model, world) => world.restart())

/** Looks that a mismatch may have ended. */
const markEnded = (model: Model) => {
  for (const payment of model.payments) {
    for (const kept of payment.kept.values()) {
      if (model.look(payment, kept.transaction, kept.by).startsWith("TEST_SETTLEMENT_MISMATCH"))
        kept.ended = true
    }
  }
}
const pass = (seconds: number) =>
  new Step(`pass(${seconds})`, always, async (model, world) => {
    markEnded(model)
    await world.pass(seconds)
    model.now += seconds
    // The chain goes on: what a deadline decides rests on blocks that came after it.
    await world.mine(1)
    model.blocks.push({ time: model.now, transactions: [] })
  })

const buyer = fc.constantFrom<Buyer>(0, 0, 1)
const amount = fc.constantFrom(3, 3, 5)

/** What can happen; `batches` where the world's chain can move several transfers in one transaction. */
export const commands = (batches: boolean): ReadonlyArray<fc.Arbitrary<Command>> => [
  amount.map(open),
  amount.map(open),
  fc
    .tuple(buyer, amount, batches ? fc.constantFrom(1, 1, 2) : fc.constant(1))
    .map(([from, value, copies]) => send(from, value, copies)),
  fc.integer({ min: 1, max: 2 }).map(mine),
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()).map(([depth, keep]) => reorganise(depth, keep)),
  fc.constantFrom<Fault>("none", "none", "fail", "lie").map(fault),
  ...Array.from({ length: 4 }, () =>
    fc.tuple(fc.nat(7), fc.nat(7), buyer).map(([which, what, by]) => report(which, what, by))
  ),
  fc.constant(restart),
  // Well away from the 60 s of tolerance: a world in real time drifts.
  fc.constantFrom(35, 90, 240).map(pass)
]

/** The end of each run: with the nodes well and time to look, what is paid and reported is settled. */
export const settlesInTheEnd = async (model: Model, world: World): Promise<void> => {
  for (const last of [fault("none"), mine(2), pass(330)]) await last.run(model, world)
  for (const payment of model.payments) {
    if (payment.status === "settled") continue
    for (const kept of payment.kept.values()) {
      if (!kept.ended) expect(model.look(payment, kept.transaction, kept.by)).not.toBe("Settled")
    }
  }
}
