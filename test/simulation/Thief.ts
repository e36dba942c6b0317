// Someone who wants goods for nothing, by others' transfers, one transfer twice, and transfers that are none.
import { Effect, Fiber } from "effect"
import type { TransactionHash } from "../../src/domain/Chain.ts"
import { blockTolerance } from "../../src/payments/PaymentRepo/AttemptStore.ts"
import type { Ledger } from "./chain/Ledger.ts"
import type { Answer } from "./Door.ts"
import { addressOf, careless, type People, type Purchase, purchaseOf, type Shop, thief } from "./People.ts"
import type { Plan } from "./Plan.ts"
import { bystanders, changeable, type Told, wrongTransfers } from "./Thief/wrongTransfers.ts"
import type { World } from "./World.ts"

/** A height that the service has read says something of now for half a minute; the reading takes its time. */
const readSecondsAgo = 60

export class Thief {
  /** Transfers from before a payment, by the payment that was reported with one. */
  readonly older = new Map<string, TransactionHash>()
  /** What should have been refused, and was not. */
  readonly gotAway: Array<string> = []
  /** Refusals that tell another reason than the true one. */
  readonly misled: Array<string> = []
  readonly #world: World
  readonly #people: People
  readonly #ledger: Ledger
  readonly #plan: Pick<Plan, "blockSeconds" | "confirmations" | "faults">

  constructor(
    world: World,
    people: People,
    ledger: Ledger,
    plan: Pick<Plan, "blockSeconds" | "confirmations" | "faults">
  ) {
    this.#plan = plan
    this.#world = world
    this.#people = people
    this.#ledger = ledger
    for (const bystander of bystanders) ledger.fund(bystander, 1_000_000_000n)
  }

  /** What a refusal tells must be what is wrong, or that a block has let it revert. */
  #hear(hash: TransactionHash, { body }: Answer, told: Told): void {
    const { details = [], reason } = body.error ?? {}
    if (
      reason === "reverted" &&
      this.#ledger.fork.find(hash, this.#ledger.fork.height)?.mined.succeeded !== true
    )
      return
    const [{ actual, expected } = {}] = details
    // A clock that was ahead when its payment opened makes a transfer old, which is told before what is declared:
    // whoever judges the answer of a report holds the times to the payment's.
    const isOldByClock = reason === "too_old" && expected?.startsWith("a block at or after ") === true
    if (told.reason === "declared_changes" && isOldByClock && this.#plan.faults.has("a clock jumps")) return
    const isTrue =
      reason === told.reason && (told.expected ?? expected) === expected && (told.actual ?? actual) === actual
    if (!isTrue)
      this.misled.push(
        `${hash} was refused for ${JSON.stringify({ reason, expected, actual })}, not ${JSON.stringify(told)}`
      )
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
      const { draw } = this.#people
      // What becomes of these shows where blocks of settled transfers are replaced.
      const isDeep = this.#plan.faults.has("a reorganisation is deep") && draw.chance(0.5)
      const trick = draw.pick(
        isDeep
          ? (["changeable", "at times reverted"] as const)
          : ([
              "other's transfer",
              "other's transfer and token",
              "one transfer twice",
              "one payment twice",
              "batch",
              "wrong transfer",
              "wrong transfer",
              "wrong transfer",
              "wrong transfer",
              "changeable",
              "at times reverted",
              "to itself",
              "double spend",
              "older transfer",
              "transfer at the edge",
              "other words"
            ] as const)
      )
      this.#world.tell("thief", `tries: ${trick}`)
      const submit = (part: Partial<Parameters<Ledger["submit"]>[0]>) =>
        this.#ledger.submit({
          sender: thief,
          nonce: this.#ledger.pendingNonce(thief),
          moves: [{ from: thief, to: shop.receiver, amount }],
          noise: draw.below(3),
          reverts: false,
          ...part
        }).hash
      const insistOn = (purchase: Purchase, hash: TransactionHash, told?: Told) =>
        Effect.gen({ self: this }, function* () {
          for (let looks = 0; looks < 8; looks++) {
            const answer = yield* this.#people.ask("thief", this.#people.reportOf(purchase, hash))
            if (answer?.status === 200) return
            if (answer?.status === 422 && told !== undefined) this.#hear(hash, answer, told)
            yield* Effect.sleep(draw.between(300, 4_000))
          }
        })
      const both = (hash: TransactionHash) =>
        Effect.all([insistOn(first, hash), insistOn(second, hash)], { concurrency: 2, discard: true })
      const { amount: whole } = first
      switch (trick) {
        case "other's transfer": {
          yield* Effect.sleep(draw.between(1_000, 15_000))
          const [others] = this.#people.purchases.flatMap(({ sent }) => sent)
          if (others !== undefined) yield* insistOn(first, others)
          return
        }
        case "other's transfer and token": {
          yield* Effect.sleep(draw.between(1_000, 15_000))
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
            yield* Effect.sleep(draw.between(300, 4_000))
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
          return yield* both(submit({ moves: [one, one].slice(0, draw.between(1, 2)), noise: 1 }))
        }
        case "wrong transfer": {
          const all = Object.entries(wrongTransfers(shop.receiver, whole))
          const one = all[draw.below(all.length)]
          if (one === undefined) return
          const [name, { told, ...part }] = one
          this.#world.tell("thief", name)
          return yield* insistOn(first, submit(part), told)
        }
        // Which a later block may show, when its payment has settled.
        case "changeable":
        case "at times reverted": {
          const next = this.#ledger.fork.height + 1
          const part =
            trick === "changeable"
              ? changeable(shop.receiver, whole, next)
              : { reverts: next % 2 === 0 ? ("in odd blocks" as const) : ("in even blocks" as const) }
          yield* insistOn(first, submit(part))
          if (isDeep) yield* Effect.sleep(draw.between(0, 150_000))
          return
        }
        // The shop's own wallet, once it holds something.
        case "to itself": {
          yield* Effect.sleep(draw.between(10_000, 40_000))
          const own = { from: shop.receiver, to: shop.receiver, amount }
          const nonce = this.#ledger.pendingNonce(careless)
          const hash = submit({ sender: careless, nonce, moves: [own] })
          return yield* insistOn({ ...first, buyer: shop.receiver }, hash, { reason: "no_transfer" })
        }
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
        // In a block as far down as a transfer may lie that pays a payment which opens now.
        case "transfer at the edge": {
          const hash = submit({})
          const down = blockTolerance + draw.below(4)
          this.#ledger.awaitedHeight = this.#ledger.fork.height + down + 6
          for (let looks = 0; looks < 400; looks++) {
            const found = this.#ledger.fork.find(hash, this.#ledger.fork.height)
            if (found !== undefined && this.#ledger.fork.height >= found.block.number + down) break
            yield* Effect.sleep("1 second")
          }
          const paymentId = yield* this.#people.open("thief", shop, amount)
          if (paymentId === undefined) return
          return yield* insistOn(purchaseOf({ shop, buyer: thief, amount, paymentId }), hash)
        }
        case "other words": {
          const hash = submit({})
          const report = this.#people.reportOf(first, hash)
          const tokenChanges = report.tokenChanges.map((change) =>
            draw.chance(0.5)
              ? { ...change, amountAtomic: "1000001" }
              : { ...change, receiver: addressOf(0x71) }
          )
          for (let looks = 0; looks < 8; looks++) {
            const answer = yield* this.#people.ask("thief", { ...report, tokenChanges })
            if (answer?.status === 200) this.gotAway.push(`a report of ${JSON.stringify(tokenChanges)}`)
            if (answer?.status === 422)
              this.#hear(hash, answer, {
                reason: "declared_changes",
                expected: JSON.stringify(report.tokenChanges)
              })
            yield* Effect.sleep(draw.between(300, 4_000))
          }
          return
        }
        case "double spend": {
          const nonce = this.#ledger.pendingNonce(thief)
          const hash = submit({ nonce })
          const watching = yield* Effect.forkChild(insistOn(first, hash))
          yield* Effect.sleep(draw.between(100, 5_000))
          if (this.#ledger.pool.some((one) => one.hash === hash))
            submit({ nonce, moves: [{ from: thief, to: thief, amount }] })
          return yield* Fiber.join(watching)
        }
      }
    })
  }
}
