// Adds a request's id, and the payment in its path, to the spans and logs for a collector.
import { Effect } from "effect"
import type { AppConfig } from "../../AppConfig.ts"

type Named = <A, E, R>(
  handled: Effect.Effect<A, E, R>,
  requestId: string,
  url: string
) => Effect.Effect<A, E, R>

const unnamed: Named = (handled) => handled

const paymentPath = /^\/api\/v1\/payments\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:$|\?)/

/** Leaves the request unchanged if there is no collector. */
export const namedRequest = ({ otlp }: typeof AppConfig.Service): Named => {
  if (otlp._tag === "None") return unnamed
  return (handled, requestId, url) => {
    const paymentId = paymentPath.exec(url)?.[1]
    const names = { requestId, ...(paymentId === undefined ? {} : { paymentId }) }
    return Effect.annotateCurrentSpan({
      "request.id": requestId,
      ...(paymentId === undefined ? {} : { "payment.id": paymentId })
    }).pipe(Effect.andThen(Effect.annotateLogs(handled, names)))
  }
}
