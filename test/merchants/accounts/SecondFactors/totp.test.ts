// The test vectors of RFC 6238 (appendix B, SHA-1) and of RFC 4648.
import { describe, expect, test } from "bun:test"
import { base32, codeOf, stepAt, stepOf } from "../../../../src/merchants/accounts/SecondFactors/totp.ts"

const secret = Buffer.from("12345678901234567890")

describe("Codes by time", () => {
  for (const [seconds, code] of [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"]
  ] as const)
    test(`at ${seconds} s: ${code}`, () => {
      expect(codeOf(secret, stepAt(seconds * 1000), 8)).toBe(code)
      expect(codeOf(secret, stepAt(seconds * 1000))).toBe(code.slice(2))
    })

  test("a code is accepted one step early or late, and no more", () => {
    const millis = 1_234_567_890_000
    const step = stepAt(millis)
    for (const off of [-1, 0, 1]) expect(stepOf(secret, codeOf(secret, step + off), millis)).toBe(step + off)
    for (const off of [-2, 2]) expect(stepOf(secret, codeOf(secret, step + off), millis)).toBeUndefined()
    for (const odd of ["", "12345", "1234567", "abcdef"]) expect(stepOf(secret, odd, millis)).toBeUndefined()
  })

  test("base32 is RFC 4648's, without padding", () => {
    for (const [text, encoded] of [
      ["", ""],
      ["f", "MY"],
      ["fo", "MZXQ"],
      ["foo", "MZXW6"],
      ["foob", "MZXW6YQ"],
      ["fooba", "MZXW6YTB"],
      ["foobar", "MZXW6YTBOI"]
    ] as const)
      expect(base32(Buffer.from(text))).toBe(encoded)
  })
})
