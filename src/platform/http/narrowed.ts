// Routes are built in a small context. A handler's whole build context is merged into
// every request's; with all of the application in it, that merge costs more than the
// handler's own work.
import { Clock, Context, Effect, Layer, Logger, References, Scope, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import { Networks } from "../Networks.ts"
import { ApiKeyAuth } from "./ApiKeyAuth.ts"
import { Answers, BodyRules } from "./RequestRules.ts"

// biome-ignore lint/suspicious/noExplicitAny: the shape of a service does not matter to picking it
type AnyKey = Context.Key<any, any>

/** Present only where configured: the networks that execute, and the time, logs and traces of what runs inside. */
const configured = [
  Networks,
  Clock.Clock,
  Logger.CurrentLoggers,
  Tracer.Tracer,
  References.TracerEnabled,
  HttpMiddleware.SpanNameGenerator
]

/** The layer, built in a context of the named services alone; they are what it may require. */
export const narrowed = <const Keys extends ReadonlyArray<AnyKey>>(...keys: Keys) => {
  type Needed = Context.Service.Identifier<Keys[number]>
  const named: ReadonlyArray<AnyKey> = [...keys, ...configured, Scope.Scope, Layer.CurrentMemoMap]
  return <A, E>(layer: Layer.Layer<A, E, Needed>): Layer.Layer<A, E, Needed> =>
    Layer.effectContext(
      Effect.updateContext(
        Layer.build(layer),
        (context: Context.Context<Needed | Scope.Scope>): Context.Context<Needed | Scope.Scope> =>
          Context.pick(...named)(context)
      )
    )
}

/** A group's handlers, built in a context of the named services and the middleware that every key's group has. */
export const narrowedGroup = <const Keys extends ReadonlyArray<AnyKey>>(...keys: Keys) =>
  narrowed(ApiKeyAuth, BodyRules, Answers, ...keys)
