// How many attempts may run against one endpoint: few at first, more while it accepts
// quickly, as many as before while it accepts slowly, one when it fails. A receiver that
// hangs holds little of what all share; a slow one is still served side by side.
import type { EndpointRoom } from "./WebhookRepo.ts"

/** Attempts in flight to an endpoint that this process knows nothing of. */
export const initialWindow = 4
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
}

export interface EndpointPacing {
  readonly enter: (endpointId: string) => void
  /** True once half of the endpoint's window is free: claims of a few at a time would cost more than they send. */
  readonly leave: (
    endpointId: string,
    attempt: { readonly ok: boolean; readonly durationMs: number }
  ) => boolean
  /** What may be claimed for each endpoint that differs from the initial window. */
  readonly rooms: () => ReadonlyArray<EndpointRoom>
}

/** `now` in milliseconds of any clock that does not go back. */
export const makeEndpointPacing = (now = () => performance.now()): EndpointPacing => {
  const endpoints = new Map<string, Endpoint>()
  return {
    enter: (endpointId) => {
      const endpoint = endpoints.get(endpointId) ?? { window: initialWindow, running: 0, usedAt: 0 }
      endpoint.running++
      endpoints.set(endpointId, endpoint)
    },
    leave: (endpointId, { ok, durationMs }) => {
      const endpoint = endpoints.get(endpointId)
      if (endpoint === undefined) return true
      endpoint.running--
      endpoint.usedAt = now()
      if (!ok) endpoint.window = Math.max(1, endpoint.window >> 1)
      else if (durationMs <= promptMillis) endpoint.window = Math.min(maxWindow, endpoint.window + 1)
      else endpoint.window = Math.max(initialWindow, endpoint.window)
      if (endpoint.running === 0 && endpoint.window === initialWindow) endpoints.delete(endpointId)
      return endpoint.running * 2 <= endpoint.window
    },
    rooms: () => {
      const rooms: Array<EndpointRoom> = []
      const forgotten = now() - forgetMillis
      for (const [endpointId, { window, running, usedAt }] of endpoints) {
        if (running === 0 && usedAt < forgotten) endpoints.delete(endpointId)
        else rooms.push({ endpointId, room: Math.max(0, window - running) })
      }
      return rooms
    }
  }
}
