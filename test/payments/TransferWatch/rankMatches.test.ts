// The payment, of several, that an incoming transfer settles.
import { describe, expect, test } from "bun:test"
import { Address } from "../../../src/domain/Chain.ts"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { type Payment, PaymentId } from "../../../src/domain/Payment.ts"
import type { MatchAttempt } from "../../../src/payments/AttemptRepo/AttemptStore.ts"
import type { Match } from "../../../src/payments/TransferRepo/TransferStore.ts"
import {
  dependsOnSender,
  firstDependsOnSender,
  isIdentified,
  rankMatches
} from "../../../src/payments/TransferWatch/rankMatches.ts"

const payer = Address.make("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045")
const relayer = Address.make("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
const at = new Date("2026-01-02T00:00:00Z")
const transfer = { payer, blockNumber: 100n, blockTime: at }

const attempt = (changes: Partial<MatchAttempt> = {}): MatchAttempt => ({
  blockNumber: 90n,
  nonce: 0n,
  announcedAt: new Date(at.getTime() - 60_000),
  ended: null,
  ...changes
})

const match = (
  number: number,
  attempts: ReadonlyArray<MatchAttempt>,
  changes: { readonly reportedAt?: Date; readonly status?: Payment["status"] } = {}
): Match => ({
  attempts,
  reportedAt: changes.reportedAt ?? null,
  payment: {
    id: PaymentId.make(`00000000-0000-4000-8000-00000000000${number}`),
    merchantId: MerchantId.make("00000000-0000-4000-8000-000000000002"),
    env: "test",
    status: changes.status ?? "pending",
    amount: AtomicUsdc.make(3_000_000n),
    refCode: "PAY-AAAAAAAA",
    intentUrl: "https://shop.example.com/1",
    receiver: relayer,
    payerType: "human",
    createdAt: new Date("2026-01-01T00:00:00Z"),
    openedBlock: null,
    reported: null,
    settledAt: null,
    failureReason: null
  }
})

const order = (matches: ReadonlyArray<Match>, sender?: { address: Address; nonce: bigint }) =>
  rankMatches(transfer, matches, sender).map(({ payment }) => Number(payment.id.at(-1)))

describe("the order in which an incoming transfer is offered to payments", () => {
  test("a report of the transaction comes before any attempt", () => {
    const reported = match(2, [], { reportedAt: at })
    expect(order([match(1, [attempt()]), reported], { address: payer, nonce: 0n })).toEqual([2, 1])
  })

  test("the attempt with the transaction's nonce comes first, if the payer sent it", () => {
    const first = match(1, [attempt({ nonce: 0n })])
    const second = match(2, [attempt({ nonce: 1n, announcedAt: at })])
    expect(order([first, second], { address: payer, nonce: 0n })).toEqual([1, 2])
    expect(order([first, second], { address: relayer, nonce: 0n })).toEqual([2, 1])
    expect(order([first, second])).toEqual([2, 1])
  })

  test("of attempts with the transaction's nonce, one announced after its block comes last", () => {
    const announced = (secondsAfter: number) => new Date(at.getTime() + 1_000 * secondsAfter)
    const [early, before, after] = [-60, -30, 2].map((seconds, index) =>
      match(index + 1, [attempt({ announcedAt: announced(seconds) })])
    )
    const all = [early, before, after].flatMap((one) => one ?? [])
    expect(order(all, { address: payer, nonce: 0n })).toEqual([2, 1, 3])
    // An earlier declined attempt does not make it earlier.
    const again = match(4, [
      attempt({ announcedAt: announced(-10), ended: "declined" }),
      attempt({ announcedAt: announced(2) })
    ])
    expect(order([again, ...all], { address: payer, nonce: 0n })[0]).toBe(2)
  })

  test("a block's time is in whole seconds: an attempt announced within its second may have come before it", () => {
    const announced = (millis: number) => attempt({ announcedAt: new Date(at.getTime() + millis) })
    const matches = [match(1, [announced(-42)]), match(2, [announced(110)])]
    expect(order(matches, { address: payer, nonce: 0n })).toEqual([2, 1])
    expect(order([...matches, match(3, [announced(1_000)])], { address: payer, nonce: 0n })).toEqual([
      2, 1, 3
    ])
  })

  test("a declined attempt's nonce does not count for a later attempt on its payment", () => {
    const first = match(1, [attempt({ nonce: 0n })])
    const again = match(2, [
      attempt({ nonce: 0n, ended: "declined" }),
      attempt({ nonce: 1n, announcedAt: at })
    ])
    expect(order([first, again], { address: payer, nonce: 0n })).toEqual([1, 2])
    expect(order([first, again], { address: payer, nonce: 1n })).toEqual([2, 1])
  })

  test("an open attempt comes before a declined one, however much newer", () => {
    const open = match(1, [attempt({ nonce: 4n })])
    const declined = match(2, [attempt({ nonce: 5n, announcedAt: at, ended: "declined" })])
    expect(order([declined, open])).toEqual([1, 2])
  })

  test("an attempt counts for a day of the chain, however it ended", () => {
    for (const ended of [null, "declined", "nonce_used", "expired"] as const)
      for (const status of ["pending", "failed"] as const) {
        const announced = (hours: number) =>
          match(1, [attempt({ announcedAt: new Date(at.getTime() - hours * 3_600_000), ended })], { status })
        expect(order([announced(23)])).toEqual([1])
        expect(order([announced(25)])).toEqual([])
      }
    const reported = match(1, [attempt({ announcedAt: new Date(0), ended: "expired" })], { reportedAt: at })
    expect(order([reported])).toEqual([1])
  })

  test("a pending payment comes before a failed one", () => {
    const failed = match(1, [attempt({ announcedAt: at })], { status: "failed" })
    expect(order([failed, match(2, [attempt()])])).toEqual([2, 1])
  })

  test("below an attempt's height a transfer matches it only by the wallet's nonce", () => {
    const later = [match(1, [attempt({ blockNumber: 110n, nonce: 7n })])]
    expect(order(later, { address: payer, nonce: 7n })).toEqual([1])
    expect(order(later, { address: payer, nonce: 6n })).toEqual([])
    expect(order(later, { address: relayer, nonce: 7n })).toEqual([])
    expect(order(later)).toEqual([])
    const far = [match(1, [attempt({ blockNumber: 130n, nonce: 7n })])]
    expect(order(far, { address: payer, nonce: 7n })).toEqual([])
  })

  test("a relayed transfer in an attempt's own block counts, after all others", () => {
    const relayed = { address: relayer, nonce: 7n }
    const ofItsBlock = match(1, [attempt({ blockNumber: 100n, announcedAt: at })])
    const declined = match(2, [attempt({ ended: "declined" })])
    expect(order([ofItsBlock, declined], relayed)).toEqual([2, 1])
    expect(order([match(1, [attempt({ blockNumber: 101n })])], relayed)).toEqual([])
    // The payer's own nonce shows whether it was sent before.
    expect(order([ofItsBlock], { address: payer, nonce: 0n })).toEqual([1])
    expect(
      order([match(1, [attempt({ blockNumber: 100n, nonce: 1n })])], { address: payer, nonce: 0n })
    ).toEqual([])
    expect(order([ofItsBlock])).toEqual([])
  })
})

describe("the sender is needed to match a transfer", () => {
  test("in a block below the attempt's, after a reorganisation", () => {
    expect(dependsOnSender(transfer, [match(1, [attempt({ blockNumber: 101n })])])).toBe(true)
    expect(dependsOnSender(transfer, [match(1, [attempt({ blockNumber: 100n })])])).toBe(true)
  })

  test("that fits two payments of one wallet and amount, unless one is reported", () => {
    const first = match(1, [attempt({ nonce: 0n })])
    const second = match(2, [attempt({ nonce: 1n, announcedAt: at })])
    expect(firstDependsOnSender(transfer, [first, second])).toBe(true)
    expect(firstDependsOnSender(transfer, [first])).toBe(false)
    const reported = match(1, [attempt({ nonce: 0n })], { reportedAt: at })
    expect(firstDependsOnSender(transfer, [reported, second])).toBe(false)
  })

  test("but not after the attempt, nor without the attempt's nonce, nor long before it", () => {
    expect(dependsOnSender(transfer, [match(1, [attempt()])])).toBe(false)
    expect(dependsOnSender(transfer, [match(1, [attempt({ blockNumber: 101n, nonce: null })])])).toBe(false)
    expect(dependsOnSender(transfer, [match(1, [attempt({ blockNumber: 200n })])])).toBe(false)
  })
})

test("only a report or an open attempt's nonce identifies a transfer with certainty", () => {
  const own = (nonce: bigint) => ({ address: payer, nonce })
  const named = (one: Match, sender?: { address: Address; nonce: bigint }) =>
    isIdentified(transfer, one, sender)
  expect(named(match(1, [], { reportedAt: at }))).toBeTrue()
  expect(named(match(1, [attempt({ nonce: 3n })]), own(3n))).toBeTrue()
  expect(named(match(1, [attempt({ nonce: 3n, ended: "declined" })]), own(3n))).toBeFalse()
  expect(named(match(1, [attempt({ nonce: 4n })]), own(3n))).toBeFalse()
  expect(named(match(1, [attempt({ nonce: 3n })]))).toBeFalse()
})
