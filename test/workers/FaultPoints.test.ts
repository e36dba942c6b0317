// Fault points: nothing without a simulation, one around each method with it.
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { FaultPoints, withFaultPoints } from "../../src/workers/FaultPoints.ts"

const service = {
  add: (one: number, other: number) => Effect.succeed(one + other),
  now: Effect.succeed("now"),
  plain: () => 7
}

test("without a simulation the service is the very same object", () => {
  expect(Effect.runSync(withFaultPoints("Service", Effect.succeed(service)))).toBe(service)
})

test("a simulation gets each effect by the name of its method, and nothing else", () => {
  const names: Array<string> = []
  const wrapped = Effect.runSync(
    withFaultPoints("Service", Effect.succeed(service)).pipe(
      Effect.provideService(FaultPoints, (name, call) => {
        names.push(name)
        return call
      })
    )
  )
  expect(Effect.runSync(wrapped.add(1, 2))).toBe(3)
  expect(Effect.runSync(wrapped.now)).toBe("now")
  expect(wrapped.plain()).toBe(7)
  expect(names).toEqual(["Service.add", "Service.now"])
})
