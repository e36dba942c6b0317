// /receipt/{id}: reads the receipt, verifies its signature, and shows it.
import { element } from "../../pages/browser/dom.ts"
import { money, text } from "./receiptWords.ts"
import { type ShownRefund, showFacts } from "./showFacts.ts"
import { verifyReceipt } from "./verifyReceipt.ts"

const verified = element("verified")

interface ReadReceipt {
  readonly jws: string
  readonly keys: unknown
  readonly refunded: ReadonlyArray<ShownRefund>
}

const read = async (): Promise<ReadReceipt | "unknown"> => {
  const id = location.pathname.split("/").at(-1) ?? ""
  const answer = await fetch(`/api/v1/receipts/${encodeURIComponent(id)}`)
  if (!answer.ok) return "unknown"
  const { jws, refunded }: Omit<ReadReceipt, "keys"> = await answer.json()
  return { jws, refunded, keys: await (await fetch("/.well-known/jwks.json")).json() }
}

const show = async () => {
  const found = await read()
  const claims = found === "unknown" ? undefined : await verifyReceipt(found.jws, found.keys)
  document.querySelector("article")?.removeAttribute("aria-busy")
  if (found === "unknown" || claims === undefined) {
    verified.className = "verified bad"
    verified.textContent = text(found === "unknown" ? "unknown" : "broken")
    return
  }
  document.title = text("titled", { reference: claims.refCode })
  element("merchant").textContent = claims.merchant
  element("amount").textContent = money(claims.amount)
  element("mode").hidden = claims.env === "live"
  showFacts(element("facts"), claims, false, found.refunded)
  verified.className = "verified good"
  verified.textContent = text("holds", { host: new URL(claims.iss).host })
  element("save").addEventListener("click", () => {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([found.jws], { type: "application/jose" }))
    link.download = `receipt-${claims.refCode}.jws`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}

element("print").addEventListener("click", () => print())
show().catch(() => {
  verified.className = "verified bad"
  verified.textContent = text("unreadable")
})
