// /counter#link={id}: a shop's tablet. An amount becomes a code that the customer scans; the page follows the
// payment, also after a reload, and adds up the day.
import { qrCode } from "../../checkout/component/qr.ts"
import { element, input } from "../../pages/browser/dom.ts"
import { isRecord } from "../../pages/browser/isRecord.ts"
import { type Link, type Opened, openLink, paymentOf, readLink } from "./linkApi.ts"
import { closedWords, money, text, told } from "./linkWords.ts"

interface Sale extends Opened {
  readonly amount: string
  readonly paymentId: string
}

interface Day {
  /** Local date. */
  readonly date: string
  readonly count: number
  /** In millionths of a dollar. */
  readonly atomic: string
}

const id = new URLSearchParams(location.hash.slice(1)).get("link") ?? ""
const [saleKey, dayKey] = [`quittance-counter-sale:${id}`, `quittance-counter-day:${id}`]
const [message, form, waiting, paid] = [
  element("message"),
  element("form"),
  element("waiting"),
  element("paid")
]
const amount = input("amount")
let link: Link | undefined
let polls: ReturnType<typeof setTimeout> | undefined

const today = () => new Date().toLocaleDateString("en-CA")
const atomicOf = (text: string): bigint => {
  const [whole = "0", fraction = ""] = text.split(".")
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0").slice(0, 6))
}
const usdOf = (atomic: bigint): string =>
  `${atomic / 1_000_000n}.${(atomic % 1_000_000n)
    .toString()
    .padStart(6, "0")
    .replace(/0{1,4}$/, "")}`

const read = <A>(key: string, holds: (value: unknown) => value is A): A | undefined => {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "null")
    return holds(value) ? value : undefined
  } catch {
    return undefined
  }
}
const has = (value: unknown, names: ReadonlyArray<string>) =>
  isRecord(value) && names.every((name) => name in value)
const isSale = (value: unknown): value is Sale =>
  has(value, ["amount", "intentToken", "paymentId", "publishableKey"])
const isDay = (value: unknown): value is Day => has(value, ["date", "count", "atomic"])

const dayNow = (): Day => {
  const kept = read(dayKey, isDay)
  return kept?.date === today() ? kept : { date: today(), count: 0, atomic: "0" }
}

const showTotal = () => {
  const { atomic, count } = dayNow()
  element("total").textContent = text("today", { total: money(usdOf(BigInt(atomic))), count: String(count) })
}

const show = (part: HTMLElement) => {
  for (const one of [form, waiting, paid]) one.hidden = one !== part
}

const askAmount = () => {
  clearTimeout(polls)
  localStorage.removeItem(saleKey)
  amount.value = ""
  show(form)
  amount.focus()
}

const finish = (sale: Sale) => {
  const { atomic, count } = dayNow()
  // The sale goes with its sum: a reload in between counts it once.
  if (read(saleKey, isSale) !== undefined) {
    localStorage.removeItem(saleKey)
    localStorage.setItem(
      dayKey,
      JSON.stringify({
        date: today(),
        count: count + 1,
        atomic: (BigInt(atomic) + atomicOf(sale.amount)).toString()
      })
    )
  }
  showTotal()
  element("thanks").textContent = text("salePaid", { amount: money(sale.amount) })
  show(paid)
  element("thanks").focus()
}

const follow = async (sale: Sale): Promise<void> => {
  const status = await paymentOf(sale).then(
    (payment) => payment.status,
    () => "unknown"
  )
  if (read(saleKey, isSale)?.intentToken !== sale.intentToken) return
  if (status === "settled") return finish(sale)
  if (status === "failed") {
    askAmount()
    message.textContent = text("saleExpired")
    return
  }
  polls = setTimeout(() => void follow(sale), 1_500)
}

const wait = (sale: Sale) => {
  element("due").textContent = money(sale.amount)
  element("code").replaceChildren(
    // Short, so that phones read it from afar.
    qrCode(`${QUITTANCE_BASE_URL}/link/${id}#payment=${sale.paymentId}`, text("qrSale"))
  )
  show(waiting)
  element("cancel").focus()
  void follow(sale)
}

const charge = async () => {
  message.textContent = ""
  const asked = amount.value.trim().replace(",", ".")
  const opened = await openLink(id, { amount: asked })
  const sale: Sale = { ...opened, amount: asked, paymentId: (await paymentOf(opened)).id }
  localStorage.setItem(saleKey, JSON.stringify(sale))
  wait(sale)
}

for (const key of ["1", "2", "3", "4", "5", "6", "7", "8", "9", ".", "0", "⌫"]) {
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = key
  if (key === "⌫") button.setAttribute("aria-label", text("delete"))
  if (key === ".") button.setAttribute("aria-label", text("decimalPoint"))
  button.addEventListener("click", () => {
    amount.value = key === "⌫" ? amount.value.slice(0, -1) : amount.value + key
  })
  element("keys").append(button)
}

form.addEventListener("submit", (event) => {
  event.preventDefault()
  charge().catch((error: unknown) => {
    message.textContent = told(error, link)
  })
})
element("cancel").addEventListener("click", askAmount)
element("next").addEventListener("click", askAmount)

readLink(id)
  .then((known) => {
    link = known
    element("merchant").textContent = known.merchant
    document.title = text("counterOf", { merchant: known.merchant })
    showTotal()
    if (known.state !== "open") {
      message.textContent = closedWords[known.state] ?? ""
      return
    }
    const sale = read(saleKey, isSale)
    if (sale === undefined) askAmount()
    else wait(sale)
  })
  .catch(() => {
    message.textContent = text("openCounter")
  })
