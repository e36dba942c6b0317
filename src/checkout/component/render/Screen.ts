// The shape that every screen of the checkout returns.
import type { CheckoutIcon, Child } from "../elements.ts"

/** The card's content for a state, between header and footer. */
export interface Screen {
  readonly icon: CheckoutIcon | "spinner"
  readonly tone?: "good" | "warn" | "bad"
  readonly title: string
  readonly text: ReadonlyArray<string>
  readonly body?: ReadonlyArray<Child>
  readonly actions?: ReadonlyArray<Child>
}
