// The choices that a seed makes before its world begins.
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { Draw } from "./Draw.ts"
import { drawFaults, type FaultPlan } from "./faults.ts"

/** A network that must be opened needs two. */
const leastNodes = moneyNetwork.execution === "open" ? 1 : 2

export interface Plan {
  readonly seed: string
  readonly faults: FaultPlan
  readonly instances: number
  readonly nodes: number
  readonly confirmations: number
  /** Blocks after which the chain calls a block safe, if that matters. */
  readonly safety: number
  /** Blocks after which a settled transfer is no longer watched. */
  readonly finality: number
  /** Payments that buyers open, one after the other. */
  readonly payments: number
  /** True if all of them have the same wallet and amount, so that only nonces distinguish them. */
  readonly oneWallet: boolean
  /** The share of buyers who send from their wallet without an announcement. */
  readonly plain: number
  /** Buyers without gas. */
  readonly signers: number
  /** Payments a day that the relayer wallet pays for one merchant. */
  readonly relayed: number
  readonly blockSeconds: number
  readonly expirySeconds: number
  readonly preemptAfter: number
  /** True if the run continues until unpaid payments must have expired. */
  readonly patient: boolean
  /** True if a last buyer comes after the faults have ended. */
  readonly lateBuyer: boolean
  /** Milliseconds within which buyers come. */
  readonly arrivalMillis: number
}

export const planOf = (seed: string): Plan => {
  const draw = new Draw(seed).of("plan")
  const faults = drawFaults(draw.of("faults"))
  const confirmations = draw.pick([1, 1, 2, 3])
  const drawn = draw.pick([0, 1, 1, 2])
  const signers = faults.has("the relaying wallet is empty") ? 2 : drawn
  const deep = faults.has("a reorganisation is deep")
  return {
    seed,
    faults,
    instances: draw.pick([1, 1, 1, 1, 2, 2, 2]),
    nodes: Math.max(leastNodes, faults.has("a node lies") ? 3 : draw.pick([1, 1, 1, 2, 3])),
    confirmations,
    safety: confirmations + (deep ? 10 : 2),
    finality: confirmations + (deep ? 20 : 4),
    payments: signers === 0 ? draw.pick([1, 2, 2]) : 1,
    oneWallet: draw.chance(0.15),
    plain: draw.pick([0.05, 0.12, 0.12, 0.6]),
    signers,
    relayed: draw.pick([1, 4, 10]),
    blockSeconds: draw.pick([2, 2, 3, 5]),
    // With signers, often shorter than a signature takes to be mined.
    expirySeconds: draw.pick(signers === 0 ? [45, 300, 86_400] : [45, 45, 300, 86_400]),
    preemptAfter: draw.pick([20, 100, 500, 3_000]),
    patient: draw.chance(0.1),
    lateBuyer: draw.chance(0.3),
    arrivalMillis: draw.pick([100, 4_000, 20_000])
  }
}

/** The plan in one line. */
export const describePlan = ({ faults, seed, ...rest }: Plan): string =>
  [
    `seed ${seed}`,
    Object.entries(rest)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
    faults.size === 0 ? "no faults" : [...faults].map(([name, part]) => `${name} ×${part}`).join("; ")
  ].join(" | ")
