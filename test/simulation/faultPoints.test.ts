// Fault points: around every method of a repository, also of a repository nested inside a layer.
import { expect, test } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { buildWithFaultPoints, type FaultPoint, withFaultPoints } from "../support/faultPoints.ts"

const service = { find: (id: number) => Effect.succeed(id), all: Effect.succeed([1, 2]), name: "plain" }

test("a simulation learns of a service's fault points when the service is built", () => {
  const points: Array<string> = []
  const at: FaultPoint = Object.assign(
    <A, E, R>(_: string, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => call,
    { built: (names: ReadonlyArray<string>) => void points.push(...names) }
  )
  withFaultPoints("Repo", service, at)
  expect(points).toEqual(["Repo.find", "Repo.all", "Repo.name"])
})

test("each effect of a service is a fault point named after its method", () => {
  const passed: Array<string> = []
  const at: FaultPoint = (name, call) => {
    passed.push(name)
    return call
  }
  const pointed = withFaultPoints("Repo", service, at)
  expect(Effect.runSync(pointed.find(7))).toBe(7)
  expect(Effect.runSync(pointed.all)).toEqual([1, 2])
  expect(pointed.name).toBe("plain")
  expect(passed).toEqual(["Repo.find", "Repo.all"])
})

class InnerRepo extends Context.Service<InnerRepo, { readonly find: Effect.Effect<number> }>()(
  "quittance/test/InnerRepo"
) {}
class Outer extends Context.Service<Outer, { readonly double: Effect.Effect<number> }>()(
  "quittance/test/Outer"
) {}
const inner = Layer.sync(InnerRepo, () => ({ find: Effect.succeed(2) }))
const outer = Layer.effect(
  Outer,
  Effect.map(InnerRepo, ({ find }) => ({ double: Effect.map(find, (found) => found * 2) }))
).pipe(Layer.provide(inner))

test("a repository has its fault points once, inside a layer or on its own; other services have none", () => {
  const passed: Array<string> = []
  const at: FaultPoint = (name, call) =>
    Effect.andThen(
      Effect.sync(() => passed.push(name)),
      call
    )
  const found = Effect.gen(function* () {
    const context = yield* buildWithFaultPoints(Layer.merge(outer, inner), at)
    return [yield* Context.get(context, Outer).double, yield* Context.get(context, InnerRepo).find]
  })
  expect(Effect.runSync(Effect.scoped(found))).toEqual([4, 2])
  expect(passed).toEqual(["InnerRepo.find", "InnerRepo.find"])
})
