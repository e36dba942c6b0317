// Someone who wants goods for nothing, by others' transfers, one transfer twice, and transfers that are none.
import { Effect, Fiber } from "effect"
import type { TransactionHash } from "../../src/domain/Chain.ts"
import { blockTolerance } from "../../src/payments/PaymentRepo/AttemptStore.ts"
import type { Ledger } from "./chain/Ledger.ts"
import { addressOf, type People, type Purchase, purchaseOf, type Shop, thief } from "./People.ts"
import type { Plan } from "./Plan.ts"
import type { World } from "./World.ts"

/** A height that the service has read says something of now for half a minute; the reading takes its time. */
const readSecondsAgo = 60

export class Thief {
  /** Transfers from before a payment, by the payment that was reported with one. */
  readonly older = new Map<string, TransactionHash>()
  /** What should have been refused, and was not. */
  readonly gotAway: Array<string> = []
  readonly #world: World
  readonly #people: People
  readonly #ledger: Ledger
  readonly #plan: Pick<Plan, "blockSeconds" | "confirmations">

  constructor(
    world: World,
    people: People,
    ledger: Ledger,
    plan: Pick<Plan, "blockSeconds" | "confirmations">
  ) {
    this.#plan = plan
    this.#world = world
    this.#people = people
    this.#ledger = ledger
  }

  /** With an own payment at the shop. */
  steal(shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const amount = 1_000_000n
      const ids = [
        yield* this.#people.open("thief", shop, amount),
        yield* this.#people.open("thief", shop, amount)
      ]
      const [first, second] = ids.flatMap((paymentId) =>
        paymentId === undefined ? [] : [purchaseOf({ shop, buyer: thief, amount, paymentId })]
      )
      if (first === undefined || second === undefined) return
      const trick = this.#people.draw.pick([
        "other's transfer",
        "other's transfer and token",
        "one transfer twice",
        "one payment twice",
        "batch",
        "too little",
        "own token",
        "reverted",
        "double spend",
        "older transfer",
        "other words"
      ])
      this.#world.tell("thief", `tries: ${trick}`)
      const submit = (part: Partial<Parameters<Ledger["submit"]>[0]>) =>
        this.#ledger.submit({
          sender: thief,
          nonce: this.#ledger.pendingNonce(thief),
          moves: [{ from: thief, to: shop.receiver, amount }],
          noise: this.#people.draw.below(3),
          reverts: false,
          ...part
        }).hash
      const insistOn = (purchase: Purchase, hash: TransactionHash) =>
        Effect.gen({ self: this }, function* () {
          for (let looks = 0; looks < 8; looks++) {
            const answer = yield* this.#people.ask("thief", this.#people.reportOf(purchase, hash))
            if (answer?.status === 200) return
            yield* Effect.sleep(this.#people.draw.between(300, 4_000))
          }
        })
      const both = (hash: TransactionHash) =>
        Effect.all([insistOn(first, hash), insistOn(second, hash)], { concurrency: 2, discard: true })
      const { amount: whole } = first
      switch (trick) {
        case "other's transfer": {
          yield* Effect.sleep(this.#people.draw.between(1_000, 15_000))
          const [others] = this.#people.purchases.flatMap(({ sent }) => sent)
          if (others !== undefined) yield* insistOn(first, others)
          return
        }
        case "other's transfer and token": {
          yield* Effect.sleep(this.#people.draw.between(1_000, 15_000))
          const victim = this.#people.purchases.find(
            (one) => one.shop === shop && one.amount === amount && one.sent.length > 0
          )
          const [hash] = victim?.sent ?? []
          if (victim === undefined || hash === undefined) return
          for (let looks = 0; looks < 8; looks++) {
            yield* this.#people.ask("thief", {
              ...this.#people.reportOf(first, hash),
              buyerDidToken: `buyer:${victim.buyer}:${victim.paymentId}`
            })
            yield* Effect.sleep(this.#people.draw.between(300, 4_000))
          }
          return
        }
        case "one transfer twice":
          return yield* both(submit({}))
        case "one payment twice":
          return yield* Effect.all([insistOn(first, submit({})), insistOn(first, submit({}))], {
            concurrency: 2,
            discard: true
          })
        case "batch": {
          const one = { from: thief, to: shop.receiver, amount }
          return yield* both(
            submit({ moves: [one, one].slice(0, this.#people.draw.between(1, 2)), noise: 1 })
          )
        }
        case "too little":
          return yield* insistOn(
            first,
            submit({ moves: [{ from: thief, to: shop.receiver, amount: whole - 1n }] })
          )
        case "own token":
          return yield* insistOn(
            first,
            submit({ moves: [{ from: thief, to: shop.receiver, amount, token: addressOf(0x70) }] })
          )
        case "reverted":
          return yield* insistOn(first, submit({ reverts: true }))
        case "older transfer": {
          const hash = submit({})
          // Longer ago, and further down, than the service allows for clocks, readings and reorganisations.
          const { blockSeconds, confirmations } = this.#plan
          const down = blockTolerance + Math.ceil(readSecondsAgo / blockSeconds) + confirmations
          const awaited = this.#ledger.fork.height + down + 5
          this.#ledger.awaitedHeight = awaited
          yield* Effect.sleep(90_000)
          for (let looks = 0; looks < 60; looks++) {
            if (this.#ledger.fork.height >= awaited) break
            yield* Effect.sleep("5 seconds")
          }
          if (this.#ledger.fork.height < awaited) return
          if (this.#ledger.fork.find(hash, awaited - down) === undefined) return
          const paymentId = yield* this.#people.open("thief", shop, amount)
          if (paymentId === undefined) return
          this.older.set(paymentId, hash)
          return yield* insistOn(purchaseOf({ shop, buyer: thief, amount, paymentId }), hash)
        }
        case "other words": {
          const report = this.#people.reportOf(first, submit({}))
          const tokenChanges = report.tokenChanges.map((change) =>
            this.#people.draw.chance(0.5)
              ? { ...change, amountAtomic: "1000001" }
              : { ...change, receiver: addressOf(0x71) }
          )
          for (let looks = 0; looks < 8; looks++) {
            const answer = yield* this.#people.ask("thief", { ...report, tokenChanges })
            if (answer?.status === 200) this.gotAway.push(`a report of ${JSON.stringify(tokenChanges)}`)
            yield* Effect.sleep(this.#people.draw.between(300, 4_000))
          }
          return
        }
        case "double spend": {
          const nonce = this.#ledger.pendingNonce(thief)
          const hash = submit({ nonce })
          const watching = yield* Effect.forkChild(insistOn(first, hash))
          yield* Effect.sleep(this.#people.draw.between(100, 5_000))
          if (this.#ledger.pool.some((one) => one.hash === hash))
            submit({ nonce, moves: [{ from: thief, to: thief, amount }] })
          return yield* Fiber.join(watching)
        }
      }
    })
  }
}
