// WebhookSender's request and outcome, shared by its layers and the delivery queue.
import type { Redacted } from "effect"
import type { PostFailure } from "../../platform/egress/PostFailure.ts"
import type { SignedOrder } from "../Signature.ts"

/** A delivery to send. */
export interface SendRequest {
  readonly url: string
  /** The delivery's id: visible ASCII, the same in every attempt and equal to the `id` in the body. */
  readonly id: string
  /** The exact bytes to sign and send. */
  readonly body: Uint8Array
  /** The order for the headers; absent from a test event. */
  readonly order?: SignedOrder | undefined
  readonly secret: Redacted.Redacted<string>
}

/** The outcome of an attempt. Durations are in milliseconds. */
export type SendOutcome = (
  | {
      readonly _tag: "Answered"
      readonly status: number
      /** True for 2xx. Redirects are not followed and count as failures. */
      readonly ok: boolean
      readonly durationMs: number
      /** The first 2 KiB of the response, only from public peers. */
      readonly body?: Uint8Array
    }
  | { readonly _tag: "Failed"; readonly failure: PostFailure; readonly durationMs: number }
) & {
  /** Request line and headers as sent; absent if nothing was sent. */
  readonly requestHead?: string
}

/** A response with this status, as a scripted outcome. */
export const answered = (status: number, durationMs = 0): SendOutcome => ({
  _tag: "Answered",
  status,
  ok: status >= 200 && status < 300,
  durationMs
})

/** A failure of this class, as a scripted outcome. */
export const failed = (failure: PostFailure, durationMs = 0): SendOutcome => ({
  _tag: "Failed",
  failure,
  durationMs
})
