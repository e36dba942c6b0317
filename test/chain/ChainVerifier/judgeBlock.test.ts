// The watch of a settled transfer, and the verdict of several nodes together, on plain facts.
import { describe, expect, test } from "bun:test"
import { statusOf } from "../../../src/chain/ChainVerifier/Agreement.ts"
import { judgeBlock } from "../../../src/chain/ChainVerifier/judgeBlock.ts"
import type { TransactionFacts } from "../../../src/chain/ChainVerifier/judgeTransfer.ts"
import { agreementOf, type Observation } from "../../../src/chain/ChainVerifier/transactionQuery.ts"
import { row } from "../../support/attackRows.ts"
import { amount, facts, hash, log, payer, receiver, thief, zero } from "../../support/rawReceipts.ts"

const place = { blockNumber: 100n, blockHash: hash("0b"), transactionId: hash("01") }
const settled = { ...place, transfer: { payer, receiver, amount, ordinal: 0 } }
const other = { blockHash: hash("0c"), canonicalHash: hash("0c"), blockNumber: 101n }
const judge = (changes: Partial<TransactionFacts>, watched: typeof place = settled) =>
  expect<unknown>(judgeBlock("test", watched, facts(changes), { blocks: 5 }))

describe(row.reorganised, () => {
  test("canonical, and final from the configured depth on", () => {
    judge({ head: 104n }).toEqual({ _tag: "Canonical", confirmations: 4, final: false })
    judge({ head: 105n }).toEqual({ _tag: "Canonical", confirmations: 5, final: true })
    judge({ head: 99n }).toEqual({ _tag: "Canonical", confirmations: 0, final: false })
  })
  test("another block is canonical at its height", () => {
    judge({ canonicalHash: hash("0c") }).toEqual({ _tag: "Dropped", reason: "not_included" })
  })
  test("moved to another block, at its new position there", () => {
    const moved = { _tag: "Moved", blockNumber: 101n, blockHash: hash("0c"), confirmations: 1 }
    judge(other).toEqual({ ...moved, logPosition: 0 })
    judge({ ...other, logs: [log({ to: thief }), log()] }).toEqual({ ...moved, logPosition: 1 })
    judge(other, place).toEqual(moved)
    // Each payment keeps its own of several equal transfers, by position among them.
    const twice = { ...other, logs: [log(), log({ to: thief }), log()] }
    const at = (ordinal: number) =>
      judgeBlock("test", { ...settled, transfer: { ...settled.transfer, ordinal } }, facts(twice), {
        blocks: 5
      })
    expect([at(0), at(1), at(2)]).toMatchObject([
      { logPosition: 0 },
      { logPosition: 2 },
      { _tag: "Dropped", reason: "transfer_changed" }
    ])
  })
  test("moved, and reverted or changed there", () => {
    judge({ ...other, status: "reverted", logs: [] }).toEqual({ _tag: "Dropped", reason: "reverted" })
    judge({ ...other, status: "reverted" }, place).toEqual({ _tag: "Dropped", reason: "reverted" })
    for (const logs of [
      [],
      [log({ value: 1n })],
      [log({ to: thief })],
      [log({ from: thief })],
      [log({ token: thief })]
    ]) {
      judge({ ...other, logs }).toEqual({ _tag: "Dropped", reason: "transfer_changed" })
    }
  })
  test("absence counts only for nodes that have reached the block", () => {
    const status = (head: bigint) => statusOf("test", { _tag: "Absent", head }, settled, { blocks: 5 })
    expect<unknown>(status(99n)).toEqual({ _tag: "Unknown", reason: "lagging" })
    expect<unknown>(status(100n)).toEqual({ _tag: "Dropped", reason: "not_included" })
    expect<unknown>(statusOf("test", { _tag: "Spreading" }, settled, { blocks: 5 })).toEqual({
      _tag: "Unknown",
      reason: "lagging"
    })
  })
})

describe(row.rpcLags, () => {
  const seen = (head: bigint): Observation => ({ head, facts: facts({ head }) })
  const poll = (heads: readonly [bigint, ...ReadonlyArray<bigint>], majority: number) => {
    const [first, ...rest] = heads
    return agreementOf({
      agreed: [seen(first), ...rest.map(seen)],
      nodes: heads.length,
      majority,
      ballots: [],
      contradiction: false
    })
  }
  test("the head is the highest block that a majority has reached", () => {
    const headOf = (heads: readonly [bigint, ...ReadonlyArray<bigint>], majority: number) => {
      const agreement = poll(heads, majority)
      return agreement._tag === "Included" ? agreement.facts.head : undefined
    }
    expect(headOf([109n, 101n, 105n], 2)).toBe(105n)
    expect(headOf([101n, 109n], 2)).toBe(101n)
    expect(headOf([109n], 1)).toBe(109n)
    expect(headOf([9n, 10n, 100n], 3)).toBe(9n)
  })
  test("a majority that agrees outweighs a contradiction", () => {
    const agreed = agreementOf({
      agreed: [seen(101n)],
      nodes: 1,
      majority: 1,
      ballots: [],
      contradiction: true
    })
    expect(agreed._tag).toBe("Included")
    const open = agreementOf({ agreed: undefined, nodes: 1, majority: 2, ballots: [], contradiction: true })
    expect<unknown>(open).toEqual({ _tag: "Undecided", reason: "disagreement" })
  })
})

test("a minted transfer that a person attached is followed into another block", () => {
  const minted = { ...settled, transfer: { ...settled.transfer, payer: zero } }
  expect(
    judgeBlock("test", minted, facts({ ...other, logs: [log({ from: zero })] }), { blocks: 5 })._tag
  ).toBe("Moved")
})
