// What is missing of a payment, to the atomic unit.
import { expect, test } from "bun:test"
import { restOf } from "../../src/dashboard/browser/restOf.ts"

test("is exact, has cents at least, and is nothing where enough came", () => {
  expect(restOf("10.00", "4.00")).toBe("6.00")
  expect(restOf("10.00", "9.999999")).toBe("0.000001")
  expect(restOf("99999999999999.00", "0.50")).toBe("99999999999998.50")
  expect(restOf("1.25", "1.25")).toBeUndefined()
  expect(restOf("1.00", "1.000001")).toBeUndefined()
})
