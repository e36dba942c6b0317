// /verify-receipt: checks a receipt by the keys that stand in the page, without a network.
import { text as t } from "./receiptWords.ts"
import { showFacts } from "./showFacts.ts"
import { verifyReceipt } from "./verifyReceipt.ts"

const form = document.getElementById("form")
const text = document.getElementById("jws")
const file = document.getElementById("file")
const facts = document.getElementById("facts")
const outcome = document.getElementById("outcome")
const keys: unknown = JSON.parse(document.getElementById("keys")?.textContent ?? "null")

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
    void verifyReceipt(text.value, keys).then((claims) => {
      outcome.className = claims === undefined ? "verified bad" : "verified good"
      outcome.textContent =
        claims === undefined ? t("notGenuine") : t("genuine", { merchant: claims.merchant })
      if (claims === undefined) facts.replaceChildren()
      else showFacts(facts, claims, true)
    })
  })
}
