import { readAnnounced } from "../attempt.ts"
import type { Tell } from "../Message.ts"
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
    const mine = own?.attempts ?? []
    // What this browser announced itself, and never asked the wallet for, it announces again.
    const ours = announced !== undefined && lost === undefined
    tell({
      type: "AttemptsRead",
      account,
      payment: all.payment,
      own: ours ? undefined : mine[0],
      others: all.attempts.filter((one) =>
        mine.every(({ payer, since }) => payer !== one.payer || since !== one.since)
      )
    })
  } catch {
    tell({ type: "AttemptsUnread" })
  }
}
