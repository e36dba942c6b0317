// Decides from the chain why an attempt to pay has ended.
import { DateTime, Effect, Option } from "effect"
import type { ChainVerifier } from "../../chain/ChainVerifier.ts"
import { blocksIn } from "../../domain/networks.ts"
import type { Payment } from "../../domain/Payment.ts"
import { type AttemptEnd, attemptBlockingMillis, type PaymentAttempt } from "../AttemptRepo/AttemptStore.ts"
import type { AttemptRepo } from "../AttemptRepo.ts"
import type { TransferRepo } from "../TransferRepo.ts"

export interface SentAttempt {
  readonly attemptId: string
  /** The account nonce that the wallet used. Some wallets choose their own. */
  readonly nonce: bigint
}

/** The largest lead of a wallet's node over ours. */
const lagMillis = 10_000
/** The depth that a reorganisation may replace. A nonce used there may become free again. */
const replacedMillis = 10_000

/**
 * The time for which a wallet may keep its prompt open. Some wallets ignore the page's nonce and choose their own, so
 * until then, another transaction with the nonce does not prove that the prompt is closed.
 */
const promptMillis = 10 * 60_000

export const makeAttemptEndOf = ({
  attemptRepo,
  transferRepo,
  chain
}: {
  readonly attemptRepo: AttemptRepo["Service"]
  readonly transferRepo: TransferRepo["Service"]
  readonly chain: ChainVerifier["Service"]
}) => {
  /** True if the chain shows that the attempt's nonce was free at its announcement and is used at a height. */
  const hasLostNonce = Effect.fnUntraced(function* (
    { env }: Payment,
    { announcedAt, blockNumber, method, nonce, payer }: PaymentAttempt,
    height: bigint
  ) {
    if (method !== "transfer" || nonce === null) return false
    const isUsed = (at: bigint) => chain.hasUsedNonce(env, payer, nonce, at)
    if (!(yield* isUsed(height)) || (yield* isUsed(blockNumber))) return false
    const caughtUp = blockNumber + blocksIn(env, lagMillis)
    let free = blockNumber
    while (free < caughtUp && !(yield* isUsed(free + 1n))) free += 1n
    // Nodes without that height also report nonces as unused. Nodes with it report nonce -1 as used.
    if (!(yield* chain.hasUsedNonce(env, payer, -1n, free))) return false
    if (free === caughtUp) return true
    // If this block precedes the announcement, our nodes had not seen it: the wallet signs with another nonce.
    const block = yield* chain.readTransfers(env, free + 1n, free + 1n)
    return block._tag === "Read" && Number(block.blockTime) >= Math.floor(announcedAt.getTime() / 1_000)
  })

  /**
   * The reason why an open attempt has ended according to the chain; undefined while it may still pay. A caller who
   * identifies the attempt as their own knows that the wallet has finished, and which nonce it used.
   */
  return Effect.fnUntraced(function* (
    payment: Payment,
    attempt: PaymentAttempt,
    own: SentAttempt | undefined
  ): Effect.fn.Return<AttemptEnd | undefined> {
    const now = (yield* DateTime.nowAsDate).getTime()
    const over = attempt.announcedAt.getTime() + attemptBlockingMillis
    const cursor = yield* transferRepo.cursor(payment.env)
    if (Option.isNone(cursor)) return undefined
    const { blockHash, blockNumber, blockTime } = cursor.value
    // Checked below the height up to which transfers are read, so the transaction that used the nonce is among them.
    const sentNonce = attempt.id === own?.attemptId ? own.nonce : undefined
    const mayStillPrompt = sentNonce === undefined && now < attempt.announcedAt.getTime() + promptMillis
    const lost = hasLostNonce(
      payment,
      sentNonce === undefined ? attempt : { ...attempt, nonce: sentNonce },
      blockNumber - blocksIn(payment.env, replacedMillis)
    )
    const nonceUsed = !mayStillPrompt && (yield* lost)
    const isOver = now >= over && blockTime.getTime() >= over
    if (!nonceUsed && !isOver) return undefined
    // Blocks that replaced those read may contain the wallet's transfer, so they are read first.
    const reached = yield* chain.readTransfers(payment.env, blockNumber, blockNumber)
    if (reached._tag !== "Read" || reached.blockHash !== blockHash) return undefined
    // A reported transaction may be waiting under any nonce; only the wallet's own browser knows which.
    if (
      sentNonce === undefined &&
      (yield* attemptRepo.hasUndecidedReport(payment.id, attempt.payer, new Date(now)))
    )
      return undefined
    if (Option.isSome(yield* attemptRepo.unclaimedTransfer(payment, attempt.payer))) return undefined
    return nonceUsed ? "nonce_used" : "expired"
  })
}
