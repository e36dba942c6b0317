// Faults that come with time: of nodes, of gas, and of the machines that instances run on.
import { Effect } from "effect"
import type { Cluster } from "./Cluster.ts"
import type { SimulatedNode } from "./chain/SimulatedNode.ts"
import type { Draw } from "./Draw.ts"
import type { FaultName } from "./faults.ts"
import type { Nature } from "./Nature.ts"

const gasTroubles = ({ board, ledger, world }: Nature, draw: Draw): void => {
  if (!board.comes("gas is dear")) return
  const times = BigInt(draw.between(2, 12))
  ledger.price *= times
  world.tell("chain", `gas costs ${ledger.price} wei`)
  world.after(draw.between(3_000, 90_000), world.outside, () => {
    ledger.price /= times
  })
}

/** Something else has spent the balance that the wallet had just read. */
export const emptyRelayer = ({ board, ledger, world }: Nature, draw: Draw): void => {
  const { relayer, wei } = ledger
  const held = relayer === undefined ? 0n : ledger.weiOf(relayer)
  if (relayer === undefined || held === 0n || !board.comes("the relaying wallet is empty")) return
  wei.set(relayer, 0n)
  world.tell("chain", "the relaying wallet is empty")
  world.after(draw.between(1_500, 12_000), world.outside, () => {
    wei.set(relayer, ledger.weiOf(relayer) + held)
  })
}

/** Until the faults end. */
export const troubles = (nature: Nature, cluster: Cluster): Effect.Effect<void> => {
  const { board, nodes, world } = nature
  const draw = nature.draw.of("troubles")
  const disturb = (fault: FaultName, begin: (node: SimulatedNode) => void): void => {
    const node = nodes[draw.below(nodes.length)]
    if (node === undefined || !board.comes(fault)) return
    begin(node)
    world.tell(node.name, fault)
    world.after(draw.between(1_000, 40_000), world.outside, () => node.recover())
  }
  return Effect.gen(function* () {
    const liar = nodes[0]
    if (liar !== undefined && nodes.length >= 3 && board.comes("a node lies")) {
      liar.lie = draw.pick(["withholds", "invents", "inflates"])
      world.tell(liar.name, liar.lie)
    }
    while (!board.calm) {
      yield* Effect.sleep(draw.between(300, 3_000))
      disturb("a node is silent", (node) => {
        node.down = true
      })
      disturb("a node stands still", (node) => {
        node.stuck = true
      })
      disturb("a node goes back", (node) => node.goBack(draw.pick([2, 8, 40])))
      gasTroubles(nature, draw)
      const [first] = cluster.instances
      if (first !== undefined && board.comes("a clock jumps")) cluster.skew(first.owner)
      if (first !== undefined && board.comes("an instance stands still"))
        cluster.freeze(first.owner, draw.between(1_000, 90_000))
      if (first !== undefined && board.comes("an instance is stopped")) {
        cluster.stop(first)
        cluster.startIn(draw.between(0, 10_000))
      }
      if (board.comes("all instances are down for a day")) {
        world.tell("troubles", "all instances are down")
        for (const { owner } of [...cluster.instances]) cluster.abandon(owner)
        cluster.down = true
        yield* Effect.sleep(draw.between(20, 27) * 3_600_000)
        cluster.down = false
        cluster.start()
      }
    }
  })
}
