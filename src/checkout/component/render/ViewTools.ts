import type { UnverifiedIntent } from "../intentToken.ts"
import type { Action } from "../Message.ts"
import type { Translation } from "../translate.ts"

/** What the page around the checkout gives it to be drawn with. */
export interface ViewTools {
  readonly translation: Translation
  readonly claims: UnverifiedIntent | undefined
  /** What the shop's page says is paid for. */
  readonly description: string
  /** Until when it may be paid. */
  readonly deadline: string | undefined
  /** Of the hosted page with this payment. */
  readonly payUrl: string
  /** Whether wallets are apps here. */
  readonly phone: boolean
  readonly send: (action: Action) => void
  /** The buyer is done with the checkout. */
  readonly close: () => void
}
