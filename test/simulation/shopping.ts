// People come, one after the other: buyers, agents, shops' people, a thief, and an operator who changes the tables.
import { Effect } from "effect"
import type { Draw } from "./Draw.ts"
import type { Parts } from "./makeParts.ts"
import type { Plan } from "./Plan.ts"
import type { World } from "./World.ts"

interface Around {
  readonly world: World
  readonly plan: Plan
  readonly draw: Draw
  readonly parts: Parts
  /** Starts what somebody has come for, beside what others do. */
  readonly start: (effect: Effect.Effect<void>) => void
  /** The last has come. */
  readonly done: () => void
}

/** An operator changes the tables. */
const upkeep = (around: Around): Effect.Effect<void> => {
  const { parts, plan, world } = around
  const draw = around.draw.of("upkeep")
  return Effect.gen(function* () {
    const { cluster, store } = parts
    if (store.upkeep === undefined || plan.upkeep === "none") return
    yield* Effect.sleep(draw.between(0, 40_000))
    cluster.closed = true
    world.tell("operator", "stops all instances")
    for (const instance of [...cluster.instances]) cluster.stop(instance)
    yield* Effect.sleep("20 seconds")
    cluster.endStopping()
    yield* store.upkeep.backAndForth
    cluster.closed = false
    if (!cluster.down) for (let count = 0; count < plan.instances; count++) cluster.start()
  })
}

export const shopping = (around: Around): Effect.Effect<void> => {
  const { parts, plan, start } = around
  const { intruder, people, refundDesk, shopPeople, shopper, shops, signers, thief } = parts
  const draw = around.draw.of("shopping")
  return Effect.gen(function* () {
    for (const shop of shops) start(shopPeople.register(shop))
    people.onLost = (shop, payment) => start(refundDesk.giveBackLost(shop, payment))
    start(upkeep(around))
    yield* Effect.sleep(draw.between(0, 5_000))
    for (let number = 1; number <= plan.payments; number++) {
      const shop = shops[draw.below(shops.length)]
      if (shop === undefined) continue
      start(plan.checkout && draw.chance(0.7) ? shopper.buy(shop, number) : people.buy(shop, number))
      // What settles and is lost again is the thief's.
      const isDeep = plan.faults.has("a reorganisation is deep")
      if (draw.chance(isDeep ? 0.5 : 0.25)) start(thief.steal(shop))
      if (draw.chance(0.15)) start(people.stray(shop))
      if (draw.chance(0.15)) start(shopPeople.operate(shop))
      if (draw.chance(0.1)) start(shopPeople.ask(shop))
      if (draw.chance(0.15))
        start(
          intruder.intrude(
            shop,
            shops.find((one) => one !== shop)
          )
        )
      if (draw.chance(0.2)) start(refundDesk.refund(shop))
      yield* Effect.sleep(draw.between(0, plan.arrivalMillis))
    }
    for (let number = 1; number <= plan.signers; number++) {
      const shop = shops[draw.below(shops.length)]
      if (shop !== undefined) start(signers.come(shop, number))
      yield* Effect.sleep(draw.between(0, plan.arrivalMillis))
    }
    around.done()
  })
}
