// The contract of every ChainVerifier, on any chain. Each layer brings a `Driver` for its own chain.
import { describe, expect, test } from "bun:test"
import { Effect, type ManagedRuntime } from "effect"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import type { Expectation, SettledTransfer } from "../../src/chain/Verification.ts"
import { type Address, TransactionHash } from "../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { networks } from "../../src/domain/networks.ts"
import { row } from "../support/attackRows.ts"

export interface Move {
  readonly from: Address
  readonly to: Address
  readonly amount: bigint
}

/** Moves the chain under test. Every transaction is in a block when the call returns. */
export interface Driver {
  readonly buyer: Address
  readonly merchant: Address
  readonly thief: Address
  /** Mints atomic USDC. */
  readonly fund: (address: Address, amount: bigint) => Effect.Effect<void>
  readonly transfer: (move: Move) => Effect.Effect<TransactionHash>
  readonly batch: (moves: ReadonlyArray<Move>) => Effect.Effect<TransactionHash>
  /** The same transfer by a token that is not USDC. */
  readonly spoof: (move: Move) => Effect.Effect<TransactionHash>
  readonly mine: (blocks: number) => Effect.Effect<void>
  readonly reorganise: (depth: number, transactions: "drop" | "keep") => Effect.Effect<void>
}

const amount = AtomicUsdc.make(2_500_000n)

/** The suite expects one required confirmation and a finality depth of five blocks. */
export const chainVerifierContract = <R, E>(
  name: string,
  runtime: ManagedRuntime.ManagedRuntime<ChainVerifier | R, E>,
  makeDriver: Effect.Effect<Driver, never, R>
): void => {
  const it = (what: string, run: (driver: Driver) => Effect.Effect<unknown, unknown, ChainVerifier>) =>
    test(what, () => runtime.runPromise(Effect.flatMap(makeDriver, run).pipe(Effect.asVoid)), 180_000)

  const expectationOf = (driver: Driver, transactionId: TransactionHash): Expectation => ({
    env: "test",
    transactionId,
    payer: driver.buyer,
    receiver: driver.merchant,
    amount,
    notBefore: new Date(0),
    tokenChanges: [
      {
        amountAtomic: String(amount),
        chainId: 84532,
        receiver: driver.merchant,
        tokenAddress: networks.test.usdc.address
      }
    ]
  })
  const verify = (expectation: Expectation) =>
    Effect.flatMap(ChainVerifier, (verifier) => verifier.verify(expectation))
  const reasonOf = (expectation: Expectation) =>
    Effect.map(verify(expectation), (result) => (result._tag === "Verified" ? "verified" : result.reason))

  const paying = (driver: Driver): Move => ({ from: driver.buyer, to: driver.merchant, amount })
  const paid = Effect.fnUntraced(function* (driver: Driver) {
    yield* driver.fund(driver.buyer, 10_000_000n)
    const hash = yield* driver.transfer(paying(driver))
    return expectationOf(driver, hash)
  })
  const settledPlace = Effect.fnUntraced(function* (expectation: Expectation) {
    const result = yield* verify(expectation)
    if (result._tag !== "Verified") return yield* Effect.die(`not verified: ${result.reason}`)
    const place: SettledTransfer = {
      blockNumber: result.blockNumber,
      blockHash: result.blockHash,
      transactionId: result.transactionId,
      transfer: {
        payer: result.payer,
        receiver: result.receiver,
        amount: result.value,
        ordinal: result.ordinal
      }
    }
    return place
  })
  const statusOf = (settled: SettledTransfer) =>
    Effect.flatMap(ChainVerifier, (verifier) => verifier.blockStatus("test", settled))

  describe(`${name}: ChainVerifier contract`, () => {
    it("an exact transfer waits for its confirmation, then is verified with the chain's facts", (driver) =>
      Effect.gen(function* () {
        const expected = yield* paid(driver)
        expect<unknown>(yield* verify(expected)).toEqual({
          _tag: "Pending",
          reason: "confirmations"
        })
        yield* driver.mine(1)
        const result = yield* verify(expected)
        expect(result).toMatchObject({
          _tag: "Verified",
          chainId: 84532,
          transactionId: expected.transactionId,
          logPosition: 0,
          value: amount,
          confirmations: 1
        })
        if (result._tag === "Verified") {
          expect([result.payer, result.receiver, result.token]).toEqual([
            driver.buyer,
            driver.merchant,
            networks.test.usdc.address
          ])
        }
      }))
    it(`${row.falseEvidence}: an unknown hash is pending`, (driver) =>
      Effect.gen(function* () {
        const never = expectationOf(driver, TransactionHash.make(`0x${"fe".repeat(32)}`))
        expect(yield* reasonOf(never)).toBe("not_found")
      }))
    it(`${row.batch}; ${row.oneForTwo}: each log settles once`, (driver) =>
      Effect.gen(function* () {
        yield* driver.fund(driver.buyer, 10_000_000n)
        const other = { from: driver.buyer, to: driver.thief, amount: 1n }
        const hash = yield* driver.batch([other, paying(driver), paying(driver)])
        yield* driver.mine(1)
        const expected = expectationOf(driver, hash)
        const positions: Array<number> = []
        for (let payment = 0; payment < 2; payment++) {
          const result = yield* verify({ ...expected, excludeOrdinals: positions.slice() })
          expect(result._tag).toBe("Verified")
          if (result._tag !== "Verified") continue
          // It comes after another transfer in the same transaction.
          expect(result.logPosition).toBe(result.ordinal + 1)
          positions.push(result.ordinal)
        }
        expect(positions).toEqual([0, 1])
        expect(yield* reasonOf({ ...expected, excludeOrdinals: positions })).toBe("already_used")
      }))
    it(`${row.otherToken}`, (driver) =>
      Effect.gen(function* () {
        const hash = yield* driver.spoof(paying(driver))
        yield* driver.mine(1)
        expect(yield* reasonOf(expectationOf(driver, hash))).toBe("token")
      }))
    it(`${row.reverted}: the buyer's balance does not cover it`, (driver) =>
      Effect.gen(function* () {
        const hash = yield* driver.transfer({ from: driver.buyer, to: driver.merchant, amount: 10n ** 18n })
        yield* driver.mine(1)
        expect(yield* reasonOf(expectationOf(driver, hash))).toBe("reverted")
      }))
    it(`${row.amount}; ${row.receiver}; ${row.thief}: the verdict names the field that differs`, (driver) =>
      Effect.gen(function* () {
        const expected = yield* paid(driver)
        yield* driver.mine(1)
        const changed = (changes: Partial<Expectation>) => reasonOf({ ...expected, ...changes })
        expect(yield* changed({ amount: AtomicUsdc.make(amount + 1n) })).toBe("amount")
        expect(yield* changed({ receiver: driver.thief })).toBe("receiver")
        expect(yield* changed({ payer: driver.thief })).toBe("payer")
        expect(yield* changed({ tokenChanges: [] })).toBe("declared_changes")
        expect(yield* changed({ notBefore: new Date(8.64e15) })).toBe("too_old")
      }))
    it(`${row.reorganised}: a transfer that is dropped before it settles is pending again`, (driver) =>
      Effect.gen(function* () {
        const expected = yield* paid(driver)
        yield* driver.mine(1)
        expect(yield* reasonOf(expected)).toBe("verified")
        yield* driver.reorganise(2, "drop")
        yield* driver.mine(2)
        expect(yield* reasonOf(expected)).toBe("not_found")
      }))
    it(`${row.reorganised}: a transfer that is included again in another block is verified there`, (driver) =>
      Effect.gen(function* () {
        const expected = yield* paid(driver)
        yield* driver.mine(1)
        const before = yield* settledPlace(expected)
        yield* driver.reorganise(2, "keep")
        yield* driver.mine(2)
        const after = yield* settledPlace(expected)
        expect(after.blockHash).not.toBe(before.blockHash)
      }))
    it("the watch of a settled transfer: canonical until it is final", (driver) =>
      Effect.gen(function* () {
        const expected = yield* paid(driver)
        yield* driver.mine(1)
        const place = yield* settledPlace(expected)
        expect<unknown>(yield* statusOf(place)).toEqual({ _tag: "Canonical", confirmations: 1, final: false })
        yield* driver.mine(3)
        expect(yield* statusOf(place)).toMatchObject({ confirmations: 4, final: false })
        yield* driver.mine(1)
        expect(yield* statusOf(place)).toMatchObject({ confirmations: 5, final: true })
      }))
    it(`${row.reorganised}: the watch distinguishes a dropped transfer from a moved one`, (driver) =>
      Effect.gen(function* () {
        const kept = yield* paid(driver)
        yield* driver.mine(1)
        const place = yield* settledPlace(kept)
        yield* driver.reorganise(2, "keep")
        yield* driver.mine(2)
        const moved = yield* statusOf(place)
        expect(moved).toMatchObject({ _tag: "Moved", logPosition: 0 })
        if (moved._tag === "Moved") expect(moved.blockHash).not.toBe(place.blockHash)

        const lost = yield* paid(driver)
        yield* driver.mine(1)
        const lostPlace = yield* settledPlace(lost)
        yield* driver.reorganise(2, "drop")
        yield* driver.mine(3)
        expect<unknown>(yield* statusOf(lostPlace)).toEqual({ _tag: "Dropped", reason: "not_included" })
      }))
    it("the balance and the head are read", (driver) =>
      Effect.gen(function* () {
        const verifier = yield* ChainVerifier
        const before = yield* verifier.readBalance("test", driver.thief)
        yield* driver.fund(driver.thief, 5n)
        const after = yield* verifier.readBalance("test", driver.thief)
        expect(after.usdcAtomic - before.usdcAtomic).toBe(5n)
        const { number } = yield* verifier.headBlock("test")
        yield* driver.mine(2)
        expect((yield* verifier.headBlock("test")).number - number).toBe(2n)
        expect((yield* verifier.checkNetwork("test")).status).toBe("ok")
      }))
  })
}
