// Builds routes in a small context. A handler's whole build context is merged into each request's; with the whole
// application in it, that merge costs more than the handler's own work.
import { Clock, Context, Effect, Layer, Logger, References, Scope, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import { Networks } from "../Networks.ts"
import { ApiKeyAuth } from "./ApiKeyAuth.ts"
import { BodyRules, ResponseEnvelope } from "./RequestRules.ts"

// biome-ignore lint/suspicious/noExplicitAny: the shape of a service does not matter to picking it
type AnyKey = Context.Key<any, any>

/** Present only if configured: the open and closing networks, and the clock, logs and traces of the code inside. */
const configured = [
  Networks,
  Clock.Clock,
  Logger.CurrentLoggers,
  Tracer.Tracer,
  References.TracerEnabled,
  HttpMiddleware.SpanNameGenerator
]

/** The layer, built in a context with only the listed services, which are all it may require. */
export const withServices = <const Keys extends ReadonlyArray<AnyKey>>(...keys: Keys) => {
  type Needed = Context.Service.Identifier<Keys[number]>
  const keysInContext: ReadonlyArray<AnyKey> = [...keys, ...configured, Scope.Scope, Layer.CurrentMemoMap]
  return <A, E>(layer: Layer.Layer<A, E, Needed>): Layer.Layer<A, E, Needed> =>
    Layer.effectContext(
      Effect.updateContext(
        Layer.build(layer),
        (context: Context.Context<Needed | Scope.Scope>): Context.Context<Needed | Scope.Scope> =>
          Context.pick(...keysInContext)(context)
      )
    )
}

/** A group's handlers, built in a context with the listed services and the middleware of every group for keys. */
export const groupWithServices = <const Keys extends ReadonlyArray<AnyKey>>(...keys: Keys) =>
  withServices(ApiKeyAuth, BodyRules, ResponseEnvelope, ...keys)
