import { expect, test } from "bun:test"
import { MismatchReason } from "../../../src/domain/VerdictReason.ts"
import { mismatchError } from "../../../src/payments/Payments/mismatchError.ts"

for (const reason of MismatchReason.literals) {
  test(`a mismatch of ${reason} names it, and says what to do`, () => {
    const error = mismatchError("test", { _tag: "Mismatch", reason, confirmed: true })
    expect(error).toMatchObject({ code: "TEST_SETTLEMENT_MISMATCH", reason })
    expect(error.details).toHaveLength(1)
    expect(error.details?.[0]?.path).toBe(reason)
    expect(error.details?.[0]?.message).toMatch(/\.$/)
    expect(error.details?.[0]).not.toHaveProperty("expected")
  })
}

test("a live mismatch has its own code, and the same shape", () => {
  const found = { _tag: "Mismatch", reason: "amount", expected: "1", actual: "2", confirmed: true } as const
  const { code: _, _tag: __, message: ___, ...live } = { ...mismatchError("live", found) }
  expect(mismatchError("live", found).code).toBe("SETTLEMENT_MISMATCH")
  expect(live.details).toEqual(mismatchError("test", found).details)
})
