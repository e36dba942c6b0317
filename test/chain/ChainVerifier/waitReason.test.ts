// The certainty that a transfer's block needs, by the amount of its payment.
import { describe, expect, test } from "bun:test"
import { judgeBlock } from "../../../src/chain/ChainVerifier/judgeBlock.ts"
import { type TransactionFacts, waitReason } from "../../../src/chain/ChainVerifier/judgeTransfer.ts"
import { type Finality, finalityFor } from "../../../src/domain/Finality.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { networks, settlementLevelsOf } from "../../../src/domain/networks.ts"
import { facts, hash } from "../../support/rawReceipts.ts"

const usd = (whole: number) => AtomicUsdc.make(BigInt(whole) * 1_000_000n)
const live = settlementLevelsOf(networks.live)

describe("the level of an amount", () => {
  test("Arbitrum One: to 100 USDC by inclusion, to 10,000 once safe, above once finalized", () => {
    const levels = ([1, 100, 101, 10_000, 10_001] as const).map((whole) => finalityFor(usd(whole), live))
    expect(levels).toEqual(["included", "included", "safe", "safe", "finalized"])
    expect(finalityFor(AtomicUsdc.make(100_000_001n), live)).toBe("safe")
  })
  test("Base Sepolia: confirmations, whatever the amount", () => {
    expect(finalityFor(usd(1_000_000), settlementLevelsOf(networks.test))).toBe("confirmed")
  })
  test("the operator's limits move the levels", () => {
    const own = settlementLevelsOf(networks.live, (name) => (name === "LIVE_FAST_LIMIT" ? 0 : 50))
    expect([1, 50, 51].map((whole) => finalityFor(usd(whole), own))).toEqual(["safe", "safe", "finalized"])
  })
})

describe("what a block still waits for", () => {
  const waits = (finality: Finality, changes: Partial<TransactionFacts>) =>
    waitReason(facts(changes), { finality, confirmations: 1 })
  const at = (safe: bigint | null, finalized: bigint | null) => ({ tagged: { safe, finalized } })

  test("`included` needs every node, or the tag `safe` while one is silent", () => {
    expect(waits("included", { unanimous: true })).toBeUndefined()
    expect(waits("included", { unanimous: true, head: 100n })).toBe("confirmations")
    expect(waits("included", { unanimous: false })).toBe("safe")
    expect(waits("included", { unanimous: false, ...at(100n, null) })).toBeUndefined()
  })
  test("`safe` and `finalized` need a tag at the block's height or above, however many blocks follow", () => {
    expect(waits("safe", { head: 10_000n, ...at(99n, 50n) })).toBe("safe")
    expect(waits("safe", at(100n, 50n))).toBeUndefined()
    expect(waits("safe", at(null, 100n))).toBeUndefined()
    expect(waits("finalized", { head: 10_000n, ...at(10_000n, 99n) })).toBe("finalized")
    expect(waits("finalized", at(100n, 100n))).toBeUndefined()
    expect(waits("finalized", at(null, null))).toBe("finalized")
  })
})

test("a settled transfer is watched until its block is finalized by the tag, never by depth", () => {
  const final = (finalized: bigint | null) => {
    const seen = facts({ head: 1_000_000n, tagged: { safe: null, finalized } })
    const place = { blockNumber: 100n, blockHash: hash("0b"), transactionId: hash("01") }
    const status = judgeBlock("live", place, seen, networks.live.finalityRule)
    return status._tag === "Canonical" && status.final
  }
  expect([final(null), final(99n), final(100n)]).toEqual([false, false, true])
})
