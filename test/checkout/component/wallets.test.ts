// Classifying wallet errors, and reading wallets' answers.
import { describe, expect, test } from "bun:test"
import { accountsOf, chainIdOf, walletErrorOf } from "../../../src/checkout/component/wallets.ts"

describe("Wallet errors", () => {
  const cases: ReadonlyArray<readonly [unknown, string]> = [
    [{ code: 4001, message: "User rejected" }, "rejected"],
    [{ code: "4001" }, "rejected"],
    [{ code: 4902 }, "unknown_chain"],
    [{ code: -32603, data: { originalError: { code: 4902 } } }, "unknown_chain"],
    [{ code: -32002 }, "busy"],
    [{ code: 4100 }, "unauthorized"],
    [{ code: 4200 }, "unauthorized"],
    [{ code: -32000, message: "insufficient funds for gas * price + value" }, "funds"],
    [{ code: -32602, message: "insufficient funds for transfer" }, "funds"],
    [{ code: -32602, message: "the active chain is another one" }, "invalid"],
    [{ code: -32000, message: "nonce too low" }, "unclear"],
    [{ code: -32000, message: "already known" }, "unclear"],
    [{ code: 4900, message: "disconnected" }, "unreachable"],
    [new Error("boom"), "unclear"],
    ["text", "unclear"],
    [undefined, "unclear"]
  ]
  for (const [error, failure] of cases) {
    test(`${JSON.stringify(error)} is ${failure}`, () =>
      expect(walletErrorOf(error).failure).toBe(failure as never))
  }

  test("an error that contains itself is read without an endless loop", () => {
    const loop: Record<string, unknown> = { message: "m" }
    loop["cause"] = loop
    expect(walletErrorOf(loop).failure).toBe("unclear")
  })

  test("chain ids in hex, decimal and as numbers; accounts that are addresses", () => {
    expect(["0x14a34", "84532", 84532].map(chainIdOf)).toEqual([84532, 84532, 84532])
    expect([null, {}, "x"].map(chainIdOf)).toEqual([undefined, undefined, undefined])
    expect(accountsOf([`0x${"a1".repeat(20)}`, "0x1", 5])).toEqual([`0x${"a1".repeat(20)}`])
    expect(accountsOf("0x1")).toEqual([])
  })
})
