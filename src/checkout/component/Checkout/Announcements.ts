// Announces transfers to the service before the wallet gets a request for them.
import {
  type Attempt,
  announcedId,
  forgetAnnounced,
  markAnnounced,
  readAnnounced,
  restoreAttempt,
  writeAttempt
} from "../attempt.ts"
import type { Dispatch } from "../Message.ts"
import { refusalNotice, tokenNotice } from "../refusalNotice.ts"
import { type CheckoutService, ServiceError } from "../service.ts"
import type { MessageKey } from "../translate.ts"
import type { BuyerIdentity } from "./BuyerIdentity.ts"
import { readContext } from "./readContext.ts"

export class Announcements {
  readonly #service: CheckoutService
  readonly #intentToken: string
  readonly #identity: BuyerIdentity
  #declining: Promise<void> = Promise.resolve()

  constructor(service: CheckoutService, intentToken: string, identity: BuyerIdentity) {
    this.#service = service
    this.#intentToken = intentToken
    this.#identity = identity
  }

  /** The last attempt's decline, in flight. The next announcement waits for it. */
  get declining(): Promise<void> {
    return this.#declining
  }

  /**
   * Announces the attempt to the service. Returns the attempt to send; undefined if the wallet must not be prompted.
   */
  async announce(
    attempt: Attempt,
    earlier: Attempt | undefined,
    dispatch: Dispatch
  ): Promise<Attempt | undefined> {
    const { buyerToken, from, paymentId } = attempt
    const notSent = (notice: MessageKey) => dispatch({ type: "NotSent", notice, chainId: undefined })
    let stored = readAnnounced(paymentId, from)
    try {
      if (stored?.state === "lost") {
        const { attempts } = await this.#service.attempts(paymentId, from, stored)
        if (attempts.length > 0) {
          restoreAttempt(attempt, earlier)
          dispatch({ type: "AttemptOpen" })
          return undefined
        }
        forgetAnnounced(paymentId, from, stored.id)
        stored = undefined
      }
      if (stored?.state === "withdrawn") {
        // Declined by another tab, or before a reload: its request may arrive after this announcement, and must not
        // end it.
        await this.#service.decline(paymentId, stored.id)
        forgetAnnounced(paymentId, from, stored.id)
        stored = undefined
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
      // The next attempt gets another id, unless this one may have arrived.
      if (!retryable) forgetAnnounced(paymentId, from)
      switch (code) {
        case "INVALID_REQUEST":
          // The service has ended the attempt with this id.
          if (stored !== undefined && writeAttempt(attempt)) return this.announce(attempt, earlier, dispatch)
          notSent("noticeUnreachable")
          break
        case "PAYMENT_ATTEMPT_OPEN":
          dispatch({ type: "AttemptOpen" })
          break
        case "PAYMENT_SETTLED":
        case "PAYMENT_FAILED":
          if (!(await this.#hasEnded(dispatch))) notSent("noticeUnreachable")
          break
        case "INVALID_BUYER_TOKEN":
          this.#identity.forget()
          await readContext(this.#service, dispatch)
          notSent(tokenNotice({ reason }))
          break
        default:
          if (!retryable || !(await this.#hasEnded(dispatch))) notSent(refusalNotice(error))
      }
    }
    return undefined
  }

  /** Reads the payment, which may have been paid from elsewhere. */
  async #hasEnded(dispatch: Dispatch): Promise<boolean> {
    const payment = await this.#service.open(this.#intentToken).catch(() => undefined)
    if (payment === undefined || payment.status === "pending") return false
    dispatch({ type: "Superseded", payment })
    return true
  }

  /** Declines the announced attempt: the wallet has sent nothing. */
  async decline({ paymentId, from }: Attempt): Promise<void> {
    const announced = readAnnounced(paymentId, from)
    if (announced === undefined) return
    markAnnounced(paymentId, from, announced, "withdrawn")
    this.#declining = this.#service.decline(paymentId, announced.id).then(
      () => forgetAnnounced(paymentId, from, announced.id),
      // It stays stored, so the next announcement declines it again.
      () => {}
    )
    await Promise.race([this.#declining, new Promise((resolve) => setTimeout(resolve, 2_000))])
  }
}
