// What `@quittance/checkout` exports: the loader of the element, and its types. The element itself comes from the
// service, so that it is always of the service's version.

export type CheckoutState =
  | "loading"
  | "connect"
  | "wrong-network"
  | "needs-funds"
  | "review"
  | "awaiting-signature"
  | "submitted"
  | "confirming"
  | "settled"
  | "failed"
  | "expired"
  | "cancelled"

/** Of the element's events. They are for the buyer's eyes: ship goods on the webhook. */
export interface CheckoutEventDetail {
  readonly state: CheckoutState
  readonly paymentId?: string
  readonly payment?: { readonly id: string; readonly intentUrl: string; readonly refCode: string }
}

/** The element `<quittance-checkout>`. */
export interface QuittanceCheckoutElement extends HTMLElement {
  readonly state: CheckoutState
}

/** What the element takes. */
export interface CheckoutAttributes {
  /** From your server: `paymentIntents.create(…).intentToken`. */
  readonly intentToken: string
  readonly publishableKey: string
  /** A language tag; the browser's languages by default. */
  readonly lang?: string
  /** What is paid for, for the buyer to read. */
  readonly description?: string
}

export const elementName = "quittance-checkout"

const loading = new Map<string, Promise<void>>()

/** Loads the element from the service, once; the promise ends when it is there. */
export const loadCheckout = (baseUrl: string): Promise<void> => {
  const url = new URL("/checkout.js", baseUrl).href
  const known = loading.get(url)
  if (known !== undefined) return known
  const loaded = new Promise<void>((resolve, reject) => {
    if (customElements.get(elementName) !== undefined) return resolve()
    const script = document.createElement("script")
    script.src = url
    script.crossOrigin = "anonymous"
    script.onload = () => customElements.whenDefined(elementName).then(() => resolve(), reject)
    script.onerror = () => {
      loading.delete(url)
      script.remove()
      reject(
        new Error(`${url} could not be loaded. Check the address and the page's content security policy.`)
      )
    }
    document.head.append(script)
  })
  loading.set(url, loaded)
  return loaded
}
