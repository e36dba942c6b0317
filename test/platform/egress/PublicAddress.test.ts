// The address corpus, and a cross-check of 10,000 random addresses against an independent table.
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import ipaddr from "ipaddr.js"
import { canonicalAddress, isPublicAddress } from "../../../src/platform/egress/PublicAddress.ts"
import corpus from "./ssrf-addresses.json"

describe("addresses", () => {
  test("the corpus is as large as promised", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(180)
    expect(new Set(corpus.map(({ address }) => address)).size).toBe(corpus.length)
  })

  for (const kind of new Set(corpus.map((entry) => entry.class))) {
    test(kind, () => {
      const entries = corpus.filter((entry) => entry.class === kind)
      const verdicts = entries.map(({ address }) => ({
        address,
        public: isPublicAddress(address),
        class: kind
      }))
      expect(verdicts).toEqual(entries)
    })
  }

  test("equal addresses have one spelling", () => {
    expect(canonicalAddress("2606:4700:4700:0:0:0:0:1111")).toBe("2606:4700:4700::1111")
    expect(canonicalAddress("2A00:1450::200E")).toBe("2a00:1450::200e")
    expect(canonicalAddress("8.8.8.8")).toBe("8.8.8.8")
    for (const text of ["fe80::1%eth0", "0x7f.1", "[::1]", ""]) expect(canonicalAddress(text)).toBeUndefined()
  })
})

describe("10,000 random addresses", () => {
  const byte = fc.integer({ min: 0, max: 255 })
  // Half of the IPv4 first bytes and IPv6 first groups are near special ranges.
  const first = fc.oneof(byte, fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 240, 255))
  const second = fc.oneof(byte, fc.constantFrom(0, 16, 18, 31, 51, 52, 63, 64, 88, 168, 175, 254))
  const ipv4 = fc.tuple(first, second, byte, byte).map((bytes) => new ipaddr.IPv4(bytes))
  const group = fc.integer({ min: 0, max: 0xffff })
  const firstGroup = fc.oneof(
    group,
    fc.integer({ min: 0x2000, max: 0x3fff }),
    fc.constantFrom(0, 0x64, 0x100, 0x2001, 0x2002, 0x2620, 0x3fff, 0x5f00, 0xfc00, 0xfe80, 0xfec0, 0xff02)
  )
  const laterGroup = fc.oneof(group, fc.constantFrom(0, 1, 2, 3, 4, 0x4f, 0xdb8, 0xff9b, 0xffff, 0x8000))
  const ipv6 = fc
    .tuple(firstGroup, laterGroup, laterGroup, laterGroup, laterGroup, laterGroup, group, group)
    .map((groups) => new ipaddr.IPv6(groups))
  const { FAST_CHECK_SEED } = process.env
  const seed = Number(FAST_CHECK_SEED ?? Date.now() % 2 ** 31)

  test("an address that ipaddr.js calls special is never public here", () => {
    console.log(`address property: FAST_CHECK_SEED=${seed}`)
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), (address) => {
        if (address.range() !== "unicast") expect(isPublicAddress(address.toString())).toBe(false)
      }),
      { numRuns: 10_000, seed }
    )
  })

  test("any wrapping of IPv4 in IPv6 outside global unicast is refused", () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        const dotted = address.toString()
        for (const prefix of ["::", "::ffff:", "::ffff:0:", "64:ff9b::"]) {
          expect(isPublicAddress(`${prefix}${dotted}`)).toBe(false)
        }
      }),
      { numRuns: 2_000, seed }
    )
  })
})
