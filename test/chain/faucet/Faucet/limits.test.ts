// The time that a recipient waits whose limits are full.
import { expect, test } from "bun:test"
import { longestWait } from "../../../../src/chain/faucet/Faucet/limits.ts"

const at = new Date("2026-01-02T00:00:00Z")
const hoursAgo = (hours: number) => new Date(at.getTime() - hours * 3_600_000)
const none = { recipient: null, merchant: null, ip: null }

test("nobody waits while no limit is full", () => expect(longestWait(none, at)).toBeUndefined())

test("a recipient waits until the oldest of its grants is a day old", () =>
  expect(longestWait({ ...none, recipient: hoursAgo(23) }, at)).toEqual({
    limit: "recipient",
    retryAfter: 3600
  }))

test("of several full limits, the one that frees up last decides the wait", () =>
  expect(longestWait({ recipient: hoursAgo(23), merchant: hoursAgo(2), ip: hoursAgo(0.5) }, at)).toEqual({
    limit: "merchant",
    retryAfter: 22 * 3600
  }))

test("a wait is at least one second, and a fraction counts as a full second", () => {
  expect(longestWait({ ...none, ip: hoursAgo(1) }, at)?.retryAfter).toBe(1)
  expect(longestWait({ ...none, ip: new Date(at.getTime() - 3_598_500) }, at)?.retryAfter).toBe(2)
})
