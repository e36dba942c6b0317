// Wraps each effect of a service in a fault point, at which a simulation makes calls fail, wait or hang, and which a
// test counts. The services do not depend on it.
import { Context, Effect, Layer, type Scope } from "effect"

/** Runs a call at the fault point with this name. */
export interface FaultPoint {
  <A, E, R>(name: string, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  /** Called with a service's fault points when it is built. */
  readonly built?: (names: ReadonlyArray<string>) => void
}

/** The service with the fault point `name.method` around the effect of each method. */
export const withFaultPoints = <S extends object>(name: string, service: S, at: FaultPoint): S => {
  at.built?.(Object.keys(service).map((method) => `${name}.${method}`))
  const around = (method: PropertyKey, result: unknown) =>
    Effect.isEffect(result) ? at(`${name}.${String(method)}`, result) : result
  return new Proxy(service, {
    get: (target, method) => {
      const member: unknown = Reflect.get(target, method)
      return typeof member === "function"
        ? (...args: ReadonlyArray<unknown>) => around(method, Reflect.apply(member, target, args))
        : around(method, member)
    }
  })
}

const nameOf = (key: string) => key.slice(key.lastIndexOf("/") + 1)

/** Builds a layer whose repositories, also nested ones, have fault points. */
export const buildWithFaultPoints = <A, E, R>(
  layer: Layer.Layer<A, E, R>,
  at: FaultPoint
): Effect.Effect<Context.Context<A>, E, R | Scope.Scope> =>
  Effect.gen(function* () {
    const pointed = new WeakSet<object>()
    const withPoints = <Services>(context: Context.Context<Services>): Context.Context<Services> => {
      const services = new Map(context.mapUnsafe)
      for (const [key, service] of context.mapUnsafe) {
        if (!key.endsWith("Repo") || pointed.has(service)) continue
        const changed = withFaultPoints(nameOf(key), service, at)
        pointed.add(changed)
        services.set(key, changed)
      }
      return Context.makeUnsafe(services)
    }
    const memoMap = Layer.makeMemoMapUnsafe()
    const memoize = memoMap.getOrElseMemoize.bind(memoMap)
    // Each layer is built here, with the layers below it.
    const pointing: Pick<Layer.MemoMap, "getOrElseMemoize"> = {
      getOrElseMemoize: (one, scope, build) =>
        memoize(one, scope, (...on) => Effect.map(build(...on), withPoints))
    }
    return yield* Layer.buildWithMemoMap(layer, Object.assign(memoMap, pointing), yield* Effect.scope)
  })
