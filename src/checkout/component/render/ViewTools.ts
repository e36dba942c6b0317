// The inputs of rendering that are not in the model.
import type { UnverifiedIntent } from "../intentToken.ts"
import type { Action } from "../Message.ts"
import type { Translation } from "../translate.ts"

/** Inputs for rendering from the page around the checkout. */
export interface ViewTools {
  readonly translation: Translation
  readonly claims: UnverifiedIntent | undefined
  /** The description from the shop's page. */
  readonly description: string
  /** The time until which the payment may be paid. */
  readonly deadline: string | undefined
  /** The URL of the hosted page with this payment. */
  readonly payUrl: string
  /** True on a page of the service itself, outside a frame: what is missing there is missing at `payUrl` too. */
  readonly hosted: boolean
  /** Like `payUrl`, but short enough for a phone to scan. */
  readonly scanUrl: string
  /** True if wallets are apps here. */
  readonly phone: boolean
  readonly send: (action: Action) => void
  /** The buyer has finished with the checkout. */
  readonly close: () => void
}
