// What a seed has drawn before its world begins. The same plan with fewer faults is how a failure shrinks.
import { Draw } from "./Draw.ts"
import { drawFaults, type FaultPlan } from "./faults.ts"

export interface Plan {
  readonly seed: string
  /** `memory`: the stores that tests swap in. `sql`: the repositories' own SQL, on PGlite. */
  readonly store: "memory" | "sql"
  readonly faults: FaultPlan
  readonly instances: number
  readonly nodes: number
  readonly confirmations: number
  /** Blocks after which a settled transfer is watched no more. */
  readonly finality: number
  /** Whether people go through the HttpApi handlers. */
  readonly handlers: boolean
  readonly merchants: number
  /** Payments that buyers open, one after the other. */
  readonly payments: number
  /** Whether all of them are of one wallet and one amount, which only their nonces tell apart. */
  readonly oneWallet: boolean
  /** Of those who come without the checkout's own code, how many send from their wallet and announce nothing. */
  readonly plain: number
  /** Whether some buyers pay with the checkout's own code. */
  readonly checkout: boolean
  /** Buyers without gas, and agents: none in memory. */
  readonly signers: number
  /** Payments a day that the relaying wallet pays for one merchant. */
  readonly relayed: number
  readonly blockSeconds: number
  readonly expirySeconds: number
  /** Whether the chain is looked at every second while a payment waits, or every five. */
  readonly attentive: boolean
  /** How often each worker looks for work. */
  readonly paceMillis: number
  readonly preemptAfter: number
  /** Whether it goes on until what nobody pays must have expired. */
  readonly patient: boolean
  /** Whether a last buyer comes once the faults have ceased. */
  readonly lateBuyer: boolean
  /** What an operator does to the tables: nothing, or goes back to an earlier release's and forward again. */
  readonly upkeep: "none" | "rollback"
  /** Milliseconds within which buyers come. */
  readonly arrivalMillis: number
}

export const planOf = (seed: string, store: Plan["store"] = "memory"): Plan => {
  const draw = new Draw(seed).of("plan")
  const faults = drawFaults(draw.of("faults"), store)
  const confirmations = draw.pick([1, 1, 2, 3])
  const plan: Plan = {
    seed,
    store,
    faults,
    instances: draw.pick([1, 1, 1, 1, 2, 2, 3]),
    nodes: faults.has("a node lies") ? 3 : draw.pick([1, 1, 1, 2, 3]),
    confirmations,
    finality: confirmations + (faults.has("a reorganisation is deep") ? 20 : 4),
    handlers: draw.chance(1 / 25),
    merchants: draw.pick([1, 1, 2]),
    payments: draw.pick([1, 1, 2, 2, 3]),
    oneWallet: draw.of("wallets").chance(0.15),
    plain: draw.of("plain").pick([0.05, 0.12, 0.12, 0.6]),
    checkout: draw.of("checkout").chance(0.4),
    signers: 0,
    relayed: draw.pick([1, 4, 10]),
    blockSeconds: draw.pick([2, 2, 3, 5]),
    attentive: draw.chance(0.35),
    paceMillis: draw.pick([1_000, 2_500, 5_000, 5_000, 8_000]),
    expirySeconds: draw.pick([45, 300, 86_400]),
    preemptAfter: draw.pick([20, 100, 500, 3_000]),
    patient: draw.of("patience").chance(0.1),
    lateBuyer: draw.of("late buyer").chance(0.3),
    upkeep: "none",
    arrivalMillis: draw.pick([100, 4_000, 20_000])
  }
  // A statement costs a hundred times what it costs in memory.
  if (store === "memory") return plan
  const drawn = draw.pick([0, 1, 1, 2])
  const signers = faults.has("the relaying wallet is empty") ? 2 : drawn
  return {
    ...plan,
    handlers: false,
    merchants: 1,
    instances: Math.min(2, plan.instances),
    signers,
    payments: signers === 0 ? Math.min(2, plan.payments) : 1,
    attentive: false,
    paceMillis: 5_000,
    // Often shorter than a signature takes on its way.
    expirySeconds: signers === 0 ? plan.expirySeconds : draw.pick([45, 45, 300, 86_400]),
    upkeep: draw.of("upkeep").pick(["none", "none", "none", "none", "none", "none", "none", "rollback"])
  }
}

/** One line of what was drawn. */
export const describePlan = ({ faults, seed, store, ...rest }: Plan): string =>
  [
    `seed ${seed} (${store})`,
    Object.entries(rest)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
    faults.size === 0 ? "no faults" : [...faults].map(([name, part]) => `${name} ×${part}`).join("; ")
  ].join(" | ")
