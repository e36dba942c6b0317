// A request limit, and the interface of what counts requests against it: this process or Redis.
import type { Effect } from "effect"

export interface Limit {
  /** Sustained requests per `perSeconds`. */
  readonly rate: number
  readonly perSeconds: number
  /** The number of requests that may arrive at once. */
  readonly burst: number
}

export interface RequestLimits {
  /** Takes one request. Returns 0 if it may pass, otherwise the whole seconds after which one may. */
  readonly take: (key: string, limit: Limit) => Effect.Effect<number>
}
