// The shop's people who refund: they announce a refund, send it from the shop's wallet, and name the transaction or
// leave the service to find it; some send nothing, and some cancel.
import { Effect } from "effect"
import type { TransactionHash } from "../../src/domain/Chain.ts"
import { formatUsd } from "../../src/domain/Money.ts"
import type { Ledger } from "./chain/Ledger.ts"
import type { Nature } from "./Nature.ts"
import type { PaymentOf } from "./oracle/Look.ts"
import type { People } from "./People.ts"
import type { World } from "./World.ts"

export class RefundDesk {
  /** The transaction sent for each refund. */
  readonly sent = new Map<string, TransactionHash>()
  readonly #world: World
  readonly #people: People
  readonly #ledger: Ledger
  /** True if blocks with refunds may be replaced, which takes time. */
  readonly #isDeep: boolean

  constructor({ ledger, plan, world }: Nature, people: People) {
    this.#isDeep = plan.faults.has("a reorganisation is deep")
    this.#world = world
    this.#people = people
    this.#ledger = ledger
  }

  /** Two of the shop's people, who may both refund the same payment. */
  readonly refund: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    yield* Effect.sleep(this.#people.draw.between(5_000, 60_000))
    yield* Effect.all([this.#refund("desk"), this.#refund("second desk")], { concurrency: 2, discard: true })
  })

  /** A person who learns that the chain has lost a settled payment, and refunds it. */
  giveBackLost(payment: PaymentOf): Effect.Effect<void> {
    return Effect.andThen(
      Effect.sleep(this.#people.draw.between(0, 10_000)),
      this.#giveBack("night desk", payment)
    )
  }

  #refund(who: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const payments = this.#people.rows?.payments ?? []
      const settled = payments.filter(({ status }) => status === "settled")
      const payment = settled[this.#people.draw.below(settled.length)]
      return payment === undefined ? Effect.void : this.#giveBack(who, payment)
    })
  }

  #giveBack(who: string, { amount: paid, id: paymentId, reported }: PaymentOf): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { draw, shop } = this.#people
      if (reported === null) return
      const recipient = reported.evidence.payer
      const ofRefund = { key: shop.secret, id: crypto.randomUUID() }
      const amount = draw.chance(0.5) ? paid : paid / 2n + 1n
      const made = yield* this.#people.insist(who, { ...ofRefund, do: "create refund", paymentId, amount })
      if (made === undefined || made.status >= 300) return
      yield* Effect.sleep(draw.between(100, 20_000))
      const cancel = this.#people.insist(who, { ...ofRefund, do: "cancel refund" })
      if (draw.chance(0.15)) return yield* Effect.asVoid(cancel)
      if (draw.chance(0.1)) return
      const { hash } = this.#ledger.submit({
        sender: shop.receiver,
        nonce: this.#ledger.pendingNonce(shop.receiver),
        moves: [{ from: shop.receiver, to: recipient, amount }],
        noise: draw.below(2),
        reverts: draw.chance(0.1) ? "in odd blocks" : false
      })
      this.sent.set(ofRefund.id, hash)
      this.#world.tell(who, `sends ${hash.slice(0, 10)} of ${formatUsd(amount)} for refund ${ofRefund.id}`)
      if (draw.chance(0.15)) yield* Effect.andThen(Effect.sleep(draw.between(1_000, 20_000)), cancel)
      else if (draw.chance(0.6)) yield* this.#name(who, ofRefund.id, hash)
      if (this.#isDeep) yield* Effect.sleep(draw.between(0, 120_000))
    })
  }

  #name(who: string, id: string, transactionId: TransactionHash): Effect.Effect<void> {
    const { draw, shop } = this.#people
    return Effect.gen({ self: this }, function* () {
      for (let tries = 0; tries < 4; tries++) {
        const named = yield* this.#people.ask(who, { do: "name refund", key: shop.secret, id, transactionId })
        if (named?.status === 200) return
        yield* Effect.sleep(draw.between(500, 5_000))
      }
    })
  }
}
