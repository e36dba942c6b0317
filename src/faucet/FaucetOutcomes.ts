// What became of a broadcast transaction. That the money moved is said only over a
// receipt of a version that we signed; that it was lost, only after a second look.
import { Clock, DateTime, Duration, Effect } from "effect"
import type { Sighting } from "../chain/HotWallet.ts"
import { type FaucetRepo, type OutgoingTransaction, versionsOf } from "./FaucetRepo.ts"
import type { FaucetWallet } from "./FaucetWallet.ts"

const open: Sighting = { outcome: "open" }

/** Looks where a transaction stands and notes its end; `onLost` is run when another took its nonce. */
export const makeSettleUp = (
  wallet: FaucetWallet,
  repo: FaucetRepo["Service"],
  lostAfter: Duration.Input,
  onLost: Effect.Effect<void>
) => {
  /** When a nonce was first seen as gone, by transaction: a node may know the nonce before the receipt. */
  const missing = new Map<string, number>()

  /** Another instance may have raised its fee or ended it: what is stored decides which versions count. */
  const lookAgain = Effect.fnUntraced(function* (transaction: OutgoingTransaction) {
    const stored = (yield* repo.find(transaction)) ?? transaction
    if (stored.outcome !== null) return { outcome: stored.outcome, transactionId: stored.transactionId }
    const sighting = yield* wallet.sightOnAll(stored.nonce, versionsOf(stored))
    if (sighting.outcome !== "lost") return sighting
    const now = yield* Clock.currentTimeMillis
    const since = missing.get(transaction.transactionId) ?? now
    missing.set(transaction.transactionId, since)
    return now - since < Duration.toMillis(lostAfter) ? open : sighting
  })

  return Effect.fnUntraced(function* (transaction: OutgoingTransaction) {
    const first = yield* wallet.sight(transaction.nonce, versionsOf(transaction))
    if (first.outcome === "open") {
      missing.delete(transaction.transactionId)
      return first
    }
    const sighting: Sighting = first.outcome === "lost" ? yield* lookAgain(transaction) : first
    if (sighting.outcome === "open") return sighting
    missing.delete(transaction.transactionId)
    const { transactionId = transaction.transactionId } = sighting
    yield* repo.end(
      wallet.address,
      { ...transaction, transactionId },
      sighting.outcome,
      yield* DateTime.nowAsDate
    )
    if (sighting.outcome === "lost") yield* onLost
    return sighting
  })
}
