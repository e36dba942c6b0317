// Somebody who asks for what is not theirs: a price of their own, an intent that is over or another shop's, another
// shop's payments, money of the test network for live goods.
import { Effect } from "effect"
import { TransactionHash } from "../../src/domain/Chain.ts"
import type { FaultBoard } from "./faults.ts"
import { type People, purchaseOf, type Shop, thief } from "./People.ts"
import type { World } from "./World.ts"

/** An intent opens a payment for five minutes (docs/contract.md 4.1); clocks may differ by some more. */
const overMillis = 330_000

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
const decode = (part: string): object => Object(JSON.parse(Buffer.from(part, "base64url").toString()))

export class Intruder {
  /** What should have been refused, and was not. */
  readonly gotIn: Array<string> = []
  readonly #world: World
  readonly #people: People
  readonly #board: FaultBoard

  constructor(world: World, people: People, board: FaultBoard) {
    this.#world = world
    this.#people = people
    this.#board = board
  }

  /** At a shop, with another one's keys where there is another. */
  intrude(shop: Shop, other: Shop | undefined): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { draw } = this.#people
      const way = draw.pick([
        "own price",
        "no algorithm",
        "old intent",
        "other's intent",
        "other's payment",
        "live"
      ])
      this.#world.tell("intruder", `tries: ${way}`)
      const made = yield* this.#people.insist(shop.name, () => ({
        do: "create intent",
        key: shop.secret,
        amount: "1000.00"
      }))
      const [header = "", payload = "", signature = ""] = made?.body.intentToken?.split(".") ?? []
      if (payload === "") return
      const intentToken = `${header}.${payload}.${signature}`
      switch (way) {
        case "own price":
          return yield* this.#open(
            way,
            shop,
            `${header}.${encode({ ...decode(payload), amount: "0.01" })}.${signature}`
          )
        case "no algorithm":
          return yield* this.#open(way, shop, `${encode({ ...decode(header), alg: "none" })}.${payload}.`)
        case "old intent":
          if (this.#board.has("a clock jumps")) return
          yield* Effect.sleep(overMillis)
          return yield* this.#open(way, shop, intentToken)
        case "other's intent":
          return other === undefined ? undefined : yield* this.#open(way, other, intentToken)
        case "other's payment": {
          const paymentId = yield* this.#people.open("intruder", shop, 1_000_000n)
          if (other === undefined || paymentId === undefined) return
          const own = purchaseOf({ shop: other, buyer: thief, amount: 1_000_000n, paymentId })
          const asks = [
            { do: "retrieve", key: other.secret, paymentId },
            { do: "read attempts", key: other.publishable, paymentId },
            this.#people.reportOf(own, thiefsTransaction)
          ] as const
          for (const ask of asks) {
            const answer = yield* this.#people.ask("intruder", ask)
            if (answer !== undefined && answer.status < 400)
              this.gotIn.push(`${ask.do} of ${paymentId} at ${other.name}`)
          }
          return
        }
        case "live":
          return yield* this.#payLive(shop)
      }
    })
  }

  #open(way: string, shop: Shop, intentToken: string): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const opened = yield* this.#people.insist("intruder", () => ({
        do: "open",
        key: shop.publishable,
        intentToken
      }))
      if (opened !== undefined && opened.status < 400) this.gotIn.push(`${way} at ${shop.name}`)
    })
  }

  /** A transfer of the test network for a live payment, which stays pending. */
  #payLive(shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      // What reaches a shop that has no payment is not read.
      if (!this.#people.rows.some((one) => one.shop === shop && one.payments.length > 0)) return
      const live = { ...shop, ...shop.live }
      const paymentId = yield* this.#people.open("intruder", live, 1_000_000n)
      if (paymentId === undefined) return
      const purchase = purchaseOf({ shop: live, buyer: thief, amount: 1_000_000n, paymentId })
      const hash = this.#people.sendPlainly("intruder", purchase)
      for (let looks = 0; looks < 5; looks++) {
        yield* Effect.sleep(this.#people.draw.between(1_000, 10_000))
        const answer = yield* this.#people.ask("intruder", this.#people.reportOf(purchase, hash))
        if (answer?.status === 200) this.gotIn.push(`live payment ${paymentId} is settled by ${hash}`)
      }
    })
  }
}

/** Of nothing that was ever sent. */
const thiefsTransaction = TransactionHash.make(`0x${"7e".repeat(32)}`)
