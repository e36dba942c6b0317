// The checkout as browsers run it: its own code, compiled once, and made anew for each tab with that tab's globals.
import { join } from "node:path"
import type { Checkout, CheckoutOptions } from "../../../src/checkout/component/Checkout.ts"

/** What the checkout takes from the page around it. */
export interface TabGlobals {
  readonly AbortSignal: unknown
  readonly addEventListener: unknown
  readonly clearTimeout: unknown
  readonly dispatchEvent: unknown
  readonly document: unknown
  readonly fetch: unknown
  readonly globalThis: unknown
  readonly isSecureContext: boolean
  readonly localStorage: unknown
  readonly navigator: unknown
  readonly removeEventListener: unknown
  readonly setTimeout: unknown
}

type Make = (...values: ReadonlyArray<unknown>) => (options: CheckoutOptions) => Checkout

const names = [
  "AbortSignal",
  "addEventListener",
  "clearTimeout",
  "dispatchEvent",
  "document",
  "fetch",
  "globalThis",
  "isSecureContext",
  "localStorage",
  "navigator",
  "removeEventListener",
  "setTimeout"
] as const satisfies ReadonlyArray<keyof TabGlobals>

const exported = /export\s*\{\s*Checkout\s*\};?\s*$/

const compiled = async (): Promise<Make> => {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../../src/checkout/component/Checkout.ts")],
    target: "browser",
    define: { QUITTANCE_WALLETCONNECT_INTEGRITY: '""' }
  })
  const code = (await outputs[0]?.text()) ?? ""
  if (!exported.test(code)) throw new Error("the compiled checkout does not end with its export")
  const body = code.replace(exported, "return (options) => new Checkout(options)")
  return new Function(...names, `"use strict"; ${body}`) as Make
}

let make: Make | undefined

/** Once for the process, before the first world: compiling takes time of its own. */
export const compileCheckout = async (): Promise<void> => {
  make ??= await compiled()
}

/** A checkout of its own code, for one tab. */
export const checkoutIn = (globals: TabGlobals, options: CheckoutOptions): Checkout => {
  if (make === undefined) throw new Error("the checkout is not compiled yet")
  return make(...names.map((name) => globals[name]))(options)
}
