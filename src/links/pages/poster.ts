// /link/{id}/poster: the link as a code to print and to share.
import { qrCode } from "../../checkout/component/qr.ts"
import { element, money, readLink } from "./linkApi.ts"

const id = location.pathname.split("/")[2] ?? ""
const message = element("message")

const share = async (title: string, url: string) => {
  if (typeof navigator.share === "function") return navigator.share({ title, url })
  await navigator.clipboard.writeText(url)
  message.textContent = "The link is copied."
}

element("print").addEventListener("click", () => print())

readLink(id)
  .then((link) => {
    document.title = `${link.description}, ${link.merchant}`
    element("merchant").textContent = link.merchant
    element("description").textContent = link.description
    element("amount").textContent = link.amount === undefined ? "" : money(link.amount)
    element("code").replaceChildren(qrCode(link.url, "QR code of the payment link"))
    element("url").textContent = link.url
    element("share").addEventListener("click", () => {
      share(link.description, link.url).catch(() => {})
    })
  })
  .catch(() => {
    message.textContent = "There is no payment link at this address."
  })
