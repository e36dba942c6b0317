// The exports of `@quittance/checkout`: the element's loader and types. The service serves the element itself, so its
// version always matches.

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

/** The detail of the element's events. The events are for display only: ship goods on the webhook. */
export interface CheckoutEventDetail {
  readonly state: CheckoutState
  readonly paymentId?: string
  readonly payment?: { readonly id: string; readonly intentUrl: string; readonly refCode: string }
}

/** The element `<quittance-checkout>`. */
export interface QuittanceCheckoutElement extends HTMLElement {
  readonly state: CheckoutState
}

/** The attributes of the element. */
export interface CheckoutAttributes {
  /** From your server: `paymentIntents.create(…).intentToken`. */
  readonly intentToken: string
  readonly publishableKey: string
  /** A language tag. Default: the browser's languages. */
  readonly lang?: string
  /** A description of the goods or service for the buyer. */
  readonly description?: string
}

export const elementName = "quittance-checkout"

const loading = new Map<string, Promise<void>>()

/** Loads the element from the service once. Resolves when the element is defined. */
export const loadCheckout = (baseUrl: string): Promise<void> => {
  const url = new URL("/checkout.js", baseUrl).href
  const pending = loading.get(url)
  if (pending !== undefined) return pending
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
