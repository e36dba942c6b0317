import { describe, expect, test } from "bun:test"
import { Option, Schema } from "effect"
import { Email } from "../../src/domain/Email.ts"

const decode = Schema.decodeUnknownOption(Email)

describe("an e-mail address", () => {
  test("is kept in lower case, and told by that alone", () => {
    expect(decode("Ada@Example.COM")).toEqual(Option.some("ada@example.com"))
    expect(decode("ΑΣ@example.com")).toEqual(Option.some("ας@example.com"))
    for (const wrong of ["ada", "@example.com", "ada@", "a b@example.com", "ada@@example.com", "\ud800@a.b"])
      expect(decode(wrong)).toEqual(Option.none())
  })

  test("is at most 254 characters as it is kept", () => {
    const of = (letter: string, length: number) => `${letter.repeat(length - 12)}@example.com`
    expect(decode(of("A", 254))).toEqual(Option.some(of("a", 254)))
    expect(decode(of("a", 255))).toEqual(Option.none())
    expect(decode(of("İ", 254))).toEqual(Option.none())
  })
})
