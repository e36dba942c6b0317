import { expect, test } from "bun:test"
import { Schema } from "effect"
import { Receipt } from "../../src/chain/RpcSchemas.ts"

const decode = Schema.decodeUnknownSync(Receipt)
const hash = `0x${"1".repeat(64)}`

test("a receipt without a block counts as none: the transaction is pending", () => {
  expect(decode(null)).toBeNull()
  expect(decode({ transactionHash: hash, blockHash: null, blockNumber: null, logs: [] })).toBeNull()
  const mined = { transactionHash: hash, blockHash: hash, blockNumber: "0x7", status: "0x1", logs: [] }
  expect(decode(mined)?.blockNumber).toBe(7n)
  expect(() => decode({ ...mined, blockNumber: null })).toThrow()
})
