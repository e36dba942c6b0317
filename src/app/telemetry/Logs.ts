// In production, logs are one JSON object per line on stdout, with the ids of the request and its payment; in
// development, Effect's pretty lines.
import { Array, Cause, Context, Effect, Layer, Logger, References, Tracer } from "effect"
import { format } from "effect/Formatter"
import { HttpRouter } from "effect/http"
import { AppConfig } from "../../platform/AppConfig.ts"
import { RequestId } from "../../platform/http/RequestContext.ts"

const text = (value: unknown) => (typeof value === "string" ? value : format(value))

/** The payment in the current request's path. */
const paymentOf = (context: Context.Context<never>): string | undefined => {
  const matched = Context.getOrUndefined(context, HttpRouter.RouteContext)
  return matched?.route.path.startsWith("/api/v1/payments/:") === true ? matched.params["id"] : undefined
}

const jsonLines = Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
  const requestId = fiber.getRef(RequestId)
  const paymentId = paymentOf(fiber.context)
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  console.log(
    JSON.stringify({
      timestamp: date.toISOString(),
      level: logLevel.toLowerCase(),
      message: Array.ensure(message).map(text).join(" "),
      ...(requestId === "" ? {} : { requestId }),
      ...(paymentId === undefined ? {} : { paymentId }),
      ...(span === undefined || !span.sampled ? {} : { traceId: span.traceId, spanId: span.spanId }),
      ...fiber.getRef(References.CurrentLogAnnotations),
      ...(cause.reasons.length === 0 ? {} : { cause: Cause.pretty(cause) })
    })
  )
})

/** The logger of the environment. */
export const layer: Layer.Layer<never, never, AppConfig> = Layer.unwrap(
  Effect.map(AppConfig, ({ environment }) =>
    environment === "production" ? Logger.layer([jsonLines]) : Layer.empty
  )
)
