// A buyer's browser as far as the checkout needs one: tabs that share storage and locks, and end between any two
// of their steps. What a tab that has ended would have done next never happens.
import type { Checkout, CheckoutOptions } from "../../../src/checkout/component/Checkout.ts"
import type { Eip1193Provider } from "../../../src/checkout/component/wallets.ts"
import type { World } from "../World.ts"
import { checkoutIn } from "./compiledCheckout.ts"

/** Answers a request of the checkout; a rejection is a network that fails. */
export type Fetch = (method: string, path: string, body: unknown) => Promise<Answered>

export interface Answered {
  readonly status: number
  readonly body: unknown
}

interface Held {
  readonly tab: Tab
  readonly name: string
}
interface Waiting extends Held {
  readonly begin: () => void
}

const never = () => new Promise<never>(() => {})

export class Tab {
  alive = true
  readonly checkout: Checkout
  readonly #browser: Browser
  readonly #events = new EventTarget()

  constructor(browser: Browser, around: Around, options: Omit<CheckoutOptions, "changed">) {
    this.#browser = browser
    const { fetch, provider, world } = around
    /** A promise that a tab which has ended never hears of. */
    const heard = <A>(promise: Promise<A>): Promise<A> =>
      promise.then(
        (value) => (this.alive ? value : never()),
        (error: unknown) => (this.alive ? Promise.reject(error) : never())
      )
    const addEventListener = this.#events.addEventListener.bind(this.#events)
    const removeEventListener = this.#events.removeEventListener.bind(this.#events)
    const page = { addEventListener, removeEventListener, visibilityState: "visible" }
    addEventListener("eip6963:requestProvider", () => {
      const detail = {
        info: { uuid: "wallet", rdns: "example.wallet", name: "Wallet", icon: "" },
        provider: {
          request: (call: Parameters<Eip1193Provider["request"]>[0]) => heard(provider.request(call))
        }
      }
      this.#events.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }))
    })
    this.checkout = checkoutIn(
      {
        AbortSignal: { timeout: () => undefined },
        addEventListener,
        removeEventListener,
        dispatchEvent: (event: Event) => this.#events.dispatchEvent(event),
        document: page,
        globalThis: {},
        isSecureContext: true,
        localStorage: browser.storageOf(this),
        navigator: { locks: browser.locksOf(this) },
        setTimeout: (run: () => void, millis = 0) =>
          world.after(millis, world.outside, () => {
            if (this.alive) run()
          }),
        clearTimeout: (timer: ReturnType<World["after"]> | undefined) => {
          if (timer !== undefined) timer.cancelled = true
        },
        fetch: (url: string, init: { readonly method: string; readonly body?: string }) =>
          heard(
            fetch(
              init.method,
              new URL(url).pathname.replace("/api/v1", "") + new URL(url).search,
              init.body === undefined ? undefined : JSON.parse(init.body)
            ).then(({ body, status }) => ({
              status,
              ok: status < 300,
              headers: { get: () => null },
              json: async () => body
            }))
          )
      },
      { ...options, changed: () => {} }
    )
    this.checkout.start()
  }

  /** What another tab has written. */
  hear(event: Event): void {
    if (this.alive) this.#events.dispatchEvent(event)
  }

  /** Closed, or the machine is off. */
  end(): void {
    this.alive = false
    this.#browser.left(this)
  }
}

interface Around {
  readonly world: World
  readonly fetch: Fetch
  readonly provider: Eip1193Provider
  /** After which a tab hears what another one has written: those in the background wait. */
  readonly lateMillis: number
}

export class Browser {
  readonly #around: Around
  readonly #stored: Record<string, string> = Object.create(null)
  readonly #tabs = new Set<Tab>()
  #held: ReadonlyArray<Held> = []
  #waiting: ReadonlyArray<Waiting> = []

  constructor(around: Around) {
    this.#around = around
  }

  open(options: Omit<CheckoutOptions, "changed">): Tab {
    const tab = new Tab(this, this.#around, options)
    this.#tabs.add(tab)
    return tab
  }

  storageOf(tab: Tab): unknown {
    const { lateMillis, world } = this.#around
    const store = (key: string, value: string | null) => {
      if (!tab.alive) return
      if (value === null) delete this.#stored[key]
      else this.#stored[key] = value
      for (const other of this.#tabs) {
        if (other === tab) continue
        const hear = () => other.hear(Object.assign(new Event("storage"), { key, newValue: value }))
        if (lateMillis === 0) world.schedule(world.outside, hear)
        else world.after(lateMillis, world.outside, hear)
      }
    }
    const methods: Readonly<Record<string, unknown>> = {
      getItem: (key: string) => this.#stored[key] ?? null,
      setItem: (key: string, value: string) => store(key, value),
      removeItem: (key: string) => store(key, null)
    }
    return new Proxy(this.#stored, {
      get: (stored, name) => (typeof name === "string" ? (methods[name] ?? stored[name]) : undefined)
    })
  }

  /** Web Locks, in the order in which they are asked for. */
  locksOf(tab: Tab): unknown {
    const run = async (name: string, callback: (lock: unknown) => unknown) => {
      const held: Held = { tab, name }
      this.#held = [...this.#held, held]
      try {
        return await callback({ name })
      } finally {
        this.#free(held)
      }
    }
    return {
      query: async () => ({ held: this.#held.map(({ name }) => ({ name })), pending: [] }),
      request: (name: string, ...rest: ReadonlyArray<unknown>): Promise<unknown> => {
        const callback = rest.at(-1)
        if (typeof callback !== "function") throw new TypeError("no callback")
        const call = (lock: unknown): unknown => callback(lock)
        const isHeld = this.#held.some((one) => one.name === name)
        if (!isHeld) return run(name, call)
        if (rest.length > 1) return Promise.resolve(call(null))
        return new Promise((resolve, reject) => {
          const begin = () => {
            run(name, call).then(resolve, reject)
          }
          this.#waiting = [...this.#waiting, { tab, name, begin }]
        })
      }
    }
  }

  #free(held: Held): void {
    if (!this.#held.includes(held)) return
    this.#held = this.#held.filter((one) => one !== held)
    const next = this.#waiting.find(({ name }) => name === held.name)
    if (next === undefined) return
    this.#waiting = this.#waiting.filter((one) => one !== next)
    next.begin()
  }

  /** Whatever the tab held is free. */
  left(tab: Tab): void {
    this.#tabs.delete(tab)
    this.#waiting = this.#waiting.filter((one) => one.tab !== tab)
    for (const held of this.#held.filter((one) => one.tab === tab)) this.#free(held)
  }
}
