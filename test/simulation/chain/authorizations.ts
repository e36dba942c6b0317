// EIP-3009 on the simulated chain: the meaning of a call of the token, and its logs. The service verifies signatures;
// the chain accepts each nonce of a payer once, and within its time.
import { decodeFunctionData, type Hex, padHex, parseTransaction, toEventSelector } from "viem"
import { parseAddress } from "../../../src/chain/Address.ts"
import type { Address } from "../../../src/domain/Chain.ts"
import { authorizationAbi } from "../../../src/x402/Authorization.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"

const { usdc } = moneyNetwork

const usedTopic = toEventSelector("AuthorizationUsed(address,bytes32)")
const cancelledTopic = toEventSelector("AuthorizationCanceled(address,bytes32)")

/** The use of a payer's nonce: a transfer or a cancellation. */
export interface Spending {
  readonly payer: Address
  readonly nonce: Hex
  readonly cancels: boolean
  /** Unix seconds, both excluded. */
  readonly validAfter: bigint
  readonly validBefore: bigint
}

export const keyOf = (payer: string, nonce: string) => `${payer} ${nonce}`.toLowerCase()

/** A call of the token. */
export type TokenCall =
  | {
      readonly kind: "spend"
      readonly spending: Spending
      readonly to: Address | undefined
      readonly amount: bigint
    }
  | { readonly kind: "state"; readonly payer: Address; readonly nonce: Hex }

const own = (text: string): Address => {
  const address = parseAddress(text)
  if (address === undefined) throw new Error(`${text} is no address`)
  return address
}

/** Undefined for a call that the simulated token does not have. */
export const tokenCallOf = (to: string, data: Hex): TokenCall | undefined => {
  if (to.toLowerCase() !== usdc.address.toLowerCase()) return undefined
  const call = (() => {
    try {
      return decodeFunctionData({ abi: authorizationAbi, data })
    } catch {
      return undefined
    }
  })()
  switch (call?.functionName) {
    case "transferWithAuthorization": {
      const [from, receiver, amount, validAfter, validBefore, nonce] = call.args
      const spending = { payer: own(from), nonce, cancels: false, validAfter, validBefore }
      return { kind: "spend", spending, to: own(receiver), amount }
    }
    case "cancelAuthorization": {
      const [payer, nonce] = call.args
      const spending = { payer: own(payer), nonce, cancels: true, validAfter: -1n, validBefore: 2n ** 64n }
      return { kind: "spend", spending, to: undefined, amount: 0n }
    }
    case "authorizationState":
      return { kind: "state", payer: own(call.args[0]), nonce: call.args[1] }
    default:
      return undefined
  }
}

export const spendingLog = ({ cancels, nonce, payer }: Spending) => ({
  address: usdc.address.toLowerCase(),
  topics: [cancels ? cancelledTopic : usedTopic, padHex(payer, { size: 32 }).toLowerCase(), nonce],
  data: "0x"
})

/** A transaction that a wallet has signed, as a node reads it. */
export const readRaw = (raw: Hex) => {
  const { data, gas = 21_000n, maxFeePerGas = 0n, nonce = 0, to } = parseTransaction(raw)
  const call = to === undefined || to === null || data === undefined ? undefined : tokenCallOf(to, data)
  return { call: call?.kind === "spend" ? call : undefined, gas, maxFee: maxFeePerGas, nonce }
}
