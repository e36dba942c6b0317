// One attempt of a claimed delivery, from the sealed secret to the recorded outcome.
// The worker, the test send and the manual resend all go this way.
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import type { DeliveryStatus } from "../domain/Webhook.ts"
import { SecretBox } from "../keys/SecretBox.ts"
import { delayAfter } from "./RetryPolicy.ts"
import type { SendOutcome } from "./SendOutcome.ts"
import { type ClaimedDelivery, WebhookRepo } from "./WebhookRepo.ts"
import { WebhookSender } from "./WebhookSender.ts"

/** A crash loop ends here: so many interrupted attempts fail the delivery with an alert. */
const maxInterruptions = 5

/** Seconds that a claim lasts; longer than an attempt's whole budget of 15. */
export const leaseSeconds = 30

export class Attempts extends Context.Service<
  Attempts,
  {
    /**
     * Sends and records. `final` makes it the delivery's last attempt whatever comes of it.
     * Answers whether the receiver accepted.
     */
    readonly make: (claimed: ClaimedDelivery, options?: { readonly final: boolean }) => Effect.Effect<boolean>
  }
>()("quittance/webhooks/Attempts") {
  static readonly layer: Layer.Layer<Attempts, never, WebhookRepo | WebhookSender | SecretBox> = Layer.effect(
    Attempts,
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const sender = yield* WebhookSender
      const secrets = yield* SecretBox

      const record = Effect.fnUntraced(function* (
        claimed: ClaimedDelivery,
        outcome: SendOutcome | undefined,
        status: DeliveryStatus,
        dueIn: number | undefined
      ) {
        const at = yield* DateTime.nowAsDate
        const mine = yield* repo.finish({
          claimed,
          at,
          durationMs: outcome?.durationMs ?? 0,
          responseStatus: outcome?._tag === "Answered" ? outcome.status : null,
          failure:
            outcome === undefined
              ? "interrupted"
              : outcome._tag === "Failed"
                ? outcome.failure
                : outcome.ok
                  ? null
                  : "status",
          responseBody: outcome?._tag === "Answered" ? (outcome.body ?? null) : null,
          status,
          dueAt: dueIn === undefined ? null : new Date(at.getTime() + dueIn)
        })
        if (mine && status === "failed") {
          yield* Effect.logError("A webhook delivery failed for good").pipe(
            Effect.annotateLogs({ delivery: claimed.id, merchant: claimed.merchantId, env: claimed.env })
          )
        }
      })

      const make = Effect.fn("Attempts.make")(function* (
        claimed: ClaimedDelivery,
        options?: { readonly final: boolean }
      ) {
        if (Option.isNone(claimed.target)) {
          yield* record(claimed, undefined, "cancelled", undefined)
          return false
        }
        if (claimed.interruptions >= maxInterruptions) {
          yield* record(claimed, undefined, "failed", undefined)
          return false
        }
        const { url, secret, endpointId } = claimed.target.value
        const outcome = yield* sender.send({
          url,
          id: claimed.id,
          body: claimed.body,
          secret: yield* secrets.open(secret, endpointId)
        })
        const ok = outcome._tag === "Answered" && outcome.ok
        const delay = ok || options?.final === true ? Option.none() : yield* delayAfter(claimed.attempt)
        yield* record(
          claimed,
          outcome,
          ok ? "delivered" : Option.isSome(delay) ? "pending" : "failed",
          Option.isSome(delay) ? Duration.toMillis(delay.value) : undefined
        )
        return ok
      })

      return Attempts.of({ make })
    })
  )
}
