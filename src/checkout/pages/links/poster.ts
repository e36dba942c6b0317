// /link/{id}/poster: the link as a code to print and share.

import { isTest } from "../../../domain/networks.ts"
import { element } from "../../../platform/pages/browser/dom.ts"
import { qrCode } from "../../component/qr.ts"
import { readLink } from "./linkApi.ts"
import { errorText, money, text } from "./linkWords.ts"

const id = location.pathname.split("/")[2] ?? ""
const message = element("message")

const share = async (title: string, url: string) => {
  if (typeof navigator.share === "function") return navigator.share({ title, url })
  await navigator.clipboard.writeText(url)
  message.textContent = text("copied")
}

element("print").addEventListener("click", () => print())

readLink(id)
  .then((link) => {
    document.title = `${link.description}, ${link.merchant}`
    element("merchant").textContent = link.merchant
    element("mode").hidden = !isTest(link.env)
    element("description").textContent = link.description
    element("amount").textContent = link.amount === undefined ? "" : money(link.amount)
    element("scan").hidden = false
    element("code").replaceChildren(qrCode(link.url, text("qrLink")))
    element("url").textContent = link.url
    element("share").addEventListener("click", () => {
      share(link.description, link.url).catch(() => {})
    })
  })
  .catch((error: unknown) => {
    message.textContent = errorText(error, undefined)
  })
