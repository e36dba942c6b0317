import type { Ledger } from "./chain/Ledger.ts"
import type { SimulatedNode } from "./chain/SimulatedNode.ts"
import type { Draw } from "./Draw.ts"
import type { FaultBoard } from "./faults.ts"
import type { Plan } from "./Plan.ts"
import type { Receivers } from "./Receivers.ts"
import type { World } from "./World.ts"

/** The parts of a world before the service and its people. */
export interface Nature {
  readonly plan: Plan
  readonly draw: Draw
  readonly world: World
  readonly board: FaultBoard
  readonly ledger: Ledger
  readonly nodes: ReadonlyArray<SimulatedNode>
  readonly receivers: Receivers
}
