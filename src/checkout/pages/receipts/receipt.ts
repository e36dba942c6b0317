// /receipt/{id}: reads the receipt, verifies its signature, and shows it.
import { isTest } from "../../../domain/networks.ts"
import { element } from "../../../platform/pages/browser/dom.ts"
import { language, money, text } from "./receiptWords.ts"
import { type SinceSigned, showFacts } from "./showFacts.ts"
import { verifyReceipt } from "./verifyReceipt.ts"

const verified = element("verified")

interface ReadReceipt extends SinceSigned {
  readonly jws: string
  readonly keys: unknown
  /** The time since which the chain no longer shows its transfer. */
  readonly droppedAt?: string
}

/** 400 and 404: no receipt has this id. */
const answerOf = async (path: string): Promise<Response> => {
  const answer = await fetch(path)
  if (answer.ok || answer.status === 400 || answer.status === 404) return answer
  throw new Error(`${path}: ${answer.status}`)
}

const read = async (): Promise<ReadReceipt | "unknown"> => {
  const id = location.pathname.split("/").at(-1) ?? ""
  const answer = await answerOf(`/api/v1/receipts/${encodeURIComponent(id)}`)
  if (!answer.ok) return "unknown"
  const body: Omit<ReadReceipt, "keys"> = await answer.json()
  return { ...body, keys: await (await answerOf("/.well-known/jwks.json")).json() }
}

const show = async () => {
  const receipt = await read()
  const claims = receipt === "unknown" ? undefined : await verifyReceipt(receipt.jws, receipt.keys)
  document.querySelector("article")?.removeAttribute("aria-busy")
  if (receipt === "unknown" || claims === undefined) {
    verified.className = "verified bad"
    verified.textContent = text(receipt === "unknown" ? "unknown" : "broken")
    return
  }
  document.title = text("titled", { reference: claims.refCode })
  element("merchant").textContent = claims.merchant
  element("amount").textContent = money(claims.amount)
  element("mode").hidden = !isTest(claims.env)
  showFacts(element("facts"), claims, false, receipt)
  const isDropped = receipt.droppedAt !== undefined
  const holds = text("holds", { host: new URL(claims.iss).host })
  verified.className = isDropped ? "verified bad" : "verified good"
  verified.textContent = isDropped ? `${text("dropped")} ${holds}` : holds
  if (form !== null) form.hidden = isDropped
  element("save").addEventListener("click", () => {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([receipt.jws], { type: "application/jose" }))
    link.download = `receipt-${claims.refCode}.jws`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}

const form = document.getElementById("mail")
const address = document.getElementById("email")

const sendMail = async (email: string) => {
  const id = location.pathname.split("/").at(-1) ?? ""
  const outcome = element("mail-outcome")
  const answer = await fetch(`/api/v1/receipts/${encodeURIComponent(id)}/mail`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, language })
  }).catch(() => undefined)
  outcome.textContent = text(answer?.ok === true ? "sent" : "notSent")
}

form?.addEventListener("submit", (event) => {
  event.preventDefault()
  if (address instanceof HTMLInputElement) void sendMail(address.value.trim())
})

element("print").addEventListener("click", () => print())
show().catch(() => {
  verified.className = "verified bad"
  verified.textContent = text("unreadable")
})
