// Calls of a contract wallet (EIP-5792, version 2.0.0). The wallet returns neither account nonce nor hash, but uses an
// id that the page chooses. It refuses the same id twice, and reports the outcome later.

import { isRecord } from "../../platform/pages/browser/isRecord.ts"
import type { Attempt } from "./attempt.ts"
import { isHash } from "./chain.ts"
import { addressTopic, amountOfTransfer, sameHex, toQuantity, transferTopic } from "./erc20.ts"
import type { UnverifiedIntent } from "./intentToken.ts"
import { ask, askNode, type Eip1193Provider, type Hex, WalletError } from "./wallets.ts"

const capabilityMillis = 1_500

/**
 * True if the account is a contract that accepts calls on the chain, whatever the wallet's current chain. An account
 * that would first have to become a contract (`ready`) sends a transaction, whose nonce the page can specify.
 */
export const takesCalls = async (
  provider: Eip1193Provider,
  account: string,
  chainId: number
): Promise<boolean> => {
  const key = toQuantity(chainId)
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, capabilityMillis))
  const request = ask(provider, "wallet_getCapabilities", [account, [key]]).catch(() => undefined)
  const all = await Promise.race([request, late])
  const own = isRecord(all) ? (all[key] ?? all[String(chainId)]) : undefined
  const atomic = isRecord(own) ? own["atomic"] : undefined
  return isRecord(atomic) && atomic["status"] === "supported"
}

/** Requests one call. Returns the id by which the wallet knows it. */
export const sendCalls = async (
  provider: Eip1193Provider,
  request: {
    readonly id: string
    readonly from: string
    readonly chainId: number
    readonly to: string
    readonly data: string
  }
): Promise<string> => {
  const { chainId, data, from, id, to } = request
  const answer = await ask(provider, "wallet_sendCalls", [
    {
      version: "2.0.0",
      id,
      from,
      chainId: toQuantity(chainId),
      atomicRequired: false,
      calls: [{ to, data, value: "0x0" }]
    }
  ])
  // Some wallets return the bare id, as in version 1.0.
  const callsId = isRecord(answer) ? answer["id"] : answer
  if (typeof callsId !== "string" || callsId === "") throw new WalletError("unclear", "no id of the calls")
  return callsId
}

export type CallsStatus =
  | { readonly outcome: "waits" }
  /** The wallet does not know the id. */
  | { readonly outcome: "unknown" }
  /** Nothing has moved, and nothing will. */
  | { readonly outcome: "failed" }
  /** The transaction that the wallet returned. Only the service decides what it pays. */
  | { readonly outcome: "found"; readonly hash: Hex }

const paysIn =
  (attempt: Attempt, { receiver, token }: UnverifiedIntent, atomic: bigint) =>
  (receipt: Readonly<Record<string, unknown>>): boolean => {
    const logs = Array.isArray(receipt["logs"]) ? receipt["logs"].filter(isRecord) : []
    return logs.some(({ address, data, topics }) => {
      const [event, from, to] = Array.isArray(topics) ? topics.map(String) : []
      return (
        sameHex(String(address), token.address) &&
        event === transferTopic &&
        sameHex(from ?? "", addressTopic(attempt.from)) &&
        sameHex(to ?? "", addressTopic(receiver)) &&
        amountOfTransfer(data) === atomic
      )
    })
  }

/** The outcome of an attempt's calls. Fails if the wallet does not report it. */
export const callsStatus = async (
  provider: Eip1193Provider,
  id: string,
  attempt: Attempt,
  claims: UnverifiedIntent,
  atomic: bigint
): Promise<CallsStatus> => {
  let answer: unknown
  try {
    answer = await askNode(provider, "wallet_getCallsStatus", [id])
  } catch (error) {
    if (error instanceof WalletError && error.failure === "unknown_calls") return { outcome: "unknown" }
    throw error
  }
  if (!isRecord(answer) || typeof answer["status"] !== "number")
    throw new WalletError("unclear", "wallet_getCallsStatus answered no status")
  const { receipts, status } = answer
  if (Number(status) < 200) return { outcome: "waits" }
  const candidates = (Array.isArray(receipts) ? receipts.filter(isRecord) : []).filter(
    ({ transactionHash }) =>
      isHash(transactionHash) && !attempt.refused.some((refusedHash) => sameHex(refusedHash, transactionHash))
  )
  const hash = (candidates.find(paysIn(attempt, claims, atomic)) ?? candidates.at(-1))?.["transactionHash"]
  if (isHash(hash)) return { outcome: "found", hash }
  // Confirmed, but the wallet has not reported the transaction yet.
  return Number(status) < 300 && attempt.refused.length === 0 ? { outcome: "waits" } : { outcome: "failed" }
}
