// The chain continues: blocks come in time, late, or not at all, and replace others; each node follows in its own time.
import { Effect } from "effect"
import type { Cluster } from "./Cluster.ts"
import type { Nature } from "./Nature.ts"

/** One in this many of the later blocks is mined. */
const sparse = 8

/** Mines blocks of the chain as long as the world runs. */
export const blocks = (nature: Nature, cluster: Cluster): Effect.Effect<never> => {
  const { board, ledger, nodes, plan, world } = nature
  const draw = nature.draw.of("mining")
  const deep = plan.finality + 2
  let empty = 0
  return Effect.gen(function* () {
    while (true) {
      const late = board.comes("blocks come late") ? draw.between(5, 60) : 0
      for (let minutes = 0; minutes < 30 && cluster.down; minutes++) yield* Effect.sleep("1 minute")
      yield* Effect.sleep((plan.blockSeconds + late) * 1_000)
      // With money on its way: more often, and for longer if the service's wallet bids for its place.
      const bids = ledger.pool.some(({ gas }) => gas !== undefined)
      const stands = () => board.comes("the chain stands still")
      if (ledger.pool.length > 0 && (bids ? Array.from({ length: 6 }).some(stands) : stands())) {
        const seconds = bids ? draw.between(120, 400) : draw.between(30, 300)
        world.tell("chain", `stands still for ${seconds} s`)
        yield* Effect.sleep(seconds * 1_000)
      }
      // Empty blocks cost as much time as others: if nobody waits for one, few are mined.
      const isAwaited =
        ledger.pool.length > 0 || ledger.sinceBusy < deep || ledger.fork.height < ledger.awaitedHeight
      empty = isAwaited ? 0 : empty + 1
      if (empty % sparse !== 0) continue
      const time = Math.floor(world.now / 1000)
      if (board.comes("a transaction is dropped from the mempool")) {
        const [one] = ledger.pool
        if (one !== undefined) {
          world.tell("chain", `${one.hash.slice(0, 10)} is dropped from the mempool`)
          ledger.dropFromPool(one.hash)
        }
      }
      if (board.comes("the chain is reorganised")) {
        // Below settled transfers that are not final yet.
        const isDeep = board.comes("a reorganisation is deep")
        const depth = draw.between(1, isDeep ? plan.finality - 1 : plan.confirmations + 2)
        const lost = board.comes("a reorganisation loses transactions") ? 0.5 : 0
        world.tell("chain", `the last ${depth} blocks are replaced`)
        ledger.reorganise(depth, time, lost)
      } else {
        const { mined, number } = ledger.mine(time, board.calm ? 1 : 0.8)
        if (mined.length > 0)
          world.tell(
            "chain",
            `block ${number}: ${mined.map(({ succeeded, transaction }) => `${transaction.hash.slice(0, 10)}${succeeded ? "" : " reverts"}`).join(", ")}`
          )
      }
      for (const node of nodes) {
        const late = board.calm || draw.chance(0.5) ? 0 : draw.between(1, plan.blockSeconds * 2_500)
        if (late === 0) node.follow()
        else world.after(late, world.outside, () => node.follow())
      }
    }
  })
}
