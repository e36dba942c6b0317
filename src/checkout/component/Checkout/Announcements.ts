// What the service is told of transfers before the wallet is asked for them.
import {
  type Attempt,
  announcedId,
  forgetAnnounced,
  markAnnounced,
  readAnnounced,
  restoreAttempt,
  writeAttempt
} from "../attempt.ts"
import type { Tell } from "../Message.ts"
import { refusalNotice, tokenNotice } from "../refusalNotice.ts"
import { type CheckoutService, ServiceError } from "../service.ts"
import type { MessageKey } from "../translate.ts"
import type { BuyerIdentity } from "./BuyerIdentity.ts"
import { readContext } from "./readContext.ts"

export class Announcements {
  readonly #service: CheckoutService
  readonly #intentToken: string
  readonly #identity: BuyerIdentity
  #withdrawing: Promise<void> = Promise.resolve()

  constructor(service: CheckoutService, intentToken: string, identity: BuyerIdentity) {
    this.#service = service
    this.#intentToken = intentToken
    this.#identity = identity
  }

  /** Taking back the last one, which the next one waits for. */
  get withdrawing(): Promise<void> {
    return this.#withdrawing
  }

  /** Tells the service. Answers the attempt as it may be sent; undefined where the wallet must not be asked. */
  async announce(attempt: Attempt, earlier: Attempt | undefined, tell: Tell): Promise<Attempt | undefined> {
    const { buyerToken, from, paymentId } = attempt
    const notSent = (notice: MessageKey) => tell({ type: "NotSent", notice, chainId: undefined })
    let kept = readAnnounced(paymentId, from)
    try {
      if (kept?.state === "lost") {
        const { attempts } = await this.#service.attempts(paymentId, from, kept)
        if (attempts.length > 0) {
          restoreAttempt(attempt, earlier)
          tell({ type: "AttemptOpen" })
          return undefined
        }
        forgetAnnounced(paymentId, from, kept.id)
        kept = undefined
      }
      if (kept?.state === "withdrawn") {
        // By another tab, or before a reload: its request may arrive after this announcement, and must not end it.
        await this.#service.withdraw(paymentId, kept.id)
        forgetAnnounced(paymentId, from, kept.id)
        kept = undefined
      }
      const nonce = await this.#service.announce(paymentId, {
        buyerDidToken: buyerToken,
        attemptId: announcedId(paymentId, from, Date.now()),
        ...(attempt.calls === undefined ? { nonce: attempt.nonce } : {})
      })
      if (nonce === undefined || attempt.calls !== undefined || nonce === attempt.nonce) return attempt
      const fixed: Attempt = { ...attempt, nonce }
      if (writeAttempt(fixed)) return fixed
      notSent("failedStorage")
    } catch (error) {
      restoreAttempt(attempt, earlier)
      const { code, reason, retryable } =
        error instanceof ServiceError
          ? error.refusal
          : { code: "NETWORK", reason: undefined, retryable: true }
      // The next attempt is another one, but where this one may have arrived.
      if (!retryable) forgetAnnounced(paymentId, from)
      switch (code) {
        case "INVALID_REQUEST":
          // The service has ended the attempt of this id.
          if (kept !== undefined && writeAttempt(attempt)) return this.announce(attempt, earlier, tell)
          notSent("noticeUnreachable")
          break
        case "PAYMENT_ATTEMPT_OPEN":
          tell({ type: "AttemptOpen" })
          break
        case "PAYMENT_SETTLED":
        case "PAYMENT_FAILED": {
          const payment = await this.#service.open(this.#intentToken).catch(() => undefined)
          if (payment === undefined) notSent("noticeUnreachable")
          else tell({ type: "Superseded", payment })
          break
        }
        case "INVALID_BUYER_TOKEN":
          this.#identity.forget()
          await readContext(this.#service, tell)
          notSent(tokenNotice({ reason }))
          break
        default:
          notSent(refusalNotice(error))
      }
    }
    return undefined
  }

  /** Takes the announcement back: the wallet has sent nothing. */
  async withdraw({ paymentId, from }: Attempt): Promise<void> {
    const announced = readAnnounced(paymentId, from)
    if (announced === undefined) return
    markAnnounced(paymentId, from, announced, "withdrawn")
    this.#withdrawing = this.#service.withdraw(paymentId, announced.id).then(
      () => forgetAnnounced(paymentId, from, announced.id),
      // Kept: whoever announces next asks for it once more.
      () => {}
    )
    await Promise.race([this.#withdrawing, new Promise((resolve) => setTimeout(resolve, 2_000))])
  }
}
