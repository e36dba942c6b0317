// Follows an attempt after the wallet got its request.
import { type Attempt, noteNonce, readAttempt } from "../attempt.ts"
import { callsStatus } from "../calls.ts"
import { follow, inquire } from "../chain.ts"
import type { UnverifiedIntent } from "../intentToken.ts"
import type { Dispatch } from "../Message.ts"
import { atomicAmount } from "../Model.ts"
import { askChainId } from "../wallets.ts"
import type { Session } from "./Session.ts"

/**
 * After this time the checkout asks the buyer. Until then, a wallet that accepted calls and forgot them may still
 * send them, and a transaction that its node never showed may still be mined, under any nonce.
 */
const forgottenMillis = 600_000

/** Looks for the transfer of an attempt that has no hash. */
export const inquireAttempt = async (
  session: Session,
  attempt: Attempt,
  dispatch: Dispatch
): Promise<void> => {
  const { claims } = session
  if (claims === undefined) return
  if (attempt.calls !== undefined) return inquireCalls(session, attempt, attempt.calls, claims, dispatch)
  try {
    const inquiry = await inquire(session.wallet.provider, attempt, claims, atomicAmount(session.model()))
    dispatch(
      inquiry.outcome === "found"
        ? { type: "TransferFound", hash: inquiry.hash }
        : { type: "NoTransfer", mined: inquiry.mined, pending: inquiry.pending }
    )
  } catch {
    // Some wallets do not announce a change of chain; some refuse a request for another chain than their own.
    const chainId = await askChainId(session.wallet.provider).catch(() => undefined)
    const isElsewhere = chainId !== undefined && chainId !== claims.token.chainId
    dispatch(
      isElsewhere && chainId !== session.model().chainId
        ? { type: "ChainChanged", chainId }
        : { type: "ChainSilent" }
    )
  }
}

/** The service may know before the wallet does, because it watches the chain for announced transfers. */
const inquireCalls = async (
  session: Session,
  attempt: Attempt,
  { id, taken }: NonNullable<Attempt["calls"]>,
  claims: UnverifiedIntent,
  dispatch: Dispatch
): Promise<void> => {
  try {
    const payment = await session.service.open(session.intentToken).catch(() => undefined)
    if (payment !== undefined && payment.status !== "pending")
      return dispatch({ type: "Superseded", payment })
    const atomic = atomicAmount(session.model())
    const status = await callsStatus(session.wallet.provider, id, attempt, claims, atomic)
    switch (status.outcome) {
      case "found":
        return dispatch({ type: "TransferFound", hash: status.hash })
      case "waits":
        return dispatch({ type: "NoTransfer", mined: false, pending: true })
      case "unknown": {
        const pending = taken && Date.now() - attempt.startedAt < forgottenMillis
        return dispatch({ type: "NoTransfer", mined: false, pending })
      }
      case "failed":
        await session.announcements.decline(attempt)
        return dispatch({ type: "NoTransfer", mined: true, pending: false })
    }
  } catch {
    dispatch({ type: "ChainSilent" })
  }
}

/** Checks whether another transaction replaced the one that was sent. */
export const followAttempt = async (
  session: Session,
  attempt: Attempt,
  dispatch: Dispatch
): Promise<void> => {
  const { claims, wallet } = session
  const stored = readAttempt(attempt.paymentId) ?? attempt
  if (claims === undefined || stored.hash === null) return
  // The account's next transaction does not replace calls.
  if (stored.calls !== undefined) return
  const sentAttempt = { ...stored, hash: stored.hash }
  try {
    const course = await follow(wallet.provider, sentAttempt, claims, atomicAmount(session.model()))
    if (course.outcome === "stands") noteNonce(sentAttempt, course.nonce)
    if (course.outcome === "replaced") dispatch({ type: "TransferFound", hash: course.hash })
    // The requested nonce does not prove which nonce the transaction has.
    const isProven = stored.nonceSeen === true || Date.now() - stored.startedAt >= forgottenMillis
    if (course.outcome === "lost" && isProven) dispatch({ type: "Lost" })
  } catch {
    // The service continues to look for the transaction; the next poll follows it again.
  }
}
