// Where a simulation makes calls of a service fail, wait, or never answer (docs/simulation.md). Without one
// the service is built as it is: a fault point costs nothing without a simulation.
import { Context, Effect } from "effect"

/** Runs a call at the fault point of this name. */
export interface FaultPoint {
  <A, E, R>(name: string, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  /** Hears of the points of a service when it is built. */
  readonly built?: (names: ReadonlyArray<string>) => void
}

export const FaultPoints = Context.Reference<FaultPoint | undefined>("quittance/platform/FaultPoints", {
  defaultValue: () => undefined
})

/** The service; under a simulation with the fault point `name.method` around the effect of each method. */
export const withFaultPoints = <S extends object, E, R>(
  name: string,
  make: Effect.Effect<S, E, R>
): Effect.Effect<S, E, R> =>
  Effect.gen(function* () {
    const service = yield* make
    const at = yield* FaultPoints
    if (at === undefined) return service
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
  })
