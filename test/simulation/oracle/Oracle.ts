// Holds a world against the invariants: what it looks at, and what the look before it saw.
import type { Ledger } from "../chain/Ledger.ts"
import type { FaultBoard } from "../faults.ts"
import type { Parts } from "../makeParts.ts"
import type { Plan } from "../Plan.ts"
import type { Receivers } from "../Receivers.ts"
import type { World } from "../World.ts"
import { atEnd } from "./atEnd.ts"
import { type AttemptOf, type Invariant, type Look, type PaymentOf, type Rows, whyDropped } from "./Look.ts"

/** For so long a payment may be on its way to being settled. */
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

const textOf = (stored: unknown) =>
  JSON.stringify(stored, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value))

/** What the rows of a shop are of. */
const readKinds = [
  "payments",
  "attempts",
  "settlements",
  "refunds",
  "deliveries",
  "transfers",
  "dropped"
] as const
/** What memory's rows have beside what invariants read: when the service looks again, and what it has told. */
const unread: ReadonlySet<string> = new Set(["matchAt", "checkAt", "alerted"])

const readOf = (stored: unknown) =>
  JSON.stringify(stored instanceof Map ? [...stored] : stored, (name, value: unknown) =>
    typeof value === "bigint" ? value.toString() : unread.has(name) ? undefined : value
  )

export class Oracle {
  /** Whether a payment waited in the last look. */
  awaited = false
  /** Once the faults have ceased: when. */
  calmSince = 0
  readonly #plan: Plan
  readonly #world: World
  readonly #board: FaultBoard
  readonly #ledger: Ledger
  readonly #receivers: Receivers
  readonly #parts: Parts
  readonly #isPatient: boolean
  #rowsBefore: ReadonlyArray<Rows> = []
  #before: ReadonlyMap<string, PaymentOf> = new Map()
  #ended: ReadonlyMap<string, string> = new Map()
  /** Attempts, and when they were last seen open. */
  readonly #seen = new Map<string, { readonly attempt: AttemptOf; readonly at: number }>()

  constructor(around: {
    readonly plan: Plan
    readonly world: World
    readonly board: FaultBoard
    readonly ledger: Ledger
    readonly receivers: Receivers
    readonly parts: Parts
    /** Whether instances run for long enough to let payments expire. */
    readonly isPatient: boolean
  }) {
    this.#plan = around.plan
    this.#world = around.world
    this.#board = around.board
    this.#ledger = around.ledger
    this.#receivers = around.receivers
    this.#parts = around.parts
    this.#isPatient = around.isPatient
  }

  /** Undefined while somebody is in a transaction. */
  #look(): Look | undefined {
    const { baseUrl, cluster, gasPerMerchant, intruder, people, refundDesk, shops, signers, store, thief } =
      this.#parts
    const rows = store.rows(shops)
    if (rows === undefined) return undefined
    return {
      now: this.#world.now,
      rows,
      rowsBefore: this.#rowsBefore,
      before: this.#before,
      ended: this.#ended,
      lately: [...this.#seen.values()].map(({ attempt }) => attempt),
      ledger: this.#ledger,
      people,
      thief,
      signers,
      refundDesk,
      intruder,
      receivers: this.#receivers,
      confirmations: this.#plan.confirmations,
      openTransactions: this.#board.calm ? store.openTransactions() : 0,
      reported: new Set(this.#board.calm ? store.reported() : []),
      gasPerMerchant,
      baseUrl,
      board: this.#board,
      expiryMillis: this.#plan.expirySeconds * 1_000,
      overdueBefore: this.#isPatient && this.#board.calm ? this.calmSince : undefined,
      skewMillis: cluster.worstSkew
    }
  }

  /** Fails with an `InvariantBroken`. While somebody is in a transaction it waits for the next step. */
  check(invariants: Readonly<Record<string, Invariant>>): void {
    const look = this.#look()
    if (look === undefined) {
      this.#board.changed = true
      return
    }
    this.#parts.people.stored(look.rows)
    for (const [invariant, holds] of Object.entries(invariants)) {
      const detail = holds(look)
      if (detail !== undefined) throw new InvariantBroken({ invariant, detail })
    }
    this.awaited = look.rows.some(({ payments }) => payments.some(({ status }) => status === "pending"))
    this.#see(look)
    this.#rowsBefore = look.rows
    this.#before = new Map(look.rows.flatMap(({ payments }) => payments.map((one) => [String(one.id), one])))
    this.#ended = new Map(
      look.rows.flatMap(({ deliveries }) =>
        deliveries.flatMap(({ id, status }) => (status === "pending" ? [] : [[id, status]]))
      )
    )
  }

  /** Fails with an `InvariantBroken` where a row is not as the last look saw it. */
  expectUnmoved(): void {
    const rows = this.#parts.store.rows(this.#parts.shops)
    if (rows === undefined || this.#rowsBefore.length === 0) return
    for (const [index, now] of rows.entries())
      for (const what of readKinds) {
        const [stored, seen] = [now, this.#rowsBefore[index]].map((one) => readOf(one?.[what]))
        if (stored === seen) continue
        const invariant = "the oracle looks after every step that changes a row"
        throw new InvariantBroken({
          invariant,
          detail: `${what} of ${now.shop.name}: ${seen}, then ${stored}`
        })
      }
  }

  #see({ now, rows }: Look): void {
    for (const [key, { at }] of this.#seen) if (at < now - latelyMillis) this.#seen.delete(key)
    for (const { attempts } of rows)
      for (const attempt of attempts)
        this.#seen.set(`${attempt.paymentId} ${attempt.payer} ${attempt.since.getTime()}`, {
          attempt,
          at: now
        })
  }

  /** Whether nothing is due any more. */
  isQuiet(): boolean {
    const look = this.#look()
    if (look === undefined) return false
    const read = this.#parts.store.readUpTo()
    const busy = this.#ledger.fork.blocks.findLast(({ mined }) => mined.length > 0)?.number ?? -1
    if (read < busy || this.#ledger.isWaiting) return false
    return Object.values(atEnd).every((holds) => holds(look) === undefined)
  }

  /** All that is stored and was posted, for the hash. */
  noteRows(): void {
    const { posts } = this.#receivers
    const { rows } = this.#look() ?? { rows: [] }
    this.#world.trace.noteText(textOf([rows.map(({ shop: _, ...stored }) => stored), posts]))
  }

  /** What is stored, for the reader. */
  tellRows(): void {
    const tell = (what: string) => this.#world.trace.whisper(this.#world.elapsed, "rows", what)
    for (const { deliveries, payments, refunds, settlements, shop, transfers } of this.#look()?.rows ?? []) {
      for (const { id, nonce, paymentId, reason, status } of settlements)
        tell(
          `${shop.name} authorization ${nonce.slice(0, 10)} (${id}) for ${paymentId} ${status} ${reason ?? ""}`
        )
      for (const { id, reported, status } of payments)
        tell(`${shop.name} payment ${id} ${status} ${reported?.evidence.transactionId.slice(0, 10) ?? ""}`)
      for (const { blockNumber, droppedAt, kind, paymentId, transactionId } of transfers)
        tell(
          `${shop.name} transfer ${transactionId.slice(0, 10)} in ${blockNumber}, ${paymentId === null ? `${kind ?? "undecided"}, of no payment` : `explained by ${paymentId}`}${droppedAt === null ? "" : ", dropped"}`
        )
      for (const { amount, id, paymentId, status, transactionId } of refunds)
        tell(`${shop.name} refund ${id} of ${amount} for ${paymentId} ${status} ${transactionId ?? ""}`)
      for (const { attempts, id, status, type } of deliveries)
        tell(`${shop.name} ${type} ${id} ${status} after ${attempts.length}`)
    }
  }

  /** What payments and deliveries came to, by name. */
  states(): ReadonlyMap<string, number> {
    const states = new Map<string, number>()
    for (const { deliveries, dropped, payments, refunds, settlements, transfers } of this.#look()?.rows ??
      []) {
      const names = [
        ...settlements.map(
          ({ reason, status }) => `authorization ${status}${reason === null ? "" : `, ${reason}`}`
        ),
        ...payments.map(
          ({ failureReason, status }) =>
            `payment ${status}${failureReason === null ? "" : ` ${failureReason}`}`
        ),
        // Of several shops' alerts each in memory.
        ...payments.flatMap(({ id }) => {
          const why = whyDropped(dropped.get(id))
          return why === undefined ? [] : [`settled transfer gone, ${why}`]
        }),
        ...deliveries.map(({ attempts, status, type }) => `${type} ${status} after ${attempts.length}`),
        ...refunds.map(({ droppedAt, failureReason, status }) =>
          droppedAt === null
            ? `refund ${status}${failureReason === null ? "" : ` ${failureReason}`}`
            : "refund dropped"
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
    }
    return states
  }
}
