// Reads an attempt's outcome from the chain through the buyer's wallet: whether its transfer was mined, under which
// hash, and whether its nonce was used.
import { isRecord } from "../../platform/pages/browser/isRecord.ts"
import type { Attempt } from "./attempt.ts"
import type { CheckoutContext } from "./CheckoutContext.ts"
import {
  addressTopic,
  amountOfTransfer,
  encodeBalanceOf,
  sameHex,
  toQuantity,
  transferTopic
} from "./erc20.ts"
import type { UnverifiedIntent } from "./intentToken.ts"
import type { Balance } from "./service.ts"
import { askChainId, askNode, askQuantity, type Eip1193Provider, type Hex, WalletError } from "./wallets.ts"

export type Inquiry =
  | { readonly outcome: "found"; readonly hash: Hex }
  /** `mined`: the attempt's nonce is used up. `pending`: a transaction of the account waits. */
  | { readonly outcome: "none"; readonly mined: boolean; readonly pending: boolean }

export const isHash = (value: unknown): value is Hex =>
  typeof value === "string" && /^0x[0-9a-fA-F]{64}$/.test(value)

const onChain = async (provider: Eip1193Provider, chainId: number) => {
  if ((await askChainId(provider)) !== chainId) throw new WalletError("unclear", "on another chain")
}

const transfersOf = async (
  provider: Eip1193Provider,
  attempt: Attempt,
  { token, receiver }: UnverifiedIntent,
  atomic: bigint
): Promise<ReadonlyArray<Hex>> => {
  const logs = await askNode(provider, "eth_getLogs", [
    {
      address: token.address,
      fromBlock: toQuantity(attempt.block),
      toBlock: "latest",
      topics: [transferTopic, addressTopic(attempt.from), addressTopic(receiver)]
    }
  ])
  if (!Array.isArray(logs)) throw new WalletError("unclear", "eth_getLogs answered no list")
  return logs.flatMap((log: unknown) => {
    if (!isRecord(log) || log["removed"] === true || amountOfTransfer(log["data"]) !== atomic) return []
    const hash = log["transactionHash"]
    return isHash(hash) && !attempt.refused.some((refusedHash) => sameHex(refusedHash, hash)) ? [hash] : []
  })
}

/** The account's balance; undefined if the wallet is on another chain, or its node does not respond. */
export const walletBalance = async (
  provider: Eip1193Provider,
  account: string,
  { chain, token }: CheckoutContext
): Promise<Balance | undefined> => {
  try {
    await onChain(provider, chain.id)
    const call = { to: token.address, data: encodeBalanceOf(account) }
    const [usdcAtomic, gasWei] = await Promise.all([
      askQuantity(provider, "eth_call", [call, "latest"]),
      askQuantity(provider, "eth_getBalance", [account, "latest"])
    ])
    return { usdcAtomic, gasWei }
  } catch {
    return undefined
  }
}

/** The account's nonce and block before the wallet is prompted. */
export const startingPoint = async (
  provider: Eip1193Provider,
  from: string
): Promise<{ readonly nonce: number; readonly block: number }> => {
  const [nonce, block] = await Promise.all([
    askQuantity(provider, "eth_getTransactionCount", [from, "pending"]),
    askQuantity(provider, "eth_blockNumber")
  ])
  return { nonce: Number(nonce), block: Number(block) }
}

/** The next nonce by mined transactions only. */
export const minedNonce = async (provider: Eip1193Provider, from: string): Promise<number> =>
  Number(await askQuantity(provider, "eth_getTransactionCount", [from, "latest"]))

/** Looks for the attempt's transfer. Fails if the wallet's node does not respond. */
export const inquire = async (
  provider: Eip1193Provider,
  attempt: Attempt,
  claims: UnverifiedIntent,
  atomic: bigint
): Promise<Inquiry> => {
  await onChain(provider, claims.token.chainId)
  // Nonces first: a transaction that is mined in between then shows up in the logs.
  const mined = await minedNonce(provider, attempt.from)
  const next = await askQuantity(provider, "eth_getTransactionCount", [attempt.from, "pending"])
  const [hash] = await transfersOf(provider, attempt, claims, atomic)
  await onChain(provider, claims.token.chainId)
  return hash === undefined
    ? { outcome: "none", mined: mined > attempt.nonce, pending: Number(next) > attempt.nonce }
    : { outcome: "found", hash }
}

/**
 * The sent transaction, mined or pending, with the nonce that the wallet used; undefined if the node does not know it.
 */
export const sentTransaction = async (
  provider: Eip1193Provider,
  hash: Hex
): Promise<{ readonly nonce: number | undefined } | undefined> => {
  const transaction = await askNode(provider, "eth_getTransactionByHash", [hash])
  if (!isRecord(transaction)) return undefined
  const { nonce } = transaction
  return { nonce: typeof nonce === "string" && /^0x[0-9a-f]+$/i.test(nonce) ? Number(nonce) : undefined }
}

export type Course =
  /** The node knows the transaction. */
  | { readonly outcome: "stands"; readonly nonce: number | undefined }
  /** The money moved under another hash. */
  | { readonly outcome: "replaced"; readonly hash: Hex }
  /** Another transaction used the attempt's nonce. */
  | { readonly outcome: "lost" }
  /** It may still be mined. */
  | { readonly outcome: "unknown" }

/** The outcome of the attempt's transaction. */
export const follow = async (
  provider: Eip1193Provider,
  attempt: Attempt & { readonly hash: Hex },
  claims: UnverifiedIntent,
  atomic: bigint
): Promise<Course> => {
  await onChain(provider, claims.token.chainId)
  const transaction = await sentTransaction(provider, attempt.hash)
  if (transaction !== undefined) return { outcome: "stands", ...transaction }
  const inquiry = await inquire(provider, attempt, claims, atomic)
  if (inquiry.outcome === "none") return { outcome: inquiry.mined ? "lost" : "unknown" }
  return sameHex(inquiry.hash, attempt.hash)
    ? { outcome: "stands", nonce: undefined }
    : { outcome: "replaced", hash: inquiry.hash }
}
