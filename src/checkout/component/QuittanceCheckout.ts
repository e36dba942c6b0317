// <quittance-checkout intent-token="…" publishable-key="…">: the element around the checkout. Its events are for
// display only; ship goods on the webhook.

import tokens from "../../platform/pages/browser/tokens.css" with { type: "text" }
import { Checkout } from "./Checkout.ts"
import { deadlineText, millisLeft } from "./deadline.ts"
import { textOf } from "./elements.ts"
import { readIntentToken } from "./intentToken.ts"
import type { CheckoutState, Model } from "./Model.ts"
import { render } from "./render.ts"
import type { CheckoutPayment } from "./service.ts"
import styles from "./styles.css" with { type: "text" }
import { textColorOn } from "./textColorOn.ts"
import { type Translation, translation } from "./translate.ts"
import { isPhone } from "./walletApps.ts"

/** The detail of every event. `payment` is present once the service has opened it. */
export interface CheckoutEventDetail {
  readonly paymentId: string | undefined
  readonly payment: CheckoutPayment | undefined
  readonly state: CheckoutState
}

const maxDescriptionLength = 200
/**
 * A shop's page may set the token after its server has responded. A token that is missing after this time is logged.
 */
const incompleteMillis = 10_000

export type CheckoutEventName = "ready" | "opened" | "statechange" | "settled" | "failed" | "closed"

export class QuittanceCheckout extends HTMLElement {
  static readonly observedAttributes = ["intent-token", "publishable-key", "lang", "description"]

  readonly #root: ShadowRoot
  readonly #live = document.createElement("div")
  #checkout: Checkout | undefined
  #shown: Model | undefined
  #drawn: { readonly checkout: Checkout; readonly markup: string } | undefined
  #announced = ""
  #starting = false
  #ticking: ReturnType<typeof setInterval> | undefined
  #incomplete: ReturnType<typeof setTimeout> | undefined

  constructor() {
    super()
    this.#root = this.attachShadow({ mode: "open" })
    // A constructed sheet is not an inline style, so it needs nothing from the page's CSP.
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(tokens + styles)
    this.#root.adoptedStyleSheets = [sheet]
    this.#live.className = "visually-hidden"
    this.#live.setAttribute("role", "status")
    this.#live.setAttribute("aria-live", "polite")
    this.#root.append(this.#live)
  }

  /** The state that is shown. */
  get state(): CheckoutState {
    return this.#checkout?.model.state ?? "loading"
  }

  connectedCallback(): void {
    this.#restart()
    this.#ticking = setInterval(() => this.#tick(), 1_000)
  }

  disconnectedCallback(): void {
    clearInterval(this.#ticking)
    clearTimeout(this.#incomplete)
    this.#checkout?.stop()
    this.#checkout = undefined
    this.#shown = undefined
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (!this.isConnected || before === after) return
    if (name === "lang" || name === "description") this.#show()
    else this.#restart()
  }

  /** Starts the checkout once for attributes that a framework sets one after the other. */
  #restart(): void {
    if (this.#starting) return
    this.#starting = true
    queueMicrotask(() => {
      this.#starting = false
      if (!this.isConnected) return
      this.#checkout?.stop()
      this.#shown = undefined
      const intentToken = this.getAttribute("intent-token") ?? ""
      const publishableKey = this.getAttribute("publishable-key") ?? ""
      this.#checkout = undefined
      clearTimeout(this.#incomplete)
      const start = () => this.#start(intentToken, publishableKey)
      if (intentToken !== "" && publishableKey !== "") return start()
      this.#root.replaceChildren(this.#live)
      // A single missing attribute is a mistake.
      if (intentToken === publishableKey) return
      this.#incomplete = setTimeout(() => {
        console.error(
          `<quittance-checkout> ${intentToken === "" ? "intent-token" : "publishable-key"} is empty.`
        )
        start()
      }, incompleteMillis)
    })
  }

  #start(intentToken: string, publishableKey: string): void {
    const checkout: Checkout = new Checkout({
      baseUrl: QUITTANCE_BASE_URL,
      intentToken,
      publishableKey,
      changed: () => {
        if (this.#checkout === checkout) this.#show()
      }
    })
    this.#checkout = checkout
    this.#show()
    checkout.start()
  }

  #emit(name: CheckoutEventName): void {
    const { model, paymentId } = this.#checkout ?? {}
    const detail: CheckoutEventDetail = { paymentId, payment: model?.payment, state: this.state }
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail }))
  }

  get #translation(): Translation {
    const own = this.getAttribute("lang")
    return translation(own === null || own === "" || own === "auto" ? navigator.languages : [own])
  }

  #show(): void {
    const checkout = this.#checkout
    if (checkout === undefined) return
    const { model } = checkout
    const before = this.#shown
    this.#shown = model
    this.#draw(checkout)
    this.dataset["state"] = model.state
    if (before === undefined) return
    if (before.state === "loading" && model.state !== "loading") this.#emit("ready")
    if (before.payment === undefined && model.payment !== undefined) this.#emit("opened")
    if (before.state === model.state) return
    this.#emit("statechange")
    if (model.state === "settled") this.#emit("settled")
    if (model.state === "failed" || model.state === "expired") this.#emit("failed")
    if (model.state === "cancelled" && model.reason === "cancelledByBuyer") this.#emit("closed")
  }

  /** The description from the shop's page: one line of plain text. */
  get #description(): string {
    const text = (this.getAttribute("description") ?? "").replace(/[\s\p{Cc}]+/gu, " ").trim()
    return text.length > maxDescriptionLength ? `${text.slice(0, maxDescriptionLength - 1)}…` : text
  }

  get #millisLeft(): number | undefined {
    return this.#checkout && millisLeft(this.#checkout.model, Date.now())
  }

  #deadline(): string | undefined {
    const left = this.#millisLeft
    return left === undefined ? undefined : deadlineText(this.#translation, left, Date.now())
  }

  /** Updates the seconds in place, without a redraw. A screen reader announces only the last minute. */
  #tick(): void {
    const [left, shown] = [this.#millisLeft, this.#root.querySelector(".deadline")]
    if (left === undefined || shown === null) return
    if (left <= 0) {
      this.#checkout?.send({ type: "TimeOver" })
      return
    }
    const text = this.#deadline() ?? ""
    if (shown.textContent !== text) shown.textContent = text
    if (left > 59_000 && left <= 60_000) this.#live.replaceChildren(textOf(text))
  }

  /** Token and key are in the fragment, which browsers do not send. */
  get #payUrl(): string {
    const fragment = new URLSearchParams({
      token: this.getAttribute("intent-token") ?? "",
      key: this.getAttribute("publishable-key") ?? ""
    })
    return `${QUITTANCE_BASE_URL}/pay#${fragment}`
  }

  /** Like `#payUrl`, but short enough for a phone to scan at arm's length. */
  #scanUrl(resumeCode: string | undefined): string {
    if (resumeCode === undefined) return this.#payUrl
    return `${QUITTANCE_BASE_URL}/pay#c=${resumeCode}&key=${this.getAttribute("publishable-key") ?? ""}`
  }

  /** Applies the merchant's colour with legible text. Colours that the page sets take precedence. */
  #applyAccent(color: string | undefined): void {
    const text = color === undefined ? undefined : textColorOn(color)
    if (color === undefined || text === undefined) return
    this.style.setProperty("--_merchant", color)
    this.style.setProperty("--_merchant-text", text)
  }

  /**
   * True if the shown card is the same, so that reading and selecting are not interrupted. Compares the markup as
   * drawn, because the page may have been translated since.
   */
  #isDrawn(checkout: Checkout, markup: string): boolean {
    if (this.#drawn?.checkout !== checkout || this.#drawn.markup !== markup) return false
    this.#root.querySelector(".deadline")?.replaceChildren(this.#deadline() ?? "")
    return true
  }

  /** Replaces the card. Keeps the focus where it was, or moves it to the new title. */
  #draw(checkout: Checkout): void {
    const focused = this.#root.activeElement
    const key = focused instanceof HTMLElement ? (focused.dataset["key"] ?? "") : ""
    const { card, announcement } = render(checkout.model, {
      translation: this.#translation,
      claims: readIntentToken(this.getAttribute("intent-token") ?? ""),
      description: this.#description,
      deadline: this.#deadline(),
      payUrl: this.#payUrl,
      hosted: top === self && location.origin === new URL(QUITTANCE_BASE_URL).origin,
      scanUrl: this.#scanUrl(checkout.resumeCode),
      phone: isPhone(navigator),
      send: (action) => checkout.send(action),
      close: () => this.#emit("closed")
    })
    this.#applyAccent(checkout.model.context?.merchant.accentColor)
    const deadline = card.querySelector(".deadline")
    deadline?.replaceChildren()
    const markup = card.outerHTML
    deadline?.replaceChildren(this.#deadline() ?? "")
    if (!this.#isDrawn(checkout, markup)) {
      this.#drawn = { checkout, markup }
      this.#root.replaceChildren(card, this.#live)
      if (focused !== null) {
        const same = [...card.querySelectorAll<HTMLElement>("[data-key]")].find(
          (element) => element.dataset["key"] === key
        )
        const target = same ?? card.querySelector<HTMLElement>("#title")
        target?.focus({ preventScroll: same !== undefined })
      }
    }
    if (announcement === this.#announced) return
    this.#announced = announcement
    this.#live.replaceChildren(textOf(announcement))
  }
}
