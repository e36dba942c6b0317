// How many attempts may run against one endpoint: one at first, more while it accepts
// quickly, a few while it accepts slowly, one when it fails. A receiver that hangs holds
// little of what all share; a slow one is still served side by side.
import type { EndpointCapacity } from "../WebhookRepo.ts"

/** Attempts in flight to an endpoint that this process knows nothing of. */
export const initialWindow = 1
/** At least, to one that accepts slowly. */
const slowWindow = 4
/** And at most, to one that accepts promptly. */
export const maxWindow = 128
/** A slower success is no reason to send more at once, nor less. */
const promptMillis = 1_000

/** An endpoint that nothing was sent to for so long is forgotten. */
const forgetMillis = 60_000

interface Endpoint {
  window: number
  running: number
  usedAt: number
  accepts: boolean | null
}

export interface EndpointPacing {
  readonly enter: (endpointId: string) => void
  /** True once half of the endpoint's window is free: claims of a few at a time would cost more than they send. */
  readonly leave: (
    endpointId: string,
    attempt: { readonly ok: boolean; readonly durationMs: number }
  ) => boolean
  /** Whether it accepted what it was sent last; null while that is not known here. */
  readonly accepts: (endpointId: string) => boolean | null
  /**
   * What may be claimed for each endpoint that differs from the initial window; nothing beside an attempt
   * that runs where the process is crowded.
   */
  readonly capacities: (isCrowded: boolean) => ReadonlyArray<EndpointCapacity>
}

/** `now` in milliseconds of any clock that does not go back. */
export const makeEndpointPacing = (now = () => performance.now()): EndpointPacing => {
  const endpoints = new Map<string, Endpoint>()
  return {
    enter: (endpointId) => {
      const endpoint = endpoints.get(endpointId) ?? {
        window: initialWindow,
        running: 0,
        usedAt: 0,
        accepts: null
      }
      endpoint.running++
      endpoints.set(endpointId, endpoint)
    },
    leave: (endpointId, { ok, durationMs }) => {
      const endpoint = endpoints.get(endpointId)
      if (endpoint === undefined) return true
      endpoint.running--
      endpoint.usedAt = now()
      endpoint.accepts = ok
      if (!ok) endpoint.window = Math.max(1, endpoint.window >> 1)
      else if (durationMs <= promptMillis) endpoint.window = Math.min(maxWindow, endpoint.window + 1)
      else endpoint.window = Math.max(slowWindow, endpoint.window)
      return endpoint.running * 2 <= endpoint.window
    },
    accepts: (endpointId) => endpoints.get(endpointId)?.accepts ?? null,
    capacities: (isCrowded) => {
      const capacities: Array<EndpointCapacity> = []
      const forgotten = now() - forgetMillis
      for (const [endpointId, { accepts, window, running, usedAt }] of endpoints) {
        if (running === 0 && usedAt < forgotten) endpoints.delete(endpointId)
        else
          capacities.push({
            endpointId,
            accepts,
            capacity: isCrowded && running > 0 ? 0 : Math.max(0, window - running)
          })
      }
      return capacities
    }
  }
}
