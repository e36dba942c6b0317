// Texts of the link pages, in the reader's language.
import { translated } from "../../../platform/pages/browser/dom.ts"
import { textOf } from "../../component/elements.ts"
import { catalogues } from "./catalogues.ts"
import { type Link, LinkProblem } from "./linkApi.ts"

export const { money, text } = translated(catalogues)

/** Shows the words, with their amounts marked as data that page translation must not change. */
export const say = (target: HTMLElement, words: string): void => target.replaceChildren(textOf(words))

/** The reason why the link accepts no more payments. */
export const closedWords: Readonly<Record<string, string>> = {
  paid: text("paid"),
  expired: text("expired"),
  closed: text("closed")
}

/** The amounts that the link accepts. */
export const boundsOf = ({ amount = "", maxAmount = amount, minAmount = amount }: Link) => ({
  from: money(minAmount),
  to: money(maxAmount)
})

/** The error text for the page's user. */
export const errorText = (error: unknown, link: Link | undefined): string => {
  if (!(error instanceof LinkProblem)) return text("unreachable")
  // Without a link, only its id can be invalid.
  if (error.code === "INVALID_REQUEST")
    return link === undefined ? text("unknown") : text("notAmount", boundsOf(link))
  return (
    closedWords[error.reason ?? ""] ??
    (error.code === "PAYMENT_LINK_NOT_FOUND" ? text("unknown") : text("unreachable"))
  )
}
