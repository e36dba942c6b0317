// A thief who tries to get goods for nothing: by others' transfers, one transfer twice, and transfers that nearly pay.
import { Effect, Fiber } from "effect"
import type { Address, TransactionHash } from "../../src/domain/Chain.ts"
import { blockTolerance } from "../../src/payments/AttemptRepo/AttemptStore.ts"
import type { Ledger, Move, Transaction } from "./chain/Ledger.ts"
import type { Nature } from "./Nature.ts"
import { addressOf, careless, type People, type Purchase, purchaseOf, thief } from "./People.ts"
import type { Plan } from "./Plan.ts"
import type { World } from "./World.ts"

/** The service relies for half a minute on a height that it has read, and the reading takes time too. */
const readSecondsAgo = 60

const [elsewhere, otherToken] = [addressOf(0x73), addressOf(0x75)]

const tricks = [
  "other's transfer",
  "other's transfer and token",
  "one transfer twice",
  "one payment twice",
  "batch",
  "nearly right",
  "nearly right",
  "changeable",
  "at times reverted",
  "to itself",
  "double spend",
  "older transfer",
  "transfer at the edge",
  "false declaration"
] as const

/** Transfers that differ in one property from the one that pays. */
const nearly = (shop: Address, amount: bigint): ReadonlyArray<Move> => [
  { from: thief, to: shop, amount: amount - 1n },
  { from: careless, to: shop, amount },
  { from: thief, to: elsewhere, amount },
  { from: thief, to: shop, amount, token: otherToken }
]

/** Pays in blocks of the height's parity, and in other blocks differs slightly. */
const changeable = (
  shop: Address,
  amount: bigint,
  height: number
): Pick<Transaction, "moves" | "movesInOdd"> => {
  const right: ReadonlyArray<Move> = [{ from: thief, to: shop, amount }]
  const wrong = nearly(shop, amount)
  return height % 2 === 0 ? { moves: right, movesInOdd: wrong } : { moves: wrong, movesInOdd: right }
}

export class Thief {
  /** The older transfer with which a payment was reported, by payment. */
  readonly older = new Map<string, TransactionHash>()
  /** Reports that should have been refused, and were not. */
  readonly gotAway: Array<string> = []
  readonly #world: World
  readonly #people: People
  readonly #ledger: Ledger
  readonly #plan: Plan

  constructor({ ledger, plan, world }: Nature, people: People) {
    this.#plan = plan
    this.#world = world
    this.#people = people
    this.#ledger = ledger
  }

  #purchase(): Effect.Effect<Purchase | undefined> {
    const amount = 1_000_000n
    return Effect.map(this.#people.open("thief", amount), (paymentId) =>
      paymentId === undefined ? undefined : purchaseOf({ buyer: thief, amount, paymentId })
    )
  }

  #submit(part: Partial<Omit<Transaction, "hash">>): TransactionHash {
    return this.#ledger.submit({
      sender: thief,
      nonce: this.#ledger.pendingNonce(thief),
      moves: [{ from: thief, to: this.#people.shop.receiver, amount: 1_000_000n }],
      noise: this.#people.draw.below(3),
      reverts: false,
      ...part
    }).hash
  }

  #insistOn(
    purchase: Purchase,
    hash: TransactionHash,
    changed: Partial<ReturnType<People["reportOf"]>> = {}
  ): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let looks = 0; looks < 8; looks++) {
        const report = { ...this.#people.reportOf(purchase, hash), ...changed }
        const answer = yield* this.#people.ask("thief", report)
        if (answer?.status === 200) {
          if (changed.tokenChanges !== undefined) this.gotAway.push(JSON.stringify(changed.tokenChanges))
          return
        }
        yield* Effect.sleep(this.#people.draw.between(300, 4_000))
      }
    })
  }

  /** Uses payments of its own. */
  readonly steal: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const { draw } = this.#people
    const { receiver } = this.#people.shop
    const [first, second] = [yield* this.#purchase(), yield* this.#purchase()]
    if (first === undefined || second === undefined) return
    // The effect of these shows when blocks with settled transfers are replaced.
    const isDeep = this.#plan.faults.has("a reorganisation is deep") && draw.chance(0.5)
    const trick = draw.pick(isDeep ? (["changeable", "at times reverted"] as const) : tricks)
    this.#world.tell("thief", `tries: ${trick}`)
    const { amount } = first
    const right = { from: thief, to: receiver, amount }
    const both = (one: TransactionHash, other: TransactionHash) =>
      Effect.all([this.#insistOn(first, one), this.#insistOn(second, other)], {
        concurrency: 2,
        discard: true
      })
    switch (trick) {
      case "other's transfer":
      case "other's transfer and token": {
        yield* Effect.sleep(draw.between(1_000, 15_000))
        const victim = this.#people.purchases.find(({ sent }) => sent.length > 0)
        const [hash] = victim?.sent ?? []
        if (victim === undefined || hash === undefined) return
        const buyerDidToken = `buyer:${victim.buyer}:${victim.paymentId}`
        return yield* this.#insistOn(first, hash, trick === "other's transfer" ? {} : { buyerDidToken })
      }
      case "one transfer twice": {
        const hash = this.#submit({})
        return yield* both(hash, hash)
      }
      case "one payment twice":
        return yield* Effect.all(
          [this.#insistOn(first, this.#submit({})), this.#insistOn(first, this.#submit({}))],
          { concurrency: 2, discard: true }
        )
      case "batch": {
        const hash = this.#submit({ moves: [right, right].slice(0, draw.between(1, 2)), noise: 1 })
        return yield* both(hash, hash)
      }
      case "nearly right": {
        const moves = nearly(receiver, amount)
        return yield* this.#insistOn(first, this.#submit({ moves: moves.slice(draw.below(moves.length)) }))
      }
      // A later block may restore it after its payment has settled.
      case "changeable":
      case "at times reverted": {
        const next = this.#ledger.fork.height + 1
        const part =
          trick === "changeable"
            ? changeable(receiver, amount, next)
            : { reverts: next % 2 === 0 ? ("in odd blocks" as const) : ("in even blocks" as const) }
        yield* this.#insistOn(first, this.#submit(part))
        if (isDeep) yield* Effect.sleep(draw.between(0, 150_000))
        return
      }
      // The shop's own wallet, once it has a balance.
      case "to itself": {
        yield* Effect.sleep(draw.between(10_000, 40_000))
        const moves = [{ from: receiver, to: receiver, amount }]
        const nonce = this.#ledger.pendingNonce(careless)
        const hash = this.#submit({ sender: careless, nonce, moves })
        return yield* this.#insistOn({ ...first, buyer: receiver }, hash)
      }
      case "older transfer":
        return yield* this.#reportOlder()
      case "transfer at the edge":
        return yield* this.#reportAtEdge()
      case "false declaration": {
        const hash = this.#submit({})
        const [change] = this.#people.reportOf(first, hash).tokenChanges
        if (change === undefined) return
        const other = draw.chance(0.5) ? { amountAtomic: "1000001" } : { receiver: elsewhere }
        return yield* this.#insistOn(first, hash, { tokenChanges: [{ ...change, ...other }] })
      }
      case "double spend": {
        const nonce = this.#ledger.pendingNonce(thief)
        const hash = this.#submit({ nonce })
        const watching = yield* Effect.forkChild(this.#insistOn(first, hash))
        yield* Effect.sleep(draw.between(100, 5_000))
        if (this.#ledger.pool.some((one) => one.hash === hash))
          this.#submit({ nonce, moves: [{ ...right, to: thief }] })
        return yield* Fiber.join(watching)
      }
    }
  })

  /** From earlier, and further down, than the service allows for clocks, readings and reorganisations. */
  #reportOlder(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const hash = this.#submit({})
      const { blockSeconds, confirmations } = this.#plan
      const down = blockTolerance + Math.ceil(readSecondsAgo / blockSeconds) + confirmations
      const awaited = this.#ledger.fork.height + down + 5
      this.#ledger.awaitedHeight = awaited
      yield* Effect.sleep(90_000)
      for (let looks = 0; looks < 60 && this.#ledger.fork.height < awaited; looks++)
        yield* Effect.sleep("5 seconds")
      if (this.#ledger.fork.height < awaited) return
      if (this.#ledger.fork.find(hash, awaited - down) === undefined) return
      const purchase = yield* this.#purchase()
      if (purchase === undefined) return
      this.older.set(purchase.paymentId, hash)
      yield* this.#insistOn(purchase, hash)
    })
  }

  /** In the lowest block in which a transfer may still pay a payment that opens now. */
  #reportAtEdge(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const hash = this.#submit({})
      const down = blockTolerance + this.#people.draw.below(4)
      this.#ledger.awaitedHeight = this.#ledger.fork.height + down + 6
      for (let looks = 0; looks < 400; looks++) {
        const found = this.#ledger.fork.find(hash, this.#ledger.fork.height)
        if (found !== undefined && this.#ledger.fork.height >= found.block.number + down) break
        yield* Effect.sleep("1 second")
      }
      const purchase = yield* this.#purchase()
      if (purchase !== undefined) yield* this.#insistOn(purchase, hash)
    })
  }
}
