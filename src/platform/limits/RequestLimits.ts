// A limit, and what holds it: this process or Redis.
import type { Effect } from "effect"

export interface Limit {
  /** Sustained requests for each `perSeconds`. */
  readonly rate: number
  readonly perSeconds: number
  /** The number of requests that may arrive at once. */
  readonly burst: number
}

export interface RequestLimits {
  /** Takes one request; 0 when it may pass, otherwise the whole seconds after which one will. */
  readonly take: (key: string, limit: Limit) => Effect.Effect<number>
}
