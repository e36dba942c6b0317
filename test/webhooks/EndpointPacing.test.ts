// How many attempts one endpoint may hold.
import { expect, test } from "bun:test"
import { initialWindow, makeEndpointPacing } from "../../src/webhooks/EndpointPacing.ts"

const prompt = { ok: true, durationMs: 5 }
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
  expect(roomAfter(Array.from({ length: 500 }, () => prompt))).toBe(64)
})
test("failures narrow it to one, never to none", () => {
  expect(roomAfter([hung])).toBe(2)
  expect(roomAfter([hung, hung])).toBe(1)
  expect(roomAfter(Array.from({ length: 9 }, () => hung))).toBe(1)
})
test("slow successes neither widen nor narrow it, and lift it from one", () => {
  const slow = { ok: true, durationMs: 1_200 }
  expect(roomAfter(Array.from({ length: 20 }, () => slow))).toBe(4)
  expect(roomAfter([prompt, prompt, slow])).toBe(6)
  expect(roomAfter([hung, hung, slow])).toBe(4)
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
