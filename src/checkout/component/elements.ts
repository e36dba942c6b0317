// Builds DOM without markup strings: a name from a wallet or a merchant can never become an element, and no inline
// style conflicts with a page's CSP.

import { partsOf } from "../../platform/pages/browser/partsOf.ts"

export type Child = Node | string | undefined

export interface Attributes {
  readonly class?: string
  readonly part?: string
  readonly [attribute: string]: string | undefined
}

const fill = <E extends Element>(element: E, attributes: Attributes, children: ReadonlyArray<Child>): E => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, value)
  }
  element.append(
    ...children
      .filter((child) => child !== undefined)
      .map((child) => (typeof child === "string" ? textOf(child) : child))
  )
  return element
}

/** Marks the data in a text, so that page translation does not change it. */
export const textOf = (text: string): Node | string => {
  const parts = partsOf(text)
  if (parts.length === 1) return text
  const sentence = document.createElement("span")
  sentence.append(
    ...parts.map((part, index) => {
      if (index % 2 === 0) return part
      const data = document.createElement("span")
      data.translate = false
      data.textContent = part
      return data
    })
  )
  return sentence
}

export const h = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: ReadonlyArray<Child>
): HTMLElementTagNameMap[K] => fill(document.createElement(tag), attributes, children)

const namespace = "http://www.w3.org/2000/svg"

/** Line drawings on a 24 px grid. */
const paths = {
  check: "M5 13l4 4L19 7",
  clock: "M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  cross: "M6 6l12 12M18 6L6 18",
  alert: "M12 8v5M12 16.5v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  wallet: "M4 7h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2h11v3M16 13.5h.01",
  network: "M12 4v6M5 20v-4h14v4M12 10v6M9 4h6M3 20h4M17 20h4",
  coins:
    "M12 4c4 0 7 1.3 7 3s-3 3-7 3-7-1.3-7-3 3-3 7-3zM5 7v10c0 1.7 3 3 7 3s7-1.3 7-3V7M5 12c0 1.7 3 3 7 3s7-1.3 7-3",
  phone: "M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM11 18h2",
  tabs: "M4 8h12v12H4zM8 8V4h12v12h-4",
  question:
    "M9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.6.3-1 .8-1 1.5v.2M12 16.8v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z"
} as const

export type CheckoutIcon = keyof typeof paths

export const icon = (name: CheckoutIcon): SVGSVGElement =>
  fill(document.createElementNS(namespace, "svg"), { viewBox: "0 0 24 24", "aria-hidden": "true" }, [
    fill(document.createElementNS(namespace, "path"), { d: paths[name] }, [])
  ])

export const spinner = (): HTMLElement => h("span", { class: "spinner", "aria-hidden": "true" })
