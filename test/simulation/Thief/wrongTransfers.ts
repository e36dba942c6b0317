// Transactions that do not pay a payment, each with what a buyer who reports it must be told, and with transfers beside
// it that are nearly it.
import { toEventSelector, toHex } from "viem"
import { transferTopic } from "../../../src/chain/ChainVerifier/TransferLog.ts"
import { type Address, networks } from "../../../src/domain/Chain.ts"
import type { MismatchReason } from "../../../src/domain/VerdictReason.ts"
import { addressWord, type Log, type Move, type Transaction } from "../chain/Ledger.ts"
import { addressOf, careless, thief } from "../People.ts"

/** What a refusal tells. */
export interface Told {
  readonly reason: MismatchReason
  readonly expected?: string
  readonly actual?: string
}

export interface WrongTransfer extends Pick<Transaction, "moves"> {
  readonly logs?: ReadonlyArray<Log>
  readonly reverts?: boolean
  readonly told: Told
}

const usdc = networks.test.usdc.address
const [bystander, elsewhere, furtherOn] = [addressOf(0x72), addressOf(0x73), addressOf(0x74)]
const [token, otherToken] = [addressOf(0x70), addressOf(0x75)]
const approvalTopic = toEventSelector("Approval(address,address,uint256)")

const word = (value: bigint) => toHex(value, { size: 32 })
/** An address word whose first bytes are not zero. */
const dirty = (address: Address) => addressWord(address).replace("0x00", "0x01")

/** From the thief to the shop, of the payment's amount: all but one thing. */
export const wrongTransfers = (shop: Address, amount: bigint): Readonly<Record<string, WrongTransfer>> => {
  const right: Move = { from: thief, to: shop, amount }
  const log = (address: Address, topics: ReadonlyArray<string>, data = word(amount)): Log => ({
    address: address.toLowerCase(),
    topics: [transferTopic, ...topics],
    data
  })
  const [from, to] = [addressWord(thief), addressWord(shop)]
  const nothing: Told = { reason: "no_transfer" }
  return {
    "too little": {
      moves: [
        { from: careless, to: shop, amount },
        { from: thief, to: elsewhere, amount },
        { ...right, amount: amount - 1n }
      ],
      told: { reason: "amount", expected: String(amount), actual: String(amount - 1n) }
    },
    "another payer": {
      moves: [
        { from: bystander, to: shop, amount: 123n },
        { from: careless, to: shop, amount }
      ],
      told: { reason: "payer", expected: thief, actual: careless }
    },
    "another payer and amount": {
      moves: [{ from: bystander, to: shop, amount: 123n }],
      told: { reason: "payer", expected: thief, actual: bystander }
    },
    "another receiver": {
      moves: [
        { from: thief, to: elsewhere, amount: 123n },
        { from: thief, to: furtherOn, amount }
      ],
      told: { reason: "receiver", expected: shop, actual: furtherOn }
    },
    "another receiver and amount": {
      moves: [{ from: thief, to: elsewhere, amount: 123n }],
      told: { reason: "receiver", expected: shop, actual: elsewhere }
    },
    "another token": {
      moves: [
        { from: bystander, to: elsewhere, amount, token },
        { from: bystander, to: shop, amount, token },
        { from: thief, to: elsewhere, amount, token },
        { ...right, token: otherToken }
      ],
      told: { reason: "token", expected: usdc, actual: otherToken }
    },
    "a transfer between others": { moves: [{ from: bystander, to: elsewhere, amount }], told: nothing },
    nothing: { moves: [{ ...right, amount: 0n }], told: nothing },
    "an approval": {
      moves: [],
      logs: [{ ...log(usdc, []), topics: [approvalTopic, from, to] }],
      told: nothing
    },
    "an NFT": { moves: [], logs: [log(token, [from, to, word(1n)], "0x")], told: nothing },
    "an NFT with data": { moves: [], logs: [log(token, [from, to, word(1n)])], told: nothing },
    "a token with fewer topics": { moves: [], logs: [log(token, [from])], told: nothing },
    "a token of two words": {
      moves: [],
      logs: [log(token, [from, to], `${word(amount)}${word(amount).slice(2)}`)],
      told: nothing
    },
    "a token without data": { moves: [], logs: [log(token, [from, to], "0x")], told: nothing },
    "a token whose payer is no address": {
      moves: [],
      logs: [log(token, [dirty(thief), to])],
      told: nothing
    },
    "a token whose receiver is no address": {
      moves: [],
      logs: [log(token, [from, dirty(shop)])],
      told: nothing
    },
    reverted: { moves: [right], reverts: true, told: { reason: "reverted" } }
  }
}

/** Pays in blocks of the height's parity, and in others only nearly so. */
export const changeable = (
  shop: Address,
  amount: bigint,
  height: number
): Pick<Transaction, "moves" | "movesInOdd"> => {
  const right: ReadonlyArray<Move> = [{ from: thief, to: shop, amount }]
  const nearly: ReadonlyArray<Move> = [
    { from: thief, to: shop, amount: amount - 1n },
    { from: careless, to: shop, amount },
    { from: thief, to: elsewhere, amount },
    { from: thief, to: shop, amount, token }
  ]
  return height % 2 === 0 ? { moves: right, movesInOdd: nearly } : { moves: nearly, movesInOdd: right }
}

export const bystanders: ReadonlyArray<Address> = [bystander]
