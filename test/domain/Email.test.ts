import { describe, expect, test } from "bun:test"
import { Option, Schema } from "effect"
import { Email } from "../../src/domain/Email.ts"

const decode = Schema.decodeUnknownOption(Email)

describe("an e-mail address", () => {
  test("is stored in lower case, and identified by it", () => {
    expect(decode("Ada@Example.COM")).toEqual(Option.some("ada@example.com"))
    expect(decode("ΑΣ@example.com")).toEqual(Option.some("ας@example.com"))
    for (const wrong of ["ada", "@example.com", "ada@", "a b@example.com", "ada@@example.com", "\ud800@a.b"])
      expect(decode(wrong)).toEqual(Option.none())
  })

  test("has at most 254 characters in its stored form", () => {
    const of = (letter: string, length: number) => `${letter.repeat(length - 12)}@example.com`
    expect(decode(of("A", 254))).toEqual(Option.some(of("a", 254)))
    expect(decode(of("a", 255))).toEqual(Option.none())
    expect(decode(of("İ", 254))).toEqual(Option.none())
  })
})
