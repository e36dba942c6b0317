// Checks the invariants against a world, and remembers the rows of the previous check.
import type { Parts } from "../makeParts.ts"
import type { Nature } from "../Nature.ts"
import { atEnd } from "./atEnd.ts"
import { type AttemptOf, type Invariants, type Look, type Rows, whyDropped } from "./Look.ts"

/** The time a payment may take to settle. */
const latelyMillis = 15_000

export interface Broken {
  readonly invariant: string
  readonly detail: string
}

export class InvariantBroken extends Error {
  readonly broken: Broken
  constructor(broken: Broken) {
    super(`${broken.invariant}: ${broken.detail}`)
    this.broken = broken
  }
}

const noRows: Rows = {
  payments: [],
  deliveries: [],
  transfers: [],
  settlements: [],
  attempts: [],
  refunds: [],
  dropped: new Map()
}

export class Oracle {
  /** The time when the faults ended. */
  calmSince = 0
  readonly #nature: Nature
  readonly #parts: Parts
  /** True if instances run for long enough to let payments expire. */
  readonly #isPatient: boolean
  #before = noRows
  /** Attempts, and when they were last open. */
  readonly #seen = new Map<string, { readonly attempt: AttemptOf; readonly at: number }>()

  constructor(nature: Nature, parts: Parts, isPatient: boolean) {
    this.#nature = nature
    this.#parts = parts
    this.#isPatient = isPatient
  }

  /** Undefined during a transaction. */
  #look(): Look | undefined {
    const { board, ledger, plan, receivers, world } = this.#nature
    const { cluster, database, people, refundDesk, shop, signers, thief } = this.#parts
    const rows = database.rows(shop)
    if (rows === undefined) return undefined
    return {
      now: world.now,
      rows,
      before: this.#before,
      lately: [...this.#seen.values()].map(({ attempt }) => attempt),
      ledger,
      people,
      thief,
      signers,
      refundDesk,
      receivers,
      depths: {
        confirmed: plan.confirmations,
        included: plan.confirmations,
        safe: plan.safety,
        finalized: plan.finality
      },
      openTransactions: board.calm ? database.openTransactions() : 0,
      reported: new Set(board.calm ? database.reported() : []),
      receiver: shop.receiver,
      board,
      expiryMillis: plan.expirySeconds * 1_000,
      overdueBefore: this.#isPatient && board.calm ? this.calmSince : undefined,
      skewMillis: cluster.worstSkew
    }
  }

  /** Fails with an `InvariantBroken`. During a transaction it waits for the next step. */
  check(invariants: Invariants): void {
    const look = this.#look()
    if (look === undefined) {
      this.#nature.board.changed = true
      return
    }
    this.#parts.people.stored(look.rows)
    for (const [invariant, holds] of Object.entries(invariants)) {
      const detail = holds(look)
      if (detail !== undefined) throw new InvariantBroken({ invariant, detail })
    }
    this.#see(look)
    this.#before = look.rows
  }

  #see({ now, rows }: Look): void {
    for (const [key, { at }] of this.#seen) if (at < now - latelyMillis) this.#seen.delete(key)
    for (const attempt of rows.attempts)
      this.#seen.set(`${attempt.paymentId} ${attempt.payer} ${attempt.since.getTime()}`, { attempt, at: now })
  }

  /** True if nothing is due any more. */
  isQuiet(): boolean {
    const look = this.#look()
    if (look === undefined) return false
    const read = this.#parts.database.readUpTo()
    const busy = this.#nature.ledger.fork.blocks.findLast(({ mined }) => mined.length > 0)?.number ?? -1
    if (read < busy || this.#nature.ledger.isWaiting) return false
    return Object.values(atEnd).every((holds) => holds(look) === undefined)
  }

  /** All rows and posts, for the hash. */
  noteRows(): void {
    const { rows } = this.#look() ?? {}
    const text = JSON.stringify([rows, this.#nature.receivers.posts], (_, value: unknown) =>
      typeof value === "bigint" ? value.toString() : value
    )
    this.#nature.world.trace.noteText(text)
  }

  /** All rows, for the reader. */
  tellRows(): void {
    for (const [kind, rows] of Object.entries(this.#look()?.rows ?? {}))
      for (const row of rows)
        this.#nature.world.trace.whisper(
          this.#nature.world.elapsed,
          kind,
          Bun.inspect(row, { compact: true })
        )
  }

  /** The outcomes of payments and deliveries, by name. */
  states(): ReadonlyMap<string, number> {
    const states = new Map<string, number>()
    const { deliveries, dropped, payments, refunds, settlements, transfers } = this.#look()?.rows ?? noRows
    const because = (reason: string | null) => (reason === null ? "" : `, ${reason}`)
    const names = [
      ...settlements.map(({ reason, status }) => `authorization ${status}${because(reason)}`),
      ...payments.map(({ failureReason, status }) => `payment ${status}${because(failureReason)}`),
      ...[...dropped.values()].map((message) => `settled transfer gone, ${whyDropped(message)}`),
      ...deliveries.map(({ attempts, status, type }) => `${type} ${status} after ${attempts.length}`),
      ...refunds.map(({ droppedAt, failureReason, status }) =>
        droppedAt === null ? `refund ${status}${because(failureReason)}` : "refund dropped"
      ),
      ...transfers.map(({ droppedAt, kind, paymentId }) =>
        droppedAt !== null
          ? "transfer dropped"
          : paymentId !== null
            ? "transfer explained"
            : `transfer ${kind ?? "undecided"}`
      )
    ]
    for (const name of names) states.set(name, (states.get(name) ?? 0) + 1)
    return states
  }
}
