import { describe, expect, test } from "bun:test"
import { Schema } from "effect"
import { orUnknown } from "../../src/domain/orUnknown.ts"

describe("A stored code", () => {
  const code = orUnknown(Schema.Literals(["amount", "payer"]))

  test("that is known is read as it is", () => {
    expect(Schema.decodeUnknownSync(code)("payer")).toBe("payer")
    expect(Schema.encodeSync(code)("payer")).toBe("payer")
  })

  test("that a later release has written is read as unknown", () => {
    expect(Schema.decodeUnknownSync(code)("colour")).toBe("unknown")
  })
})
