// /verify-receipt: checks a receipt by the keys that stand in the page, without a network. Only a key that is
// newer than the page is asked for.
import { text as t } from "./receiptWords.ts"
import { showFacts } from "./showFacts.ts"
import { namesUnknownKey, type ReceiptClaims, verifyReceipt } from "./verifyReceipt.ts"

const form = document.getElementById("form")
const text = document.getElementById("jws")
const file = document.getElementById("file")
const facts = document.getElementById("facts")
const outcome = document.getElementById("outcome")
const kept = document.getElementById("keys")
let keys: unknown = JSON.parse(kept?.textContent ?? "null")

const newestKeys = async (): Promise<unknown> => {
  try {
    const answer = await fetch(kept?.dataset["url"] ?? "")
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
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    void check(text.value).then((found) => {
      if (found === undefined || found === "unknown key") {
        outcome.className = "verified bad"
        outcome.textContent = t(found === undefined ? "notGenuine" : "unknownKey")
        facts.replaceChildren()
        return
      }
      outcome.className = "verified good"
      outcome.textContent = t("genuine", { merchant: found.merchant })
      showFacts(facts, found, true)
    })
  })
}
