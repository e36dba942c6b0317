// The forms of settings: which are read, and which are refused.
import { describe, expect, test } from "bun:test"
import { Duration, Exit, Redacted, Schema } from "effect"
import { Address } from "../../../src/domain/Chain.ts"
import {
  addresses,
  duration,
  encryptionKeys,
  headers,
  headersOf,
  httpUrls,
  integer,
  listenHost,
  origin,
  privateKey,
  signingSecrets,
  toKeyedSecrets,
  wei
} from "../../../src/platform/AppConfig/codecs.ts"

const refused = Symbol("refused")
const read = <T, E>(codec: Schema.Codec<T, E>, given: string): T | typeof refused =>
  Exit.match(Schema.decodeUnknownExit(codec)(given), {
    onFailure: () => refused,
    onSuccess: (value) => value
  })
const minutes = duration(Duration.minutes(1), Duration.days(7))

describe("a setting", () => {
  test.each([
    ["a whole number", integer(1, 65_535), "8080", 8080],
    ["wei", wei, "1000000000000000", 1_000_000_000_000_000n],
    ["a duration", minutes, "90m", Duration.minutes(90)],
    ["an origin with a slash", origin, "https://pay.example.com/", "https://pay.example.com"],
    [
      "nodes",
      httpUrls,
      "https://a.example, http://127.0.0.1:8545",
      ["https://a.example", "http://127.0.0.1:8545"]
    ],
    ["an IPv6 address", listenHost, "::1", "::1"],
    ["a host name", listenHost, "pay.internal", "pay.internal"]
  ] as ReadonlyArray<readonly [string, Schema.Codec<unknown, unknown>, string, unknown]>)(
    "that is %s is read",
    (_, codec, given, value) => expect(read(codec, given)).toEqual(value)
  )

  test.each([
    ["a port of zero", integer(1, 65_535), "0"],
    ["a port with a fraction", integer(1, 65_535), "80.5"],
    ["wei with a sign", wei, "-1"],
    ["a duration without a unit", minutes, "90"],
    ["a duration beyond its bounds", minutes, "8d"],
    ["an origin with a path", origin, "https://pay.example.com/shop"],
    ["a node by another protocol", httpUrls, "ws://a.example"],
    ["no node", httpUrls, " , "],
    ["a broken IP address", listenHost, "127.0.0.256"],
    ["the private key zero", privateKey, `0x${"0".repeat(64)}`],
    ["a private key beyond the curve", privateKey, `0x${"f".repeat(64)}`],
    ["a short signing secret", signingSecrets, "k1:short"],
    ["two secrets with one id", signingSecrets, `k1:${"a".repeat(32)},k1:${"b".repeat(32)}`],
    ["an encryption key of 31 bytes", encryptionKeys, `k1:${Buffer.alloc(31).toString("base64")}`],
    ["a header without a value", headers, "authorization="]
  ] as ReadonlyArray<readonly [string, Schema.Codec<unknown, unknown>, string]>)(
    "that is %s is refused",
    (_, codec, given) => expect(read(codec, given)).toBe(refused)
  )

  test("with addresses is read in any case, and refused if a letter is missing", () => {
    const address = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
    expect(read(addresses, address.toLowerCase())).toEqual([Address.make(address)])
    expect(read(addresses, address.slice(0, -1))).toBe(refused)
  })
})

test("a keyed secret may contain colons", () => {
  const [first] = toKeyedSecrets(["k1:a:b"])
  expect(first?.kid).toBe("k1")
  expect(first === undefined ? "" : Redacted.value(first.secret)).toBe("a:b")
})

test("header values are percent-decoded if possible, and their names become lower-case", () => {
  const values = headersOf(["Authorization=Bearer%20x=y", "x-raw=100%"])
  expect(Object.entries(values).map(([name, value]) => [name, Redacted.value(value)])).toEqual([
    ["authorization", "Bearer x=y"],
    ["x-raw", "100%"]
  ])
})
