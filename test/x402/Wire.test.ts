// x402 on the wire: both versions are read into one form, and everything written can be read back.
import { describe, expect, test } from "bun:test"
import { Effect, Exit, Option } from "effect"
import { networks } from "../../src/domain/networks.ts"
import {
  decodeHeader,
  encodeHeader,
  paymentHeader,
  readPayment,
  readRequirements
} from "../../src/x402/Wire.ts"
import { payer, receiver } from "../support/rawReceipts.ts"

const usdc = networks.test.usdc
const common = {
  scheme: "exact",
  asset: usdc.address,
  payTo: receiver,
  maxTimeoutSeconds: 60,
  extra: { name: usdc.domainName, version: usdc.domainVersion }
}
const v1 = {
  ...common,
  network: "base-sepolia",
  maxAmountRequired: "50000",
  resource: "https://api.example.com/a"
}
const v2 = { ...common, network: "eip155:84532", amount: "50000" }
const signed = {
  from: payer,
  to: receiver,
  value: 50_000n,
  validAfter: 0n,
  validBefore: 1_700_000_060n,
  nonce: `0x${"ab".repeat(32)}`,
  signature: `0x${"11".repeat(65)}`
} as const
const names = { scheme: "exact", network: "base-sepolia" }

const fails = (read: Effect.Effect<unknown, unknown>) => Exit.isFailure(Effect.runSyncExit(read))

describe("requirements", () => {
  test("of both versions have the same form", () => {
    const first = Effect.runSync(readRequirements(1, v1))
    const second = Effect.runSync(readRequirements(2, v2))
    expect(first).toEqual({ ...second, version: 1, network: "base-sepolia", resource: v1.resource })
    expect(second.amount).toBe(50_000n)
  })

  test("addresses are read in any case and stored with their checksum", () => {
    const read = Effect.runSync(readRequirements(2, { ...v2, payTo: receiver.toLowerCase() }))
    expect(read.payTo).toBe(receiver)
  })

  test("unknown fields and a missing domain are accepted", () => {
    const read = Effect.runSync(readRequirements(2, { ...v2, extra: null, outputSchema: {} }))
    expect(read.domain).toBeUndefined()
  })

  test.each([
    ["an amount with a sign", { amount: "-1" }],
    ["an amount in hexadecimal", { amount: "0x10" }],
    ["an amount as a number", { amount: 50_000 }],
    ["an amount beyond 256 bits", { amount: (2n ** 256n).toString() }],
    ["an address one digit short", { payTo: receiver.slice(0, -1) }],
    ["a time-out of nothing", { maxTimeoutSeconds: 0 }],
    ["no scheme", { scheme: undefined }]
  ])("%s is refused", (_, change) => expect(fails(readRequirements(2, { ...v2, ...change }))).toBe(true))

  test("of one version are invalid in the other", () => {
    expect(fails(readRequirements(1, v2))).toBe(true)
    expect(fails(readRequirements(2, v1))).toBe(true)
  })
})

describe("a payment's header", () => {
  const nothing = { resource: undefined, extensions: undefined }
  test.each([1, 2] as const)("of version %p is read back", (version) => {
    const header = paymentHeader(version, version === 1 ? v1 : v2, names, nothing, signed)
    expect(header.name).toBe(version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE")
    const read = Effect.runSync(readPayment(version, Option.getOrThrow(decodeHeader(header.value))))
    expect(read.authorization).toEqual(signed)
    expect(read.network).toBe(version === 1 ? "base-sepolia" : "eip155:84532")
  })

  test("of version 2 returns the requirement as the resource wrote it", () => {
    const accepted = { ...v2, payTo: receiver.toLowerCase(), custom: ["kept"] }
    const header = paymentHeader(
      2,
      accepted,
      names,
      { ...nothing, resource: { url: "https://api.example.com/a" } },
      signed
    )
    expect(Option.getOrThrow(decodeHeader(header.value))).toMatchObject({ accepted })
  })

  test("of version 2 returns the extensions of its 402", () => {
    const extensions = { bazaar: { info: { input: { type: "http" } } } }
    const header = paymentHeader(2, v2, names, { ...nothing, extensions }, signed)
    expect(Option.getOrThrow(decodeHeader(header.value))).toMatchObject({ extensions })
    expect(
      Option.getOrThrow(decodeHeader(paymentHeader(2, v2, names, nothing, signed).value))
    ).not.toHaveProperty("extensions")
  })

  test("contains the extension payment-identifier if that is well formed", () => {
    const payload = {
      signature: signed.signature,
      authorization: { ...signed, value: "50000", validAfter: "0", validBefore: "1700000060" }
    }
    const identifierOf = (id: string) =>
      Effect.runSync(
        readPayment(2, {
          x402Version: 2,
          accepted: v2,
          payload,
          extensions: { "payment-identifier": { info: { id } } }
        })
      ).identifier
    expect(identifierOf("order_1042-attempt_1")).toBe("order_1042-attempt_1")
    expect(identifierOf("too short")).toBeUndefined()
  })

  const number = "50000"
  const spellings: ReadonlyArray<unknown> = [
    (2n ** 256n).toString(),
    (2n ** 256n + 50_000n).toString(),
    "9".repeat(60_000),
    `-${number}`,
    `+${number}`,
    "0xc350",
    "5e4",
    `${number}.0`,
    ` ${number}`,
    `${number}\n`,
    "50_000",
    "５００００",
    "",
    "NaN",
    50_000,
    null,
    true,
    [number],
    { toString: number }
  ]
  const hexes = ["0x1234", `0x${"ab".repeat(33)}`, `0x${"zz".repeat(20)}`, "vitalik.eth", "", 0, null]
  test.each([
    ...["value", "validAfter", "validBefore"].map((field) => [field, spellings] as const),
    ...["from", "to", "nonce"].map((field) => [field, hexes] as const)
  ])("is refused with a broken %s, in either version", (field, values) => {
    const authorization = { ...signed, value: number, validAfter: "0", validBefore: "1700000060" }
    const paymentOf = (version: 1 | 2, value: unknown) => ({
      x402Version: version,
      ...(version === 1 ? names : { accepted: v2 }),
      payload: { signature: signed.signature, authorization: { ...authorization, [field]: value } }
    })
    for (const version of [1, 2] as const) {
      expect(fails(readPayment(version, paymentOf(version, { ...authorization }[field])))).toBe(false)
      const accepted = values.filter((value) => !fails(readPayment(version, paymentOf(version, value))))
      expect(accepted).toEqual([])
    }
  })

  test("survives text in any script; a text that is no base64 of JSON is no header", () => {
    expect(decodeHeader(encodeHeader({ error: "支払い é" }))).toEqual(Option.some({ error: "支払い é" }))
    for (const text of ["", "%%%", Buffer.from("{").toString("base64")])
      expect(Option.isNone(decodeHeader(text))).toBe(true)
  })

  test("is read in base64 and base64url, with or without padding, and in no other form", () => {
    // Its base64 has each character in which the alphabets differ, and two of padding.
    const value = { error: "a?>?>~~" }
    const text = encodeHeader(value)
    const url = text.replaceAll("+", "-").replaceAll("/", "_")
    expect(text).toMatch(/^(?=.*\/)(?=.*\+).*==$/)
    for (const form of [text, url, text.replace(/=+$/, ""), url.replace(/=+$/, "")])
      expect([form, decodeHeader(form)]).toEqual([form, Option.some(value)])
    for (const broken of [
      text.replace("/", "_"),
      text.slice(0, -1),
      `${text}=`,
      `${text.slice(0, -2)}A`,
      `=${text}`
    ])
      expect([broken, decodeHeader(broken)]).toEqual([broken, Option.none()])
  })
})
