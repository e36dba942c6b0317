// People come, one after the other: buyers, signers, the shop's people and a thief.
import { Effect } from "effect"
import type { Parts } from "./makeParts.ts"
import type { Nature } from "./Nature.ts"

/** `start` begins a person's work, concurrently with the others'. */
export const shopping = (
  { draw: world, plan }: Nature,
  { people, refundDesk, signers, thief }: Parts,
  start: (effect: Effect.Effect<void>) => void
): Effect.Effect<void> => {
  const draw = world.of("shopping")
  return Effect.gen(function* () {
    people.onLost = (payment) => start(refundDesk.giveBackLost(payment))
    yield* Effect.sleep(draw.between(0, 5_000))
    for (let number = 1; number <= plan.payments; number++) {
      start(people.buy(number))
      // A settled transfer that is lost again is a thief's trick.
      const isDeep = plan.faults.has("a reorganisation is deep")
      if (draw.chance(isDeep ? 0.5 : 0.25)) start(thief.steal)
      if (draw.chance(0.15)) start(people.stray)
      if (draw.chance(0.1)) start(people.explainTransfers)
      if (draw.chance(0.2)) start(refundDesk.refund)
      yield* Effect.sleep(draw.between(0, plan.arrivalMillis))
    }
    for (let number = 1; number <= plan.signers; number++) {
      start(signers.come(number))
      yield* Effect.sleep(draw.between(0, plan.arrivalMillis))
    }
  })
}
