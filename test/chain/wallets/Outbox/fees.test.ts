// The rules of fees: they rise with the price while blocks come, fall once no node knows a version, and never exceed
// the present price's multiple or the wallet's balance.
import { describe, expect, test } from "bun:test"
import { serializeTransaction } from "viem"
import type { WalletState } from "../../../../src/chain/wallets/HotWallet.ts"
import {
  addedWei,
  feesOf,
  fillerFees,
  replacementFees,
  reprice
} from "../../../../src/chain/wallets/Outbox/fees.ts"

const gwei = 1_000_000_000n
const rawAt = (maxFeePerGas: bigint, tip = gwei) =>
  serializeTransaction(
    {
      type: "eip1559",
      chainId: 84532,
      nonce: 1,
      gas: 100_000n,
      to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      maxFeePerGas,
      maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas
    },
    { r: `0x${"11".repeat(32)}`, s: `0x${"22".repeat(32)}`, yParity: 0 }
  )
const at = (price: bigint, wei = 10n ** 18n): WalletState => ({
  nonce: 1,
  price,
  fees: { maxFeePerGas: price * 2n + 1n, maxPriorityFeePerGas: gwei },
  usdcAtomic: 0n,
  wei
})
const known = { known: true, blocksCome: true }
const unknown = { known: false, blocksCome: true }

test("a version records the wei by which it may cost more than all earlier ones", () => {
  const versions = [rawAt(10n), rawAt(30n)]
  expect([20n, 30n, 31n].map((fee) => addedWei(versions, rawAt(fee)))).toEqual([0n, 0n, 100_000n])
})

describe("the fee of a stuck transaction", () => {
  test("does not rise while no block comes, or while the price is within its offer", () => {
    expect(reprice(rawAt(10n * gwei), at(50n * gwei), { known: true, blocksCome: false })).toBe("keep")
    expect(reprice(rawAt(10n * gwei), at(10n * gwei), known)).toBe("keep")
    expect(reprice(rawAt(10n * gwei), at(50n * gwei), { known: undefined, blocksCome: true })).toBe("keep")
  })

  test("rises to the present price, at least by the minimum for a replacement", () => {
    expect(reprice(rawAt(10n * gwei), at(50n * gwei), known)).toEqual({
      maxFeePerGas: 100n * gwei + 1n,
      maxPriorityFeePerGas: (gwei * 5n) / 4n + 1n
    })
    const barely = reprice(rawAt(10n * gwei), at(10n * gwei + 1n), known)
    expect(typeof barely === "object" ? barely.maxFeePerGas : 0n).toBeGreaterThanOrEqual(
      (10n * gwei * 9n) / 8n
    )
  })

  test("a filler offers more than the transaction that it replaces, at any gas price", () => {
    const old = feesOf(rawAt(200n * gwei))
    for (const state of [at(20n * gwei), at(400n * gwei), undefined]) {
      const filler = fillerFees(old, state)
      // geth asks for a tenth more of both.
      expect(filler.maxFeePerGas * 10n).toBeGreaterThanOrEqual(old.maxFeePerGas * 11n)
      expect(filler.maxPriorityFeePerGas * 10n).toBeGreaterThanOrEqual(old.maxPriorityFeePerGas * 11n)
      expect(filler.maxFeePerGas).toBeGreaterThanOrEqual(state?.fees.maxFeePerGas ?? 0n)
    }
  })

  test("never exceeds four times the present offer, however often it is replaced", () => {
    let raw = rawAt(gwei)
    for (let round = 0; round < 100; round++) {
      const fees = replacementFees({ maxFeePerGas: 10n ** 15n, maxPriorityFeePerGas: 10n ** 15n }, at(gwei))
      expect(fees.maxFeePerGas).toBeLessThanOrEqual(4n * (2n * gwei + 1n))
      const next = reprice(raw, at(gwei), known)
      if (typeof next === "object") raw = rawAt(next.maxFeePerGas)
    }
    expect(reprice(raw, at(gwei), known)).toBe("keep")
  })

  test("never exceeds the wallet: it offers the balance, or reports that the wallet is empty", () => {
    const held = 60n * gwei * 100_000n
    expect(reprice(rawAt(10n * gwei), at(50n * gwei, held), known)).toMatchObject({
      maxFeePerGas: 60n * gwei
    })
    expect(reprice(rawAt(10n * gwei), at(50n * gwei, held / 2n), known)).toBe("empty")
    expect(reprice(rawAt(10n * gwei), at(50n * gwei, held / 2n), unknown)).toBe("empty")
  })

  test("falls once no node knows it", () => {
    expect(reprice(rawAt(10_000n * gwei), at(gwei), unknown)).toMatchObject({ maxFeePerGas: 2n * gwei + 1n })
    expect(reprice(rawAt(3n * gwei), at(gwei), unknown)).toBe("keep")
    // A fee beyond the wallet's balance is lowered to the balance.
    expect(reprice(rawAt(3n * gwei), at(gwei, 2n * gwei * 100_000n), unknown)).toMatchObject({
      maxFeePerGas: 2n * gwei
    })
  })
})
