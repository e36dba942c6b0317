// Limits the concurrent attempts of one endpoint: one at first, more while it responds quickly, a few while it responds
// slowly, one when it fails.
import { Deferred, Effect } from "effect"
import type { EndpointCapacity } from "../WebhookRepo/WebhookStore.ts"

/** Attempts in flight to an endpoint that is new to this process. */
export const initialWindow = 1
/** The minimum for an endpoint that accepts slowly. */
const slowWindow = 4
/** The maximum for an endpoint that accepts promptly. */
export const maxWindow = 128
/** A slower success does not widen the window beyond `slowWindow`, nor narrow it. */
const promptMillis = 1_000
/** Nothing is leased ahead for a slower endpoint: it would wait long, and the database is fast enough. */
const fastMillis = 500
/** Windows leased for a fast endpoint, in flight and ahead. */
const leasedWindows = 3

/** An endpoint without deliveries for this long is forgotten. */
const forgetMillis = 60_000

interface Endpoint {
  window: number
  /** The number of leased deliveries without an outcome. */
  running: number
  /** Deliveries that were leased ahead, in order. */
  readonly ahead: Array<Deferred.Deferred<void>>
  usedAt: number
  accepts: boolean | null
  /** True if the endpoint accepted its last deliveries at once, with the widest window. */
  isFast: boolean
}

export interface EndpointPacing {
  /** Requests a slot for a leased delivery: undefined if it may be sent at once, otherwise an effect to wait for. */
  readonly enter: (endpointId: string) => Effect.Effect<void> | undefined
  /** True if deliveries leased ahead should still be sent; false if the endpoint has failed or slowed down since. */
  readonly isFast: (endpointId: string) => boolean
  /** True if enough capacity is free, besides deliveries leased ahead, to make the next lease worthwhile. */
  readonly takesMore: (endpointId: string) => boolean
  /**
   * Frees the slot; pass no attempt if nothing was sent. True if enough capacity is free for the next lease.
   */
  readonly leave: (
    endpointId: string,
    attempt: { readonly ok: boolean; readonly durationMs: number } | undefined
  ) => boolean
  /** True if the endpoint accepted its last delivery; null if that is unknown here. */
  readonly accepts: (endpointId: string) => boolean | null
  /**
   * Capacities of endpoints that differ from the initial window. A crowded process leases nothing for endpoints with
   * a running attempt, and leases ahead only if it has `room`.
   */
  readonly capacities: (room: "none" | "some" | "ample") => ReadonlyArray<EndpointCapacity>
}

/**
 * `now` in milliseconds of any monotonic clock. A hanging endpoint uses little of the shared capacity, and a slow one
 * is still served concurrently. An endpoint at the maximum leases twice as many deliveries ahead, so sending does not
 * wait for the database.
 */
export const makeEndpointPacing = (now = () => performance.now()): EndpointPacing => {
  const endpoints = new Map<string, Endpoint>()
  /** True if the last lease had capacity for leasing ahead. */
  let isAmple = false
  const runsAhead = ({ isFast }: Endpoint) => isAmple && isFast
  /** The number of further deliveries that may be leased for an endpoint. */
  const free = (endpoint: Endpoint) =>
    (runsAhead(endpoint) ? leasedWindows : 1) * endpoint.window - endpoint.running
  /** False if leasing so few would cost more than sending them. */
  const isWorthLeasing = (endpoint: Endpoint) =>
    free(endpoint) * (runsAhead(endpoint) ? 1 : 2) >= endpoint.window
  return {
    enter: (endpointId) => {
      const endpoint = endpoints.get(endpointId) ?? {
        window: initialWindow,
        running: 0,
        ahead: [],
        usedAt: 0,
        accepts: null,
        isFast: false
      }
      endpoints.set(endpointId, endpoint)
      endpoint.running++
      if (endpoint.running - endpoint.ahead.length <= maxWindow) return undefined
      const turn = Deferred.makeUnsafe<void>()
      endpoint.ahead.push(turn)
      return Deferred.await(turn)
    },
    isFast: (endpointId) => endpoints.get(endpointId)?.isFast === true,
    takesMore: (endpointId) => {
      const endpoint = endpoints.get(endpointId)
      return endpoint !== undefined && runsAhead(endpoint) && isWorthLeasing(endpoint)
    },
    leave: (endpointId, attempt) => {
      const endpoint = endpoints.get(endpointId)
      if (endpoint === undefined) return true
      endpoint.running--
      const next = endpoint.ahead.shift()
      if (next !== undefined) Deferred.doneUnsafe(next, Effect.void)
      endpoint.usedAt = now()
      if (attempt === undefined) return false
      const { durationMs, ok } = attempt
      endpoint.accepts = ok
      if (!ok) endpoint.window = Math.max(1, endpoint.window >> 1)
      else if (durationMs <= promptMillis) endpoint.window = Math.min(maxWindow, endpoint.window + 1)
      else endpoint.window = Math.max(slowWindow, endpoint.window)
      endpoint.isFast = ok && durationMs <= fastMillis && endpoint.window === maxWindow
      return isWorthLeasing(endpoint)
    },
    accepts: (endpointId) => endpoints.get(endpointId)?.accepts ?? null,
    capacities: (room) => {
      const capacities: Array<EndpointCapacity> = []
      const forgotten = now() - forgetMillis
      isAmple = room === "ample"
      for (const [endpointId, endpoint] of endpoints) {
        const { accepts, running, usedAt } = endpoint
        if (running === 0 && usedAt < forgotten) {
          endpoints.delete(endpointId)
          continue
        }
        // Leasing only a few deliveries ahead is not urgent.
        const isFull = room === "none" ? running > 0 : runsAhead(endpoint) && !isWorthLeasing(endpoint)
        capacities.push({ endpointId, accepts, capacity: isFull ? 0 : Math.max(0, free(endpoint)) })
      }
      return capacities
    }
  }
}
