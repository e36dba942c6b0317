// The hand-written encodings compared with viem's.
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { encodeFunctionData, erc20Abi, getAddress, type Hex, pad, toEventSelector } from "viem"
import {
  addressTopic,
  amountOfTransfer,
  atomicOf,
  encodeTransfer,
  transferTopic,
  usdOf
} from "../../../src/checkout/component/erc20.ts"
import { formatUsd } from "../../../src/domain/Money.ts"

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString("hex")}`))
const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n })

describe("ERC-20 by hand", () => {
  test("transfers encode as viem does", () => {
    fc.assert(
      fc.property(address, amount, (to, value) => {
        expect(encodeTransfer(to, value)).toBe(
          encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, value] })
        )
        expect(addressTopic(to)).toBe(pad(to.toLowerCase() as Hex))
        expect(amountOfTransfer(`0x${value.toString(16).padStart(64, "0")}`)).toBe(value)
      })
    )
    expect(transferTopic).toBe(toEventSelector("Transfer(address,address,uint256)"))
  })

  test("no address, no amount, no transfer call: refused", () => {
    expect(() => encodeTransfer("0x12", 1n)).toThrow()
    expect(() => encodeTransfer(`0x${"12".repeat(20)}`, 0n)).toThrow()
    for (const data of ["0x", "0x12", `0x${"0".repeat(128)}`, null, 1]) {
      expect(amountOfTransfer(data)).toBeUndefined()
    }
  })

  test("amounts are exact to all twenty digits", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }), (atomic) => {
        expect(atomicOf(formatUsd(atomic))).toBe(atomic)
        expect(usdOf(atomic)).toBe(formatUsd(atomic))
      })
    )
  })
})
