// Whoever sees a signature may bring it onto the chain.
import { Effect } from "effect"
import type { SignedAuthorization } from "../../../src/x402/Authorization.ts"
import type { Ledger } from "../chain/Ledger.ts"
import type { Draw } from "../Draw.ts"
import { addressOf } from "../People.ts"
import type { World } from "../World.ts"

const stranger = addressOf(0x57)

export class Strangers {
  readonly #world: World
  readonly #ledger: Ledger
  readonly #draw: Draw

  constructor(world: World, ledger: Ledger, draw: Draw) {
    this.#world = world
    this.#ledger = ledger
    this.#draw = draw
  }

  /** Perhaps uses what has been seen; whether somebody has. */
  use(authorization: SignedAuthorization): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function* () {
      if (!this.#draw.chance(0.2)) return false
      yield* Effect.sleep(this.#draw.between(0, 6_000))
      const { from, nonce, to, validAfter, validBefore, value } = authorization
      this.#ledger.submit({
        sender: stranger,
        nonce: this.#ledger.pendingNonce(stranger),
        moves: [{ from, to, amount: value }],
        noise: 0,
        reverts: false,
        spending: { payer: from, nonce, cancels: false, validAfter, validBefore }
      })
      this.#world.tell("stranger", `uses ${nonce.slice(0, 10)}`)
      return true
    })
  }
}
