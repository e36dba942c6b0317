// The playground page: creates a capped test intent, pays it, and shows the code and the webhook. The test
// publishable key is in the fragment (#pk=…), the query (?pk=…) or the form's field.

import { element, form, input } from "../../platform/pages/browser/dom.ts"
import { isRecord } from "../../platform/pages/browser/isRecord.ts"
import { checkoutEventDetail } from "./checkoutEventDetail.ts"

const paymentForm = form("form")
const keyField = input("key")
const problem = element("problem")
const place = element("checkout")
const events = element("events")
const status = element("delivery")
const attempts = element("attempts")
const payload = element("payload")
const stored = "quittance-playground"
const origin = QUITTANCE_BASE_URL

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value)

const get = async (path: string, key?: string): Promise<unknown> => {
  const response = await fetch(`${origin}/api/v1${path}`, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` }
  })
  const body: unknown = await response.json()
  if (!response.ok) throw new Error(String(at(body, "error", "message") ?? "The service is not responding."))
  return body
}

const showCode = async (key: string, amount: string) => {
  const integrity = await (await fetch(`${origin}/checkout.js.integrity`)).text()
  element("server-code").textContent = `curl ${origin}/api/v1/payment-intents \\
  -H 'authorization: Bearer sk_test_…' \\
  -H 'content-type: application/json' \\
  -d '{ "amount": "${amount}", "intentUrl": "https://shop.example.com/orders/1042" }'`
  element("page-code").textContent = `<script src="${origin}/checkout.js"
  integrity="${integrity.trim()}"
  crossorigin="anonymous" defer></script>

<quittance-checkout
  intent-token="eyJ…"
  publishable-key="${key === "" ? "pk_test_…" : key}"
></quittance-checkout>`
}

let watching = 0

const failures: Readonly<Record<string, string>> = {
  dns: "the host name does not resolve",
  blocked: "the address is not public",
  connect: "the connection failed",
  tls: "the TLS handshake failed or the certificate is not trusted",
  timeout: "there was no response in time",
  response: "the response is not HTTP",
  interrupted: "the service stopped during the attempt"
}

const attemptSentence = (count: number, attempt: unknown): string => {
  const [responseStatus, failure, duration] = [
    at(attempt, "responseStatus"),
    at(attempt, "failure"),
    at(attempt, "durationMs")
  ]
  const time = typeof duration === "number" ? ` after ${duration} ms` : ""
  if (typeof responseStatus === "number")
    return `Attempt ${count}: your endpoint answered ${responseStatus}${time}.`
  if (typeof failure === "string") return `Attempt ${count} failed${time}: ${failures[failure] ?? failure}.`
  return `Attempt ${count} is in progress.`
}

/** Shows the payment's delivery until it is accepted or has failed. */
const watchDelivery = async (paymentId: string, key: string) => {
  watching += 1
  const mine = watching
  for (let tries = 0; tries < 200 && mine === watching; tries++) {
    let answer: unknown
    try {
      answer = await get(`/checkout/test-delivery?paymentId=${encodeURIComponent(paymentId)}`, key)
    } catch {
      attempts.textContent = "The delivery cannot be shown here. See Webhooks in the dashboard."
      return
    }
    const delivery = at(answer, "delivery")
    if (isRecord(delivery) && mine === watching) {
      const list = Array.isArray(delivery["attempts"]) ? delivery["attempts"] : []
      const last: unknown = list.at(-1)
      status.textContent = String(delivery["status"])
      status.className = `pill ${String(delivery["status"])}`
      attempts.textContent =
        list.length === 0 ? "The first attempt is in progress." : attemptSentence(list.length, last)
      payload.hidden = false
      payload.textContent = JSON.stringify(JSON.parse(String(delivery["payload"])), null, 2)
      if (delivery["status"] !== "pending") return
    }
    await new Promise((resolve) => setTimeout(resolve, tries < 20 ? 300 : 2_000))
  }
}

const mount = (token: string, key: string) => {
  const checkout = document.createElement("quittance-checkout")
  checkout.setAttribute("intent-token", token)
  checkout.setAttribute("publishable-key", key)
  events.replaceChildren()
  status.textContent = "waiting"
  status.className = "pill"
  payload.hidden = true
  for (const name of ["ready", "opened", "statechange", "settled", "failed", "closed"]) {
    checkout.addEventListener(name, (event) => {
      const line = document.createElement("li")
      line.textContent = name === "statechange" ? `statechange ${checkoutEventDetail(event)?.state}` : name
      events.append(line)
    })
  }
  checkout.addEventListener("settled", (event) => {
    const id = checkoutEventDetail(event)?.paymentId
    if (id !== undefined) void watchDelivery(id, key)
  })
  place.replaceChildren(checkout)
}

const amountOf = () => String(new FormData(paymentForm).get("amount") ?? "1.00")

const start = async () => {
  const key = keyField.value.trim()
  problem.textContent = ""
  try {
    const query = new URLSearchParams({ pk: key, amount: amountOf() })
    const created = await get(`/checkout/playground-intent?${query}`)
    const token = at(created, "intentToken")
    if (typeof token !== "string") throw new Error("The service returned no intent.")
    sessionStorage.setItem(stored, JSON.stringify({ token, key }))
    mount(token, key)
    await showCode(key, amountOf())
  } catch (error) {
    problem.textContent = error instanceof Error ? error.message : String(error)
  }
}

paymentForm.addEventListener("submit", (event) => {
  event.preventDefault()
  void start()
})
paymentForm.addEventListener("change", () => void showCode(keyField.value.trim(), amountOf()))

/** Shows the same payment after a reload. */
const resume = async (key: string): Promise<boolean> => {
  const session: unknown = JSON.parse(sessionStorage.getItem(stored) ?? "null")
  const token = at(session, "token")
  if (typeof token !== "string" || at(session, "key") !== key) return false
  mount(token, key)
  return true
}

const initialKey =
  new URLSearchParams(location.hash.slice(1)).get("pk") ??
  new URLSearchParams(location.search).get("pk") ??
  ""
keyField.value = initialKey
void showCode(initialKey, amountOf())
if (initialKey !== "") {
  void resume(initialKey)
    .catch(() => false)
    .then((resumed) => (resumed ? undefined : start()))
}
addEventListener("hashchange", () => location.reload())
