// /verify-receipt: checks a receipt with the keys in the page, without a network. The page requests only keys that are
// newer than itself.
import { isTest } from "../../../domain/networks.ts"
import { text as t } from "./receiptWords.ts"
import { showFacts } from "./showFacts.ts"
import { namesUnknownKey, type ReceiptClaims, verifyReceipt } from "./verifyReceipt.ts"

const form = document.getElementById("form")
const text = document.getElementById("jws")
const file = document.getElementById("file")
const facts = document.getElementById("facts")
const outcome = document.getElementById("outcome")
const keysElement = document.getElementById("keys")
let keys: unknown = JSON.parse(keysElement?.textContent ?? "null")

const newestKeys = async (): Promise<unknown> => {
  try {
    const answer = await fetch(keysElement?.dataset["url"] ?? "")
    return answer.ok ? await answer.json() : undefined
  } catch {
    return undefined
  }
}

const check = async (jws: string): Promise<ReceiptClaims | "unknown key" | undefined> => {
  if (!namesUnknownKey(jws, keys)) return verifyReceipt(jws, keys)
  const newest = await newestKeys()
  if (newest === undefined) return "unknown key"
  keys = newest
  return verifyReceipt(jws, keys)
}

if (
  form !== null &&
  text instanceof HTMLTextAreaElement &&
  file instanceof HTMLInputElement &&
  facts !== null &&
  outcome !== null
) {
  file.addEventListener("change", () => {
    void file.files?.[0]?.text().then((content) => {
      text.value = content
    })
  })
  // The verdict on one receipt must not be shown beside another receipt.
  form.addEventListener("input", () => {
    outcome.replaceChildren()
    outcome.className = "verified"
    facts.replaceChildren()
  })
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const jws = text.value
    void check(jws).then((receipt) => {
      if (text.value !== jws) return
      if (receipt === undefined || receipt === "unknown key") {
        outcome.className = "verified bad"
        outcome.textContent = t(receipt === undefined ? "notGenuine" : "unknownKey")
        facts.replaceChildren()
        return
      }
      outcome.className = "verified good"
      const genuine = t("genuine", { merchant: receipt.merchant })
      outcome.textContent = !isTest(receipt.env) ? genuine : `${genuine} ${t("testPayment")}`
      showFacts(facts, receipt, true)
    })
  })
}
