// /link/{id}: opens the link and shows the checkout. A reload shows the same payment, and so does another tab while it
// is being paid.
import { element, input } from "../../../platform/pages/browser/dom.ts"
import { type Link, type Opened, openLink, readLink } from "./linkApi.ts"
import { boundsOf, closedWords, errorText, say, text } from "./linkWords.ts"
import { openingsOf } from "./openings.ts"
import { typedAmount } from "./typedAmount.ts"

const id = location.pathname.split("/")[2] ?? ""
const openings = openingsOf(id)
const [message, form, problem] = [element("message"), element("form"), element("problem")]

let link: Link | undefined

// The code of another sale in the same tab is another payment.
addEventListener("hashchange", () => location.reload())

const isIn = (event: Event, ...states: ReadonlyArray<string>): boolean =>
  event instanceof CustomEvent && states.includes(event.detail?.state)

/** True if the buyer chooses the amount; a sale of the counter has one. */
let choosesAmount = false

const askAmount = () => {
  if (link === undefined) return
  element("bounds").textContent = text("bounds", boundsOf(link))
  problem.textContent = ""
  form.hidden = false
  input("amount").focus()
}

/** States in which the wallet was prompted or has sent. */
const inTransit = ["awaiting-signature", "submitted", "confirming"]
/** States in which the wallet has sent nothing, or the transfer has arrived. */
const notInTransit = ["needs-funds", "review", "settled"]

const show = (opened: Opened) => {
  const { intentToken, publishableKey } = opened
  message.hidden = true
  form.hidden = true
  const checkout = document.createElement("quittance-checkout")
  checkout.setAttribute("intent-token", intentToken)
  checkout.setAttribute("publishable-key", publishableKey)
  checkout.addEventListener("failed", (event) => {
    // An expired payment was not charged; a failed one may have been.
    if (isIn(event, "expired")) openings.forget(opened)
    renew(event, publishableKey).catch(() => undefined)
  })
  // A buyer who cancels may choose another amount, or continue after all.
  checkout.addEventListener("closed", (event) => {
    // The link opens another payment.
    if (isIn(event, "expired")) location.reload()
    // A payment that is paid, or needs the shop's help, stays on the page.
    if (isIn(event, "settled", "failed")) {
      openings.forget(opened)
      message.textContent = text("mayClose")
      message.hidden = false
    }
    if (!isIn(event, "cancelled") || !choosesAmount) return
    openings.forget(opened)
    askAmount()
  })
  checkout.addEventListener("statechange", (event) => {
    if (isIn(event, "cancelled", "expired")) return
    form.hidden = true
    openings.store(opened)
    if (isIn(event, ...inTransit)) openings.isInTransit(opened)
    if (isIn(event, ...notInTransit)) openings.isNotInTransit(opened)
    if (isIn(event, "settled")) openings.isOver(opened)
  })
  element("checkout").replaceChildren(checkout)
}

const storeAndShow = (opened: Opened) => {
  openings.store(opened)
  show(opened)
}

const open = async (terms: Parameters<typeof openLink>[1]) => storeAndShow(await openLink(id, terms))

/** If the shop's key was rotated, the same payment continues with the new key. */
const renew = async (event: Event, publishableKey: string) => {
  const paymentId: unknown = event instanceof CustomEvent ? event.detail?.paymentId : undefined
  if (typeof paymentId !== "string") return
  const opened = await openLink(id, { paymentId })
  if (opened.publishableKey !== publishableKey) storeAndShow(opened)
}

let opening = false
form.addEventListener("submit", (event) => {
  event.preventDefault()
  problem.textContent = ""
  const amount = typedAmount(input("amount").value)
  if (amount === undefined) {
    say(problem, text("noThousands"))
    return
  }
  if (opening) return
  opening = true
  open({ amount })
    .catch((error: unknown) => {
      say(problem, errorText(error, link))
    })
    .finally(() => {
      opening = false
    })
})

const start = async () => {
  link = await readLink(id)
  const paymentId = new URLSearchParams(location.hash.slice(1)).get("payment")
  document.title = `${link.description}, ${link.merchant}`
  element("description").textContent = link.description
  // Opened from the counter: the payment exists already.
  if (paymentId !== null) return open({ paymentId })
  choosesAmount = link.amount === undefined
  const earlier = openings.get()
  // An open payment continues after its link has ended, unless a one-time link was paid.
  if (earlier !== undefined && link.state !== "paid") return show(earlier)
  if (link.state !== "open") {
    message.classList.add("panel")
    message.textContent = closedWords[link.state] ?? ""
    return
  }
  if (link.amount !== undefined) return open({})
  message.textContent = text("choose", { merchant: link.merchant })
  askAmount()
}

start().catch((error: unknown) => {
  message.classList.add("panel")
  message.textContent = errorText(error, undefined)
})
