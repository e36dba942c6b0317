// Reports to the service: the sent transfer with the buyer's token, or the signature that pays.
import { type Attempt, writeAttempt } from "../attempt.ts"
import type { Dispatch, Message } from "../Message.ts"
import { atomicAmount } from "../Model.ts"
import { isUnanswered, type ReportResponse, ServiceError, type ServiceRefusal } from "../service.ts"
import type { SignedTerms } from "../signed.ts"
import { failureOf, WalletError } from "../wallets.ts"
import { isContextDue, readContext } from "./readContext.ts"
import type { Session } from "./Session.ts"

const messageOf = (answer: ReportResponse): Message =>
  answer.outcome === "settled"
    ? { type: "Reported", payment: answer.payment }
    : { type: "StillPending", payment: answer.payment, retryAfter: answer.retryAfter }

/**
 * Reads the payment after a report without a verdict: it may have settled anyway, because the service watches the
 * chain for announced transfers. Undefined if the payment cannot be read, or is pending for a reason that the service
 * returned.
 */
const readInstead = async (
  { intentToken, service }: Session,
  refusal: ServiceRefusal
): Promise<Message | undefined> => {
  if (!refusal.retryable) return undefined
  const payment = await service.open(intentToken).catch(() => undefined)
  if (payment === undefined) return undefined
  if (payment.status !== "pending") return { type: "Superseded", payment }
  return isUnanswered(refusal) ? { type: "StillPending", payment, retryAfter: refusal.retryAfter } : undefined
}

export const report = async (session: Session, dispatch: Dispatch): Promise<void> => {
  const { claims, service } = session
  const { attempt } = session.model()
  if (claims === undefined || attempt?.hash == null) return
  if (isContextDue(session.model().polls)) void readContext(service, dispatch)
  try {
    const answer = await service.report(claims.id, {
      buyerDidToken: attempt.buyerToken,
      transactionId: attempt.hash,
      tokenChanges: [
        {
          amountAtomic: atomicAmount(session.model()).toString(),
          chainId: claims.token.chainId,
          receiver: claims.receiver,
          tokenAddress: claims.token.address
        }
      ]
    })
    dispatch(messageOf(answer))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { refusal } = error
    dispatch((await readInstead(session, refusal)) ?? { type: "ReportRefused", refusal })
  }
}

export const relay = async (session: Session, signed: SignedTerms, dispatch: Dispatch): Promise<void> => {
  const { claims, service } = session
  try {
    dispatch(messageOf(await service.relay(claims?.id ?? "", signed)))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { refusal } = error
    dispatch((await readInstead(session, refusal)) ?? { type: "RelayRefused", refusal })
  }
}

/** Has the connected account sign a new token for a transfer that was already sent. */
export const prove = async (session: Session, attempt: Attempt, dispatch: Dispatch): Promise<void> => {
  const { identity, service, wallet } = session
  const { account, context: earlierContext } = session.model()
  try {
    if (account === undefined) throw new WalletError("unauthorized", "no wallet is connected")
    identity.forget()
    // The previous token may have been refused because of requirements that the shop has changed since.
    const context = (await readContext(service, dispatch)) ?? earlierContext
    const buyerToken = await identity.token(account, wallet, context)
    const proven: Attempt = { ...attempt, buyerToken }
    writeAttempt(proven)
    dispatch({ type: "Proven", attempt: proven })
  } catch (error) {
    dispatch({ type: "ProveFailed", failure: failureOf(error) })
  }
}
