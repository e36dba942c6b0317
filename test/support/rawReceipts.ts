// Raw receipts and expectations for unit tests: one honest payment, and an attacker's changes to it.
import { pad, toHex } from "viem"
import { parseAddress } from "../../src/chain/Address.ts"
import type { TransactionFacts } from "../../src/chain/ChainVerifier/judgeTransfer.ts"
import { type RawLog, transferTopic } from "../../src/chain/ChainVerifier/TransferLog.ts"
import type { Expectation } from "../../src/chain/Verification.ts"
import { type Address, TransactionHash } from "../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { networks } from "../../src/domain/networks.ts"

const addressOf = (byte: string): Address => {
  const address = parseAddress(`0x${byte.repeat(20)}`)
  if (address === undefined) throw new Error("two hex digits")
  return address
}

export const usdc = networks.test.usdc.address
export const payer = addressOf("a1")
export const receiver = addressOf("b2")
export const thief = addressOf("c3")
export const bundler = addressOf("d4")
export const otherToken = addressOf("e5")
export const zero = addressOf("00")
export const amount = AtomicUsdc.make(12_340_000n)
export const hash = (byte: string) => TransactionHash.make(`0x${byte.repeat(32)}`)
/** Unix seconds. */
export const paidAt = 1_790_000_000

const addressWord = (address: Address) => pad(address, { size: 32 }).toLowerCase()

/** The log of one transfer, by USDC unless another token is given. */
export const log = (
  options: { from?: Address; to?: Address; value?: bigint; token?: Address } = {}
): RawLog => ({
  address: (options.token ?? usdc).toLowerCase(),
  topics: [transferTopic, addressWord(options.from ?? payer), addressWord(options.to ?? receiver)],
  data: toHex(options.value ?? amount, { size: 32 })
})

/** A mined, successful, canonical transaction, two blocks deep. */
export const facts = (changes: Partial<TransactionFacts> = {}): TransactionFacts => ({
  blockNumber: 100n,
  blockHash: hash("0b"),
  canonicalHash: hash("0b"),
  blockTime: BigInt(paidAt),
  status: "success",
  logs: [log()],
  head: 102n,
  tagged: { safe: null, finalized: null },
  unanimous: true,
  ...changes
})

export const expectation = (changes: Partial<Expectation> = {}): Expectation => ({
  env: "test",
  transactionId: hash("01"),
  payer,
  receiver,
  amount,
  notBefore: new Date((paidAt - 10) * 1000),
  tokenChanges: [
    {
      amountAtomic: String(changes.amount ?? amount),
      chainId: 84532,
      receiver: changes.receiver ?? receiver,
      tokenAddress: usdc
    }
  ],
  ...changes
})
