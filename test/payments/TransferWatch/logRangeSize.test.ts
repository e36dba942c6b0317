import { expect, test } from "bun:test"
import { makeLogRangeSize } from "../../../src/payments/TransferWatch/logRangeSize.ts"

/**
 * Queries a provider that answers at most `allowed` blocks; returns the number of refusals, and the size at the end.
 */
const ask = (size: ReturnType<typeof makeLogRangeSize>, allowed: bigint, questions: number, now = 0) => {
  let refused = 0
  for (let question = 0; question < questions; question++) {
    const blocks = size.at(now)
    if (blocks <= allowed) size.recordAnswer(blocks)
    else {
      refused += 1
      size.recordRefusal(blocks, now)
    }
  }
  return { refused, blocks: size.at(now) }
}

for (const allowed of [1n, 2n, 5n, 10n, 100n, 800n, 999n])
  test(`a provider that allows ${allowed} blocks is queried for ${allowed}, after few refusals`, () => {
    const size = makeLogRangeSize(1_000n)
    const first = ask(size, allowed, 40)
    expect(first.blocks).toBe(allowed)
    expect(first.refused).toBeLessThan(20)
    expect(ask(size, allowed, 1_000).refused).toBe(0)
  })

test("a provider that allows more later is queried for more ten minutes later", () => {
  const size = makeLogRangeSize(1_000n)
  ask(size, 10n, 40)
  expect(ask(size, 1_000n, 40, 599_999).blocks).toBe(10n)
  expect(ask(size, 1_000n, 40, 600_000).blocks).toBe(1_000n)
})

test("a refusal of one block is not about its size: the earlier size returns by doubling", () => {
  const size = makeLogRangeSize(1_000n)
  expect(ask(size, 0n, 20)).toEqual({ refused: 20, blocks: 1n })
  expect(ask(size, 1_000n, 11)).toEqual({ refused: 0, blocks: 1_000n })
})

test("a query below the size, as near the head, does not change the size", () => {
  const size = makeLogRangeSize(1_000n)
  size.recordRefusal(1_000n, 0)
  size.recordAnswer(3n)
  expect(size.at(0)).toBe(500n)
})
