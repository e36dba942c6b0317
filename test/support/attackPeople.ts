// The people and contracts of the end-to-end attacks.
import { Effect } from "effect"
import { encodeFunctionData, type Hex, pad } from "viem"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { address, person } from "./anvilSuite.ts"

/** A buyer with money, a merchant, a thief. */
export const people = Effect.gen(function* () {
  const chain = yield* LocalChain
  const [buyer, merchant, thief, bundler] = yield* Effect.all([
    person(20),
    person(21),
    person(22),
    person(23)
  ])
  yield* chain.mint(buyer, 100_000_000n)
  yield* chain.mint(thief, 100_000_000n)
  return { chain, buyer, merchant, thief, bundler }
})

export const install = Effect.fnUntraced(function* (code: Hex, at: string) {
  const chain = yield* LocalChain
  yield* chain.rpc("anvil_setCode", [at, code])
  return address(at)
})

export const someAddress = (digit: string) => `0x${digit.repeat(40)}`
export const approve = (spender: Hex, value: bigint) =>
  encodeFunctionData({ abi: usdcAbi, functionName: "approve", args: [spender, value] })
export const word = (value: Hex) => pad(value, { size: 32 })
