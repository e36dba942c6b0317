// The number of attempts that one endpoint may have at a time.
import { expect, test } from "bun:test"
import { Effect } from "effect"
import {
  initialWindow,
  makeEndpointPacing,
  maxWindow
} from "../../../src/webhooks/DeliveryWorker/EndpointPacing.ts"

const prompt = { ok: true, durationMs: 5 }
const slowly = { ok: true, durationMs: 1_200 }
const hung = { ok: false, durationMs: 15_000 }

const roomAfter = (attempts: ReadonlyArray<{ ok: boolean; durationMs: number }>): number => {
  const pacing = makeEndpointPacing()
  for (const attempt of attempts) {
    pacing.enter("a")
    pacing.leave("a", attempt)
  }
  return pacing.capacities("some").find((one) => one.endpointId === "a")?.capacity ?? initialWindow
}

test("an unknown endpoint has capacity for one", () => expect(roomAfter([])).toBe(1))
test("prompt answers widen the window, up to a bound", () => {
  expect(roomAfter([prompt])).toBe(2)
  expect(roomAfter(Array.from({ length: 500 }, () => prompt))).toBe(maxWindow)
})
test("failures narrow the window to one, never to none", () => {
  expect(roomAfter([prompt, prompt, prompt, hung])).toBe(2)
  expect(roomAfter([prompt, prompt, prompt, hung, hung])).toBe(1)
  expect(roomAfter(Array.from({ length: 9 }, () => hung))).toBe(1)
})
test("slow successes raise the window to four, and then neither widen nor narrow it", () => {
  expect(roomAfter(Array.from({ length: 20 }, () => slowly))).toBe(4)
  expect(roomAfter([...Array.from({ length: 5 }, () => prompt), slowly])).toBe(6)
  expect(roomAfter([hung, hung, slowly])).toBe(4)
})
const four = () => {
  const pacing = makeEndpointPacing()
  pacing.enter("a")
  pacing.leave("a", slowly)
  for (let running = 0; running < 4; running++) pacing.enter("a")
  return pacing
}
test("running attempts use up capacity", () => {
  const pacing = four()
  expect(pacing.capacities("some")).toEqual([{ endpointId: "a", capacity: 0, accepts: true }])
  pacing.leave("a", hung)
  expect(pacing.capacities("some")).toEqual([{ endpointId: "a", capacity: 0, accepts: false }])
  pacing.leave("a", prompt)
  expect(pacing.capacities("some")).toEqual([{ endpointId: "a", capacity: 1, accepts: true }])
})
test("in a crowded process an endpoint starts no second attempt", () => {
  const pacing = four()
  pacing.leave("a", prompt)
  expect(pacing.capacities("some")).toEqual([{ endpointId: "a", capacity: 2, accepts: true }])
  expect(pacing.capacities("none")).toEqual([{ endpointId: "a", capacity: 0, accepts: true }])
  for (let running = 0; running < 3; running++) pacing.leave("a", prompt)
  expect(pacing.capacities("none")).toEqual([{ endpointId: "a", capacity: 8, accepts: true }])
})
test("a lease is worthwhile once half of the window is free", () => {
  const pacing = four()
  expect(pacing.leave("a", slowly)).toBe(false)
  expect(pacing.leave("a", slowly)).toBe(true)
  pacing.leave("a", slowly)
  expect(pacing.leave("a", hung)).toBe(true)
  pacing.enter("a")
  expect(pacing.leave("a", hung)).toBe(true)
})
const fast = () => {
  const pacing = makeEndpointPacing()
  for (let sent = 0; sent < maxWindow; sent++) {
    pacing.enter("a")
    pacing.leave("a", prompt)
  }
  const capacity = (room: "some" | "ample") => pacing.capacities(room)[0]?.capacity
  return { pacing, capacity }
}
test("for a fast endpoint two more windows are leased ahead, if the process has ample capacity", () => {
  const { capacity, pacing } = fast()
  expect([capacity("some"), capacity("ample")]).toEqual([maxWindow, 3 * maxWindow])
  for (let leased = 0; leased < 2 * maxWindow; leased++) pacing.enter("a")
  expect([capacity("some"), capacity("ample"), pacing.takesMore("a")]).toEqual([0, maxWindow, true])
  pacing.enter("a")
  // A few free places do not trigger a lease.
  expect([capacity("ample"), pacing.takesMore("a")]).toEqual([0, false])
})
test("the next lease of a fast endpoint is worthwhile once a window is free, or half of one without ample capacity", () => {
  for (const [room, most] of [
    ["ample", 2 * maxWindow],
    ["some", maxWindow / 2]
  ] as const) {
    const { capacity, pacing } = fast()
    for (let leased = 0; leased <= most + 1; leased++) pacing.enter("a")
    capacity(room)
    expect([pacing.leave("a", prompt), pacing.leave("a", prompt)]).toEqual([false, true])
    expect(pacing.takesMore("a")).toBe(room === "ample")
  }
})
test("nothing is leased ahead for an endpoint whose answers would make it wait", () => {
  const { capacity, pacing } = fast()
  pacing.enter("a")
  pacing.leave("a", { ok: true, durationMs: 600 })
  expect([capacity("ample"), pacing.isFast("a")]).toEqual([maxWindow, false])
})
test("deliveries leased ahead are sent in order, each after another has been answered", async () => {
  const { pacing } = fast()
  for (let sent = 0; sent < maxWindow; sent++) expect(pacing.enter("a")).toBeUndefined()
  const sent: Array<string> = []
  const turns = ["first", "second"].map((name) =>
    Effect.runPromise(Effect.map(pacing.enter("a") ?? Effect.void, () => sent.push(name)))
  )
  await Bun.sleep(1)
  expect(sent).toEqual([])
  pacing.leave("a", prompt)
  await turns[0]
  expect(sent).toEqual(["first"])
  pacing.leave("a", undefined)
  await turns[1]
  expect(sent).toEqual(["first", "second"])
})
test("an endpoint that fails or slows down no longer counts as fast", () => {
  for (const attempt of [hung, slowly]) {
    const { pacing } = fast()
    pacing.enter("a")
    expect(pacing.isFast("a")).toBe(true)
    pacing.leave("a", attempt)
    expect(pacing.isFast("a")).toBe(false)
    expect(pacing.takesMore("a")).toBe(false)
  }
})
test("an endpoint is forgotten after a minute without a delivery, unless attempts are running", () => {
  let now = 0
  const pacing = makeEndpointPacing(() => now)
  for (const id of ["idle", "busy"]) {
    pacing.enter(id)
    pacing.leave(id, prompt)
  }
  pacing.enter("busy")
  now = 60_000
  expect(pacing.capacities("some").map(({ endpointId }) => endpointId)).toEqual(["idle", "busy"])
  now = 60_001
  expect(pacing.capacities("some")).toEqual([{ endpointId: "busy", capacity: 1, accepts: true }])
})
