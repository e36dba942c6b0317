// What is handed in to the service: the transfer that was sent, with the buyer's token, or the signature that pays.
import { type Attempt, writeAttempt } from "../attempt.ts"
import type { Message, Tell } from "../Message.ts"
import { atomicAmount } from "../Model.ts"
import { type ReportAnswer, ServiceError } from "../service.ts"
import type { SignedTerms } from "../signed.ts"
import { failureOf, WalletError } from "../wallets.ts"
import { readContext } from "./readContext.ts"
import type { Session } from "./Session.ts"

const messageOf = (answer: ReportAnswer): Message =>
  answer.outcome === "settled"
    ? { type: "Reported", payment: answer.payment }
    : { type: "StillPending", payment: answer.payment, retryAfter: answer.retryAfter }

export const report = async (session: Session, tell: Tell): Promise<void> => {
  const { claims, service } = session
  const { attempt } = session.model()
  if (claims === undefined || attempt?.hash == null) return
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
    tell({ type: "ReportRefused", refusal: error.refusal })
  }
}

export const relay = async ({ claims, service }: Session, signed: SignedTerms, tell: Tell): Promise<void> => {
  try {
    tell(messageOf(await service.relay(claims?.id ?? "", signed)))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    tell({ type: "RelayRefused", refusal: error.refusal })
  }
}

/** Has the connected account sign a token anew, for what was sent already. */
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
