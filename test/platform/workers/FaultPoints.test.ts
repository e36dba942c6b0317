// Fault points: nothing without a simulation, and around every method with one.
import { expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { type FaultPoint, FaultPoints, withFaultPoints } from "../../../src/platform/workers/FaultPoints.ts"

const service = { find: (id: number) => Effect.succeed(id), all: Effect.succeed([1, 2]), name: "plain" }
const made = withFaultPoints("Repo", Effect.succeed(service))

test("without a simulation a service is built as it is", () => {
  expect(Effect.runSync(made)).toBe(service)
})

test("a simulation hears of the points of a service when it is built", () => {
  const points: Array<string> = []
  const at: FaultPoint = Object.assign(
    <A, E, R>(_: string, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => call,
    { built: (names: ReadonlyArray<string>) => void points.push(...names) }
  )
  Effect.runSync(Effect.provideContext(made, Context.make(FaultPoints, at)))
  expect(points).toEqual(["Repo.find", "Repo.all", "Repo.name"])
})

test("under one, each effect of it is a point named after its method", () => {
  const passed: Array<string> = []
  const at: FaultPoint = (name, call) => {
    passed.push(name)
    return call
  }
  const pointed = Effect.runSync(Effect.provideContext(made, Context.make(FaultPoints, at)))
  expect(Effect.runSync(pointed.find(7))).toBe(7)
  expect(Effect.runSync(pointed.all)).toEqual([1, 2])
  expect(pointed.name).toBe("plain")
  expect(passed).toEqual(["Repo.find", "Repo.all"])
})
