import { readAnnounced } from "../attempt.ts"
import { sameHex } from "../erc20.ts"
import type { Tell } from "../Message.ts"
import { shortened } from "../shortened.ts"
import type { Session } from "./Session.ts"

/** Asks the service who is paying: the account in another browser, or other wallets. */
export const readAttempts = async ({ model, service }: Session, tell: Tell): Promise<void> => {
  const { account, payment } = model()
  if (payment === undefined) return
  try {
    const announced = account === undefined ? undefined : readAnnounced(payment.id, account)
    const lost = announced?.state === "lost" ? announced : undefined
    const [all, own] = await Promise.all([
      service.attempts(payment.id),
      account === undefined ? undefined : service.attempts(payment.id, account, lost)
    ])
    // What this browser announced itself, and never asked the wallet for, it announces again.
    const ours = announced !== undefined && lost === undefined
    tell({
      type: "AttemptsRead",
      account,
      payment: all.payment,
      own: ours ? undefined : own?.attempts[0],
      ownIsLost: lost !== undefined,
      // The account's own may have ended between the two answers.
      others: all.attempts.filter(({ payer }) => account === undefined || !sameHex(payer, shortened(account)))
    })
  } catch {
    tell({ type: "AttemptsUnread" })
  }
}
