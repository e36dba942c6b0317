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
  /** Whether people go through the HttpApi handlers. */
  readonly handlers: boolean
  readonly merchants: number
  /** Payments that buyers open, one after the other. */
  readonly payments: number
  readonly blockSeconds: number
  readonly expirySeconds: number
  /** Whether the chain is looked at every second while a payment waits, or every five. */
  readonly attentive: boolean
  /** How often each worker looks for work. */
  readonly paceMillis: number
  readonly preemptAfter: number
  /** Milliseconds within which buyers come. */
  readonly arrivalMillis: number
}

export const planOf = (seed: string, store: Plan["store"] = "memory"): Plan => {
  const draw = new Draw(seed).of("plan")
  const faults = drawFaults(draw.of("faults"))
  const plan: Plan = {
    seed,
    store,
    faults,
    instances: draw.pick([1, 1, 1, 1, 2, 2, 3]),
    nodes: faults.has("a node lies") ? 3 : draw.pick([1, 1, 1, 2, 3]),
    confirmations: draw.pick([1, 1, 2, 3]),
    handlers: draw.chance(1 / 25),
    merchants: draw.pick([1, 1, 2]),
    payments: draw.pick([1, 1, 2, 2, 3]),
    blockSeconds: draw.pick([2, 2, 3, 5]),
    attentive: draw.chance(0.35),
    paceMillis: draw.pick([1_000, 2_500, 5_000, 5_000, 8_000]),
    expirySeconds: draw.pick([45, 300, 86_400]),
    preemptAfter: draw.pick([20, 100, 500, 3_000]),
    arrivalMillis: draw.pick([100, 4_000, 20_000])
  }
  // A statement costs a hundred times what it costs in memory.
  return store === "memory"
    ? plan
    : {
        ...plan,
        merchants: 1,
        instances: Math.min(2, plan.instances),
        payments: Math.min(2, plan.payments),
        attentive: false,
        paceMillis: 5_000
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
