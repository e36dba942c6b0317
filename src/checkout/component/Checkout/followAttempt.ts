// Follows an attempt after the wallet got its request.
import { type Attempt, noteNonce, readAttempt } from "../attempt.ts"
import { callsStatus } from "../calls.ts"
import { follow, inquire } from "../chain.ts"
import type { UnverifiedIntent } from "../intentToken.ts"
import type { Tell } from "../Message.ts"
import { atomicAmount } from "../Model.ts"
import { askChainId } from "../wallets.ts"
import type { Session } from "./Session.ts"

/**
 * A wallet that has taken calls and forgotten them may still send them, and a transaction that its node has never
 * shown may still be mined, under any nonce; a buyer is asked after this time.
 */
const forgottenMillis = 600_000

/** Looks for the transfer of an attempt that has no hash. */
export const inquireAttempt = async (session: Session, attempt: Attempt, tell: Tell): Promise<void> => {
  const { claims } = session
  if (claims === undefined) return
  if (attempt.calls !== undefined) return inquireCalls(session, attempt, attempt.calls, claims, tell)
  try {
    const found = await inquire(session.wallet.provider, attempt, claims, atomicAmount(session.model()))
    tell(
      found.outcome === "found"
        ? { type: "TransferFound", hash: found.hash }
        : { type: "NoTransfer", mined: found.mined, pending: found.pending }
    )
  } catch {
    // Not every wallet announces a change; some refuse a request for a chain other than their own.
    const chainId = await askChainId(session.wallet.provider).catch(() => undefined)
    const isElsewhere = chainId !== undefined && chainId !== claims.token.chainId
    tell(
      isElsewhere && chainId !== session.model().chainId
        ? { type: "ChainChanged", chainId }
        : { type: "ChainSilent" }
    )
  }
}

/** The service may know before the wallet says: it watches the chain for what was announced. */
const inquireCalls = async (
  session: Session,
  attempt: Attempt,
  { id, taken }: NonNullable<Attempt["calls"]>,
  claims: UnverifiedIntent,
  tell: Tell
): Promise<void> => {
  try {
    const payment = await session.service.open(session.intentToken).catch(() => undefined)
    if (payment !== undefined && payment.status !== "pending") return tell({ type: "Superseded", payment })
    const atomic = atomicAmount(session.model())
    const status = await callsStatus(session.wallet.provider, id, attempt, claims, atomic)
    switch (status.outcome) {
      case "found":
        return tell({ type: "TransferFound", hash: status.hash })
      case "waits":
        return tell({ type: "NoTransfer", mined: false, pending: true })
      case "unknown": {
        const pending = taken && Date.now() - attempt.startedAt < forgottenMillis
        return tell({ type: "NoTransfer", mined: false, pending })
      }
      case "failed":
        await session.announcements.withdraw(attempt)
        return tell({ type: "NoTransfer", mined: true, pending: false })
    }
  } catch {
    tell({ type: "ChainSilent" })
  }
}

/** Looks whether another transaction has taken the place of the one that was sent. */
export const followAttempt = async (session: Session, attempt: Attempt, tell: Tell): Promise<void> => {
  const { claims, wallet } = session
  const stored = readAttempt(attempt.paymentId) ?? attempt
  if (claims === undefined || stored.hash === null) return
  // What calls become is not replaced by the account's next transaction.
  if (stored.calls !== undefined) return
  const sent = { ...stored, hash: stored.hash }
  try {
    const course = await follow(wallet.provider, sent, claims, atomicAmount(session.model()))
    if (course.outcome === "stands") noteNonce(sent, course.nonce)
    if (course.outcome === "replaced") tell({ type: "TransferFound", hash: course.hash })
    // The nonce that it was asked to use proves nothing of the one that it has.
    const isProven = stored.nonceSeen === true || Date.now() - stored.startedAt >= forgottenMillis
    if (course.outcome === "lost" && isProven) tell({ type: "Lost" })
  } catch {
    // The service goes on looking for the transaction; the next poll follows again.
  }
}
