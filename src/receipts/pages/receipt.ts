// /receipt/{id}: reads the receipt, verifies its signature, and shows it.
import { money, showFacts } from "./showFacts.ts"
import { verifyReceipt } from "./verifyReceipt.ts"

const element = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`no #${id}`)
  return found
}

const verified = element("verified")

const read = async (): Promise<{ readonly jws: string; readonly keys: unknown } | "unknown"> => {
  const id = location.pathname.split("/").at(-1) ?? ""
  const answer = await fetch(`/api/v1/receipts/${encodeURIComponent(id)}`)
  if (!answer.ok) return "unknown"
  const { jws }: { readonly jws: string } = await answer.json()
  return { jws, keys: await (await fetch("/.well-known/jwks.json")).json() }
}

const show = async () => {
  const found = await read()
  const claims = found === "unknown" ? undefined : await verifyReceipt(found.jws, found.keys)
  document.querySelector("article")?.removeAttribute("aria-busy")
  if (found === "unknown" || claims === undefined) {
    verified.className = "verified bad"
    verified.textContent =
      found === "unknown" ? "There is no receipt at this address." : "The receipt’s signature does not hold."
    return
  }
  document.title = `Receipt ${claims.refCode}`
  element("merchant").textContent = claims.merchant
  element("amount").textContent = money(claims.amount)
  element("mode").hidden = claims.env === "live"
  showFacts(element("facts"), claims, false)
  verified.className = "verified good"
  verified.textContent = `Signed by ${new URL(claims.iss).host}; the signature holds.`
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
  verified.textContent = "The receipt cannot be read now. Reload the page."
})
