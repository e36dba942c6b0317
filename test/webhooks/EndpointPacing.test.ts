// How many attempts one endpoint may hold.
import { expect, test } from "bun:test"
import { initialWindow, makeEndpointPacing, maxWindow } from "../../src/webhooks/EndpointPacing.ts"

const prompt = { ok: true, durationMs: 5 }
const slowly = { ok: true, durationMs: 1_200 }
const hung = { ok: false, durationMs: 15_000 }

const roomAfter = (attempts: ReadonlyArray<{ ok: boolean; durationMs: number }>): number => {
  const pacing = makeEndpointPacing()
  for (const attempt of attempts) {
    pacing.enter("a")
    pacing.leave("a", attempt)
  }
  return pacing.rooms().find((one) => one.endpointId === "a")?.room ?? initialWindow
}

test("an unknown endpoint has a small window", () => expect(roomAfter([])).toBe(4))
test("prompt answers widen it, to a bound", () => {
  expect(roomAfter([prompt])).toBe(5)
  expect(roomAfter(Array.from({ length: 500 }, () => prompt))).toBe(maxWindow)
})
test("failures narrow it to one, never to none", () => {
  expect(roomAfter([hung])).toBe(2)
  expect(roomAfter([hung, hung])).toBe(1)
  expect(roomAfter(Array.from({ length: 9 }, () => hung))).toBe(1)
})
test("slow successes neither widen nor narrow it, and lift it from one", () => {
  expect(roomAfter(Array.from({ length: 20 }, () => slowly))).toBe(4)
  expect(roomAfter([prompt, prompt, slowly])).toBe(6)
  expect(roomAfter([hung, hung, slowly])).toBe(4)
})
test("what runs takes room", () => {
  const pacing = makeEndpointPacing()
  for (let running = 0; running < 4; running++) pacing.enter("a")
  expect(pacing.rooms()).toEqual([{ endpointId: "a", room: 0 }])
  pacing.leave("a", hung)
  expect(pacing.rooms()).toEqual([{ endpointId: "a", room: 0 }])
  pacing.leave("a", prompt)
  expect(pacing.rooms()).toEqual([{ endpointId: "a", room: 1 }])
})
test("a claim is worth it once half of the window is free", () => {
  const pacing = makeEndpointPacing()
  for (let running = 0; running < 4; running++) pacing.enter("a")
  expect(pacing.leave("a", slowly)).toBe(false)
  expect(pacing.leave("a", slowly)).toBe(true)
  pacing.leave("a", slowly)
  expect(pacing.leave("a", hung)).toBe(true)
  pacing.enter("a")
  expect(pacing.leave("a", hung)).toBe(true)
})
test("an endpoint that nothing was sent to for a minute is forgotten, one with attempts is not", () => {
  let now = 0
  const pacing = makeEndpointPacing(() => now)
  for (const id of ["idle", "busy"]) {
    pacing.enter(id)
    pacing.leave(id, prompt)
  }
  pacing.enter("busy")
  now = 60_000
  expect(pacing.rooms().map(({ endpointId }) => endpointId)).toEqual(["idle", "busy"])
  now = 60_001
  expect(pacing.rooms()).toEqual([{ endpointId: "busy", room: 4 }])
})
