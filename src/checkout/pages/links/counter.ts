// /counter#link={id}: a shop's tablet. Turns an amount into a code that the customer scans, follows the payment, also
// after a reload, and adds up the device's day.

import { isTest } from "../../../domain/networks.ts"
import { element, input } from "../../../platform/pages/browser/dom.ts"
import { isRecord } from "../../../platform/pages/browser/isRecord.ts"
import { canStore } from "../../component/canStore.ts"
import { atomicOf, usdOf } from "../../component/erc20.ts"
import { qrCode } from "../../component/qr.ts"
import { type Link, LinkProblem, type Opened, openLink, paymentOf, readLink } from "./linkApi.ts"
import { closedWords, errorText, money, say, text } from "./linkWords.ts"
import { typedAmount } from "./typedAmount.ts"

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

/** A sale that the shop has cancelled. */
interface CancelledSale extends Sale {
  /** Unix milliseconds. */
  readonly cancelledAt: number
}

const id = new URLSearchParams(location.hash.slice(1)).get("link") ?? ""
const saleKey = `quittance-counter-sale:${id}`
const dayKey = `quittance-counter-day:${id}`
const cancelledKey = `quittance-counter-cancelled:${id}`
/** How long a cancelled sale is still checked: the customer may have been about to pay. */
const cancelledMillis = 3_600_000
const [message, form, waiting, paid] = [
  element("message"),
  element("form"),
  element("waiting"),
  element("paid")
]
const amount = input("amount")
let link: Link | undefined
let polls: ReturnType<typeof setTimeout> | undefined

// Another link pasted into the same tab is another counter.
addEventListener("hashchange", () => location.reload())

const today = () => new Date().toLocaleDateString("en-CA")

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
const isCancelled = (value: unknown): value is ReadonlyArray<CancelledSale> =>
  Array.isArray(value) && value.every((sale) => isSale(sale) && has(sale, ["cancelledAt"]))
const isDay = (value: unknown): value is Day => has(value, ["date", "count", "atomic"])

const dayNow = (): Day => {
  const stored = read(dayKey, isDay)
  return stored?.date === today() ? stored : { date: today(), count: 0, atomic: "0" }
}

const showTotal = () => {
  const { atomic, count } = dayNow()
  const total = text("today", { total: money(usdOf(BigInt(atomic))), count: String(count) })
  // An unchanged total is not announced again.
  if (element("total").textContent !== total) element("total").textContent = total
}

const show = (part: HTMLElement) => {
  for (const section of [form, waiting, paid]) section.hidden = section !== part
}

const askAmount = () => {
  clearTimeout(polls)
  localStorage.removeItem(saleKey)
  amount.value = ""
  show(form)
  amount.focus()
}

const addToDay = (sale: Sale) => {
  const { atomic, count } = dayNow()
  localStorage.setItem(
    dayKey,
    JSON.stringify({
      date: today(),
      count: count + 1,
      atomic: (BigInt(atomic) + atomicOf(sale.amount)).toString()
    })
  )
  showTotal()
}

const finish = (sale: Sale) => {
  // The sale is removed together with its sum, so a reload in between counts it once.
  if (read(saleKey, isSale) !== undefined) {
    localStorage.removeItem(saleKey)
    addToDay(sale)
  }
  say(element("thanks"), text("salePaid", { amount: money(sale.amount) }))
  show(paid)
  element("thanks").focus()
}

/** The key to read the sale with, if its own key was revoked. */
const renewSale = async (sale: Sale): Promise<Opened> => {
  const opened = await openLink(id, { paymentId: sale.paymentId })
  const renew = <S extends Sale>(stored: S): S =>
    stored.paymentId === sale.paymentId ? { ...stored, ...opened } : stored
  const stored = read(saleKey, isSale)
  if (stored !== undefined) localStorage.setItem(saleKey, JSON.stringify(renew(stored)))
  storeCancelled(cancelledSales().map(renew))
  return opened
}

const statusOf = (sale: Sale) =>
  paymentOf(sale)
    .catch(async (error: unknown) => {
      if (!(error instanceof LinkProblem) || error.code !== "INVALID_API_KEY") throw error
      return paymentOf(await renewSale(sale))
    })
    .then(
      ({ status }) => status,
      () => "unknown"
    )

const cancelledSales = () => read(cancelledKey, isCancelled) ?? []
const storeCancelled = (sales: ReadonlyArray<CancelledSale>) =>
  localStorage.setItem(cancelledKey, JSON.stringify(sales))

const cancel = () => {
  const sale = read(saleKey, isSale)
  if (sale !== undefined) storeCancelled([...cancelledSales(), { ...sale, cancelledAt: Date.now() }])
  message.textContent = ""
  askAmount()
}

const lookAtCancelled = async (): Promise<void> => {
  // A new day may have begun.
  showTotal()
  for (const sale of cancelledSales()) {
    const status = await statusOf(sale)
    const isOver = status === "failed" || Date.now() - sale.cancelledAt > cancelledMillis
    if (status !== "settled" && !isOver) continue
    const others = cancelledSales().filter(({ paymentId }) => paymentId !== sale.paymentId)
    if (others.length === cancelledSales().length) continue
    storeCancelled(others)
    if (status !== "settled") continue
    addToDay(sale)
    say(message, text("cancelledPaid", { amount: money(sale.amount) }))
  }
  setTimeout(() => void lookAtCancelled(), 3_000)
}

const follow = async (sale: Sale, missed = 0): Promise<void> => {
  const status = await statusOf(sale)
  const stored = read(saleKey, isSale)
  if (stored?.paymentId !== sale.paymentId) return
  const silent = status === "unknown" ? missed + 1 : 0
  if (silent === 2) message.textContent = text("offline")
  if (silent === 0 && missed > 1) message.textContent = ""
  if (status === "settled") return finish(sale)
  if (status === "failed") {
    askAmount()
    message.textContent = text("saleExpired")
    return
  }
  polls = setTimeout(() => void follow(stored, silent), 1_500)
}

const wait = (sale: Sale) => {
  element("due").textContent = money(sale.amount)
  element("code").replaceChildren(
    // Short, so that phones can read it from a distance.
    qrCode(`${QUITTANCE_BASE_URL}/link/${id}#payment=${sale.paymentId}`, text("qrSale"))
  )
  show(waiting)
  element("cancel").focus()
  void follow(sale)
}

const charge = async () => {
  message.textContent = ""
  const typed = typedAmount(amount.value)
  if (typed === undefined) {
    say(message, text("noThousands"))
    return
  }
  const opened = await openLink(id, { amount: typed })
  // With a one-time link, somebody may be paying another amount.
  const { amount: due, id: paymentId } = await paymentOf(opened)
  const sale: Sale = { ...opened, amount: due, paymentId }
  storeCancelled(cancelledSales().filter((sale) => sale.paymentId !== paymentId))
  localStorage.setItem(saleKey, JSON.stringify(sale))
  wait(sale)
}

for (const key of ["1", "2", "3", "4", "5", "6", "7", "8", "9", ".", "0", "⌫"]) {
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = key
  if (key === "⌫") button.setAttribute("aria-label", text("delete"))
  if (key === ".") button.setAttribute("aria-label", text("decimalPoint"))
  // The field keeps the focus, so that keys typed after a touch go there, and Enter charges.
  button.addEventListener("mousedown", (event) => event.preventDefault())
  button.addEventListener("click", () => {
    amount.value = key === "⌫" ? amount.value.slice(0, -1) : amount.value + key
  })
  element("keys").append(button)
}

document.addEventListener("keydown", ({ key }) => {
  if (form.hidden || document.activeElement !== document.body) return
  if (key.length === 1 || key === "Backspace" || key === "Enter") amount.focus()
})
let charging = false
form.addEventListener("submit", (event) => {
  event.preventDefault()
  // Pressing Enter twice creates one sale.
  if (charging) return
  charging = true
  charge()
    .catch((error: unknown) => {
      say(message, errorText(error, link))
    })
    .finally(() => {
      charging = false
    })
})
element("cancel").addEventListener("click", cancel)
element("next").addEventListener("click", askAmount)

readLink(id)
  .then((opened) => {
    // A sale whose record is lost on a reload would be charged again.
    if (!canStore()) {
      message.textContent = text("noStorage")
      return
    }
    link = opened
    element("merchant").textContent = opened.merchant
    element("mode").hidden = !isTest(opened.env)
    document.title = text("counterOf", { merchant: opened.merchant })
    showTotal()
    void lookAtCancelled()
    const sale = read(saleKey, isSale)
    if (sale !== undefined) wait(sale)
    else if (opened.state === "open") askAmount()
    else message.textContent = closedWords[opened.state] ?? ""
  })
  .catch(() => {
    message.textContent = text("openCounter")
  })
