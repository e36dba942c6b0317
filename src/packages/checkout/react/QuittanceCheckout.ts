// The checkout element as a React component.
import { createElement, type ReactElement, useEffect, useRef } from "react"
import {
  type CheckoutAttributes,
  type CheckoutEventDetail,
  elementName,
  loadCheckout,
  type QuittanceCheckoutElement
} from "../checkout.ts"

type Listener = (detail: CheckoutEventDetail) => void

export interface QuittanceCheckoutProps extends CheckoutAttributes {
  /** Origin of the service, for example `https://pay.example.com`. */
  readonly baseUrl: string
  readonly className?: string
  readonly onStateChange?: Listener
  readonly onSettled?: Listener
  readonly onFailed?: Listener
  readonly onClosed?: Listener
}

export const QuittanceCheckout = ({
  baseUrl,
  intentToken,
  publishableKey,
  lang,
  description,
  className,
  ...listeners
}: QuittanceCheckoutProps): ReactElement => {
  const element = useRef<QuittanceCheckoutElement | null>(null)
  const latest = useRef(listeners)
  latest.current = listeners

  useEffect(() => {
    // If loading fails, the console shows the error and the element stays empty.
    loadCheckout(baseUrl).catch(console.error)
    return undefined
  }, [baseUrl])

  useEffect(() => {
    const node = element.current
    const notifyListener = (event: Event) => {
      if (!(event instanceof CustomEvent)) return
      const { onStateChange, onSettled, onFailed, onClosed } = latest.current
      const listener = { statechange: onStateChange, settled: onSettled, failed: onFailed, closed: onClosed }[
        event.type
      ]
      listener?.(event.detail)
    }
    const names = ["statechange", "settled", "failed", "closed"]
    for (const name of names) node?.addEventListener(name, notifyListener)
    return () => {
      for (const name of names) node?.removeEventListener(name, notifyListener)
    }
  }, [])

  return createElement(elementName, {
    ref: element,
    "intent-token": intentToken,
    "publishable-key": publishableKey,
    ...(lang === undefined ? {} : { lang }),
    ...(description === undefined ? {} : { description }),
    ...(className === undefined ? {} : { class: className })
  })
}
