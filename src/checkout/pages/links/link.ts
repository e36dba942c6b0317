// /link/{id}: opens the link and shows the checkout. A reload shows the same payment, and so does another tab while it
// is being paid.
import { element, input } from "../../../platform/pages/browser/dom.ts"
import { type Link, type Opened, openLink, readLink } from "./linkApi.ts"
import { boundsOf, closedWords, text, told } from "./linkWords.ts"
import { openingsOf } from "./openings.ts"
import { typedAmount } from "./typedAmount.ts"

const id = location.pathname.split("/")[2] ?? ""
const openings = openingsOf(id)
const [message, form, problem] = [element("message"), element("form"), element("problem")]

let link: Link | undefined

// Another sale's code in the same tab is another payment.
addEventListener("hashchange", () => location.reload())

const isIn = (event: Event, ...states: ReadonlyArray<string>): boolean =>
  event instanceof CustomEvent && states.includes(event.detail?.state)

/** True if the buyer says how much; a sale of the counter has its amount. */
let choosesAmount = false

const askAmount = () => {
  if (link === undefined) return
  element("bounds").textContent = text("bounds", boundsOf(link))
  problem.textContent = ""
  form.hidden = false
  input("amount").focus()
}

/** The wallet is asked, or has sent. */
const underWay = ["awaiting-signature", "submitted", "confirming"]
/** The wallet has sent nothing, or it has arrived. */
const noMore = ["needs-funds", "review", "settled"]

const show = (opened: Opened) => {
  const { intentToken, publishableKey } = opened
  message.hidden = true
  form.hidden = true
  const checkout = document.createElement("quittance-checkout")
  checkout.setAttribute("intent-token", intentToken)
  checkout.setAttribute("publishable-key", publishableKey)
  checkout.addEventListener("failed", (event) => {
    // Nothing was charged. Of a payment that failed nobody knows that here.
    if (isIn(event, "expired")) openings.forget(opened)
    renew(event, publishableKey).catch(() => undefined)
  })
  // Who cancels may choose another amount, or go on after all.
  checkout.addEventListener("closed", (event) => {
    // The link opens another payment.
    if (isIn(event, "expired")) location.reload()
    // What was paid, or is to be asked about, stays on the page.
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
    openings.keep(opened)
    if (isIn(event, ...underWay)) openings.isUnderWay(opened)
    if (isIn(event, ...noMore)) openings.isNoMore(opened)
    if (isIn(event, "settled")) openings.isOver(opened)
  })
  element("checkout").replaceChildren(checkout)
}

const keep = (opened: Opened) => {
  openings.keep(opened)
  show(opened)
}

const open = async (asked: Parameters<typeof openLink>[1]) => keep(await openLink(id, asked))

/** If the shop's key was rotated, the same payment continues with the new key. */
const renew = async (event: Event, publishableKey: string) => {
  const paymentId: unknown = event instanceof CustomEvent ? event.detail?.paymentId : undefined
  if (typeof paymentId !== "string") return
  const opened = await openLink(id, { paymentId })
  if (opened.publishableKey !== publishableKey) keep(opened)
}

let opening = false
form.addEventListener("submit", (event) => {
  event.preventDefault()
  problem.textContent = ""
  const amount = typedAmount(input("amount").value)
  if (amount === undefined) {
    problem.textContent = text("noThousands")
    return
  }
  if (opening) return
  opening = true
  open({ amount })
    .catch((error: unknown) => {
      problem.textContent = told(error, link)
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
  // From the counter: the payment is there already.
  if (paymentId !== null) return open({ paymentId })
  choosesAmount = link.amount === undefined
  const earlier = openings.get()
  // A payment that is open continues when its link has ended, but for one that is paid once, and has been.
  if (earlier !== undefined && link.state !== "paid") return show(earlier)
  if (link.state !== "open") {
    message.textContent = closedWords[link.state] ?? ""
    return
  }
  if (link.amount !== undefined) return open({})
  message.textContent = text("choose", { merchant: link.merchant })
  askAmount()
}

start().catch((error: unknown) => {
  message.textContent = told(error, undefined)
})
