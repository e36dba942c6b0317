// Reports to the service: the sent transfer with the buyer's token, or the signature that pays.
import { type Attempt, writeAttempt } from "../attempt.ts"
import type { Message, Tell } from "../Message.ts"
import { atomicAmount } from "../Model.ts"
import { isUnanswered, type Refusal, type ReportAnswer, ServiceError } from "../service.ts"
import type { SignedTerms } from "../signed.ts"
import { failureOf, WalletError } from "../wallets.ts"
import { readContext } from "./readContext.ts"
import type { Session } from "./Session.ts"

const messageOf = (answer: ReportAnswer): Message =>
  answer.outcome === "settled"
    ? { type: "Reported", payment: answer.payment }
    : { type: "StillPending", payment: answer.payment, retryAfter: answer.retryAfter }

/**
 * A report without a verdict says nothing of the payment, which may have settled all the same: the service watches the
 * chain for what was announced. Undefined if the payment cannot be read, or is pending for a reason that the service gave.
 */
const readInstead = async (
  { intentToken, service }: Session,
  refusal: Refusal
): Promise<Message | undefined> => {
  if (!refusal.retryable) return undefined
  const payment = await service.open(intentToken).catch(() => undefined)
  if (payment === undefined) return undefined
  if (payment.status !== "pending") return { type: "Superseded", payment }
  return isUnanswered(refusal) ? { type: "StillPending", payment, retryAfter: refusal.retryAfter } : undefined
}

/** Polls until the context is read again. */
const contextEvery = 12

export const report = async (session: Session, tell: Tell): Promise<void> => {
  const { claims, service } = session
  const { attempt } = session.model()
  if (claims === undefined || attempt?.hash == null) return
  // Long after the first question the chain may have halted, or go on.
  if (session.model().polls % contextEvery === contextEvery - 1) void readContext(service, tell)
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
    tell(messageOf(answer))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { refusal } = error
    tell((await readInstead(session, refusal)) ?? { type: "ReportRefused", refusal })
  }
}

export const relay = async (session: Session, signed: SignedTerms, tell: Tell): Promise<void> => {
  const { claims, service } = session
  try {
    tell(messageOf(await service.relay(claims?.id ?? "", signed)))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { refusal } = error
    tell((await readInstead(session, refusal)) ?? { type: "RelayRefused", refusal })
  }
}

/** Has the connected account sign a new token for a transfer that was already sent. */
export const prove = async (session: Session, attempt: Attempt, tell: Tell): Promise<void> => {
  const { identity, service, wallet } = session
  const { account, context: known } = session.model()
  try {
    if (account === undefined) throw new WalletError("unauthorized", "no wallet is connected")
    identity.forget()
    // The token of before may have been refused for what the shop asks since.
    const context = (await readContext(service, tell)) ?? known
    const buyerToken = await identity.token(account, wallet, context)
    const proven: Attempt = { ...attempt, buyerToken }
    writeAttempt(proven)
    tell({ type: "Proven", attempt: proven })
  } catch (error) {
    tell({ type: "ProveFailed", failure: failureOf(error) })
  }
}
