// /pay#token=…&key=…: the checkout for merchants who link to it. Token and key stand in
// the fragment, which browsers do not send.
import { checkoutEventDetail } from "./checkoutEventDetail.ts"
import { followableUrl } from "./followableUrl.ts"

const element = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`no #${id}`)
  return found
}

const main = document.querySelector("main")
const back = element("back")
const message = element("message")
const fragment = new URLSearchParams(location.hash.slice(1))
const [token, key] = [fragment.get("token") ?? "", fragment.get("key") ?? ""]

// Another link pasted into the same tab is another payment.
addEventListener("hashchange", () => location.reload())

const tell = (text: string) => {
  message.hidden = false
  message.textContent = text
}

if (token === "" || key === "" || main === null) {
  tell("This payment link is incomplete. Go back to the shop and start again.")
} else {
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
    // A token that opens nothing names no shop.
    if (shop !== undefined) location.assign(shop)
    else if (history.length > 1) history.back()
    else tell("You may close this page.")
  })
  main.append(checkout)
}
