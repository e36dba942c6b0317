// /pay#token=…&key=…: the checkout for merchants who link to it, and /pay#c=…&key=… for a phone that scans an open
// payment. Both are in the fragment, which browsers do not send.

import { element } from "../../platform/pages/browser/dom.ts"
import { isRecord } from "../../platform/pages/browser/isRecord.ts"
import { checkoutEventDetail } from "./checkoutEventDetail.ts"
import { followableUrl } from "./followableUrl.ts"

const main = document.querySelector("main")
const back = element("back")
const message = element("message")
const fragment = new URLSearchParams(location.hash.slice(1))
const key = fragment.get("key") ?? ""

// Another link pasted into the same tab is another payment.
addEventListener("hashchange", () => location.reload())

const showMessage = (title: string, advice = "") => {
  const heading = document.createElement("strong")
  heading.textContent = title
  const text = document.createElement("p")
  text.textContent = advice
  message.replaceChildren(heading, ...(advice === "" ? [] : [text]))
  message.hidden = false
}

/** Exchanges a scanned code for its token, and puts the token into the URL, so that a reload shows the outcome. */
const resumePayment = async (resumeCode: string): Promise<string> => {
  const response = await fetch("/api/v1/payments/resume", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ resumeCode })
  }).catch(() => undefined)
  const answer: unknown = await response?.json().catch(() => undefined)
  const token = isRecord(answer) ? answer["intentToken"] : undefined
  if (typeof token === "string") {
    history.replaceState(null, "", `#${new URLSearchParams({ token, key })}`)
    return token
  }
  if (response?.status === 409)
    showMessage("This payment has ended.", "Look at the screen that showed the code.")
  else if (response?.status === 404)
    showMessage("This code belongs to no open payment.", "Scan it again, or go back to the shop.")
  else showMessage("The payment service does not respond.", "Check your connection and reload the page.")
  return ""
}

const show = (token: string, main: HTMLElement) => {
  const checkout = document.createElement("quittance-checkout")
  checkout.setAttribute("intent-token", token)
  checkout.setAttribute("publishable-key", key)
  let shop: URL | undefined
  checkout.addEventListener("opened", (event) => {
    shop = followableUrl(checkoutEventDetail(event)?.payment?.intentUrl ?? "")
    if (shop === undefined) return
    back.setAttribute("href", shop.href)
    back.setAttribute("aria-label", `Return to ${shop.host}`)
    back.textContent = `← ${shop.host}`
    back.hidden = false
  })
  checkout.addEventListener("closed", (event) => {
    // Cancelling keeps the page, so that the buyer may start again.
    if (checkoutEventDetail(event)?.state === "cancelled") return
    // An invalid token contains no shop.
    if (shop !== undefined) location.assign(shop)
    else if (history.length > 1) history.back()
    else showMessage("You can close this page.")
  })
  main.append(checkout)
}

const code = fragment.get("c")
const intentToken = fragment.get("token") ?? ""
if (main === null || key === "" || (code === null && intentToken === ""))
  showMessage("The address of this payment page is incomplete.", "Go back to the shop and start again.")
else if (code === null) show(intentToken, main)
else
  void resumePayment(code).then((token) => {
    if (token !== "") show(token, main)
  })
