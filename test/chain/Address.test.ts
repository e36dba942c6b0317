// Every spelling of an address becomes one, and a mistyped checksum is noticed.
import { expect, test } from "bun:test"
import fc from "fast-check"
import { parseAddress, parseAddressBytes, parseChecksummedAddress } from "../../src/chain/Address.ts"
import { toBytes } from "../../src/chain/ChainBytes.ts"

const canonical = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"

test("any letter case gives the canonical spelling", () => {
  for (const text of [canonical, canonical.toLowerCase(), `0x${canonical.slice(2).toUpperCase()}`]) {
    expect(String(parseAddress(text))).toBe(canonical)
    expect(String(parseChecksummedAddress(text))).toBe(canonical)
  }
})

test("an address with a wrong checksum parses, but is refused if a person typed it", () => {
  const mistyped = canonical.replace("Cb", "cb")
  expect(String(parseAddress(mistyped))).toBe(canonical)
  expect(parseChecksummedAddress(mistyped)).toBeUndefined()
})

test("a text of another form is no address", () => {
  for (const text of [
    "",
    "0x",
    canonical.slice(2),
    `${canonical}0`,
    canonical.slice(0, -1),
    ` ${canonical}`,
    `${canonical}\n`,
    canonical.replace("0x", "0X"),
    canonical.replace("7e", "7g")
  ]) {
    expect(parseAddress(text)).toBeUndefined()
    expect(parseChecksummedAddress(text)).toBeUndefined()
  }
})

test("an address survives the way to bytes and back", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
      const address = parseAddressBytes(bytes)
      expect(address).toBeDefined()
      if (address !== undefined) expect(Array.from(toBytes(address))).toEqual(Array.from(bytes))
    })
  )
  for (const length of [0, 19, 21, 32]) expect(parseAddressBytes(new Uint8Array(length))).toBeUndefined()
})
