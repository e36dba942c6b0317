// `bun test/simulation/faultPointCost.ts`: what fault points cost while they are off. A service with them and
// the same service without are called in turns; the difference of a call, times the points that a request
// passes, is a part of the request's own time.
import { Context, Effect } from "effect"
import { FaultPoints, withFaultPoints } from "../../src/workers/FaultPoints.ts"
import { planOf } from "./Plan.ts"
import { simulate } from "./simulate.ts"
import { warmUp } from "./warmUp.ts"

const calls = 100_000
const rounds = 41

const service = { find: (id: number) => Effect.succeed(id) }
const off = Effect.runSync(
  withFaultPoints(
    "Bench",
    Effect.sync(() => ({ ...service }))
  )
)
const on = Effect.runSync(
  withFaultPoints(
    "Bench",
    Effect.sync(() => ({ ...service }))
  ).pipe(Effect.provideContext(Context.make(FaultPoints, (_, call) => call)))
)

const nanosOf = (one: typeof service) => {
  const many = Effect.gen(function* () {
    for (let call = 0; call < calls; call++) yield* one.find(call)
  })
  const began = Bun.nanoseconds()
  Effect.runSync(many)
  return (Bun.nanoseconds() - began) / calls
}
const median = (all: ReadonlyArray<number>) =>
  all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0

const [plain, pointed, simulated]: [Array<number>, Array<number>, Array<number>] = [[], [], []]
for (let round = 0; round < rounds; round++) {
  plain.push(nanosOf(service))
  pointed.push(nanosOf(off))
  simulated.push(nanosOf(on))
}
const [without, withOff, withOn] = [plain, pointed, simulated].map(median)

await warmUp()
const quietRun = simulate({ ...planOf("cost"), handlers: true, faults: new Map() })
const passed = [...quietRun.points.values()].reduce((sum, one) => sum + one, 0)

console.log(`a call without a fault point: ${without?.toFixed(1)} ns`)
console.log(`with one that is off:         ${withOff?.toFixed(1)} ns`)
console.log(`with one that is on:          ${withOn?.toFixed(1)} ns`)
console.log(`${passed} points are passed in a run of ${quietRun.plan.payments} payments, workers included`)
process.exit()
