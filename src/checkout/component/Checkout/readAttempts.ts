// Polls for attempts from elsewhere, so that a buyer does not pay twice.
import { shortened } from "../../../platform/pages/browser/shortened.ts"
import { readAnnounced } from "../attempt.ts"
import { sameHex } from "../erc20.ts"
import type { Dispatch } from "../Message.ts"
import { isContextDue, readContext } from "./readContext.ts"
import type { Session } from "./Session.ts"

/** Reads who is paying: this account in another browser, or other wallets. */
export const readAttempts = async ({ model, service }: Session, dispatch: Dispatch): Promise<void> => {
  const { account, payment, polls, step } = model()
  if (payment === undefined) return
  if (step === "received" && isContextDue(polls)) void readContext(service, dispatch)
  try {
    const announced = account === undefined ? undefined : readAnnounced(payment.id, account)
    const lost = announced?.state === "lost" ? announced : undefined
    const [all, own] = await Promise.all([
      service.attempts(payment.id),
      account === undefined ? undefined : service.attempts(payment.id, account, lost)
    ])
    // An attempt that this browser announced but never sent to the wallet is announced again.
    const ours = announced !== undefined && lost === undefined
    dispatch({
      type: "AttemptsRead",
      account,
      payment: all.payment,
      own: ours ? undefined : own?.attempts[0],
      ownIsLost: lost !== undefined,
      confirming: all.confirmingTransactionId,
      // The account's own attempt may have ended between the two responses.
      others: all.attempts.filter(({ payer }) => account === undefined || !sameHex(payer, shortened(account)))
    })
  } catch {
    dispatch({ type: "AttemptsUnread" })
  }
}
