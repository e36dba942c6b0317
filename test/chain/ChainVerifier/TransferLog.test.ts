// Only the exact form that the token emits is a transfer.
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { toHex } from "viem"
import {
  isPayment,
  type RawLog,
  readTransferLog,
  readTransferLogs,
  transferTopic
} from "../../../src/chain/ChainVerifier/TransferLog.ts"
import { row } from "../../support/attackRows.ts"
import { amount, log, payer, receiver, usdc, zero } from "../../support/rawReceipts.ts"

const good = log()
const [, fromTopic = "", toTopic = ""] = good.topics
const change = (changes: Partial<RawLog>): RawLog => ({ ...good, ...changes })

test("every field of the token's own log is read", () => {
  expect(readTransferLog(good, 7)).toEqual({
    position: 7,
    token: usdc,
    from: payer,
    to: receiver,
    value: amount
  })
})

describe(row.oddLog, () => {
  const odd: ReadonlyArray<readonly [string, RawLog]> = [
    [
      "four topics, as an NFT transfer",
      change({ topics: [transferTopic, fromTopic, toTopic, toHex(1n, { size: 32 })], data: "0x" })
    ],
    ["four topics with data", change({ topics: [...good.topics, toHex(1n, { size: 32 })] })],
    ["two topics, receiver in the data", change({ topics: [transferTopic, fromTopic] })],
    ["one topic, all in the data", change({ topics: [transferTopic], data: `0x${"00".repeat(96)}` })],
    ["no topics: an anonymous log", change({ topics: [] })],
    ["anonymous, three topics without the signature", change({ topics: [fromTopic, toTopic, fromTopic] })],
    ["the signature in the wrong place", change({ topics: [fromTopic, transferTopic, toTopic] })],
    ["another event with three topics", change({ topics: [`0x${"8c".repeat(32)}`, fromTopic, toTopic] })],
    [
      "the signature in upper case",
      change({ topics: [transferTopic.toUpperCase().replace("0X", "0x"), fromTopic, toTopic] })
    ],
    ["no data", change({ data: "0x" })],
    ["31 bytes of data", change({ data: `0x${"01".repeat(31)}` })],
    ["33 bytes of data", change({ data: `0x${"01".repeat(33)}` })],
    ["64 bytes of data", change({ data: `${good.data}${"00".repeat(32)}` })],
    ["odd digits of data", change({ data: good.data.slice(0, -1) })],
    ["data that is no hex", change({ data: `0x${"zz".repeat(32)}` })],
    [
      "dirty high bytes in the sender",
      change({ topics: [transferTopic, fromTopic.replace("0x00", "0x01"), toTopic] })
    ],
    [
      "dirty high bytes in the receiver",
      change({ topics: [transferTopic, fromTopic, toTopic.replace("0x000000", "0x0000ff")] })
    ],
    ["an address of 19 bytes", change({ address: usdc.slice(0, -2) })],
    ["a short topic", change({ topics: [transferTopic, fromTopic.slice(0, -2), toTopic] })],
    ["a line break after the data", change({ data: `${good.data}\n` })]
  ]
  for (const [name, raw] of odd) {
    test(`${name} is no transfer`, () => {
      expect(readTransferLog(raw, 0)).toBeUndefined()
      expect(readTransferLogs([raw])).toEqual([])
    })
  }
})

describe(row.emptyMove, () => {
  const moves: ReadonlyArray<readonly [string, RawLog]> = [
    ["zero value", log({ value: 0n })],
    ["to oneself", log({ to: payer })],
    ["mint", log({ from: zero })],
    ["burn", log({ to: zero })],
    ["mint to the zero address", log({ from: zero, to: zero })]
  ]
  for (const [name, raw] of moves) {
    test(`${name} pays nobody`, () => {
      const transfer = readTransferLog(raw, 0)
      expect(transfer === undefined ? undefined : isPayment(transfer)).toBe(false)
      expect(readTransferLogs([raw])).toEqual([])
    })
  }
  test("one atomic unit, and the largest 256-bit value, are payments", () => {
    for (const value of [1n, 2n ** 256n - 1n]) {
      expect(readTransferLogs([log({ value })]).map((transfer) => transfer.value)).toEqual([value])
    }
  })
})

describe(`${row.oddLog}: words of another form`, () => {
  for (const [name, spoil] of [
    ["a digit too few", (word: string) => word.slice(0, -1)],
    ["a zero too few", (word: string) => `0x${word.slice(3)}`],
    ["a digit too many", (word: string) => `${word}0`],
    ["something behind", (word: string) => `${word}\n0x`],
    ["something before", (word: string) => `0x${word}`],
    ["the prefix missing", (word: string) => word.slice(2)],
    ["a dirty upper part", (word: string) => word.replace("0x0", "0x1")],
    ["a letter beyond hex", (word: string) => `${word.slice(0, -1)}g`]
  ] as const) {
    test(`${name} in a topic or the data is no transfer`, () => {
      expect(
        readTransferLog(change({ topics: [transferTopic, spoil(fromTopic), toTopic] }), 0)
      ).toBeUndefined()
      expect(
        readTransferLog(change({ topics: [transferTopic, fromTopic, spoil(toTopic)] }), 0)
      ).toBeUndefined()
      if (name !== "a dirty upper part")
        expect(readTransferLog(change({ data: spoil(good.data) }), 0)).toBeUndefined()
    })
  }
})

test("positions count all logs of the receipt, including skipped ones", () => {
  const logs = [change({ topics: [] }), log({ value: 0n }), log(), change({ data: "0x" }), log({ value: 1n })]
  expect(readTransferLogs(logs).map(({ position, value }) => [position, value])).toEqual([
    [2, amount],
    [4, 1n]
  ])
})

test("arbitrary logs never crash the reader and never become transfers by chance", () => {
  const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdefxX"), maxLength: 70 })
  fc.assert(
    fc.property(fc.record({ address: hex, topics: fc.array(hex, { maxLength: 5 }), data: hex }), (raw) => {
      expect(readTransferLog(raw, 0)).toBeUndefined()
    })
  )
})
