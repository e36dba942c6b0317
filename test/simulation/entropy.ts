// Closes every source of difference between two runs of a seed: time, timers, random numbers and WebCrypto's threads of
// the process itself, for as long as a world runs.
import { createHmac, timingSafeEqual } from "node:crypto"
import { Schema } from "effect"
import type { Draw } from "./Draw.ts"
import type { Timer, World } from "./World.ts"

type Restore = () => void

/** Replaces an object's property with `value`. */
const replace = (target: object, name: string, value: unknown): Restore => {
  const own = Object.getOwnPropertyDescriptor(target, name)
  // A property that cannot be redefined may still be writable.
  const kind = own?.configurable === false ? {} : { configurable: true, writable: true, enumerable: true }
  Object.defineProperty(target, name, { value, ...kind })
  return () => {
    if (own === undefined) Reflect.deleteProperty(target, name)
    else Object.defineProperty(target, name, own)
  }
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** HMAC in this thread, because the pool's answers come in no fixed order. */
const hmacKeys = new WeakMap<object, Uint8Array>()
const bytesOf = (source: BufferSource): Uint8Array =>
  source instanceof ArrayBuffer
    ? new Uint8Array(source)
    : new Uint8Array(source.buffer, source.byteOffset, source.byteLength)

const sha256 = Schema.Literal("SHA-256")
const isHmacSha256 = Schema.is(
  Schema.Struct({
    name: Schema.Literal("HMAC"),
    hash: Schema.Union([sha256, Schema.Struct({ name: sha256 })])
  })
)

const importHmac = async (
  format: string,
  bytes: BufferSource,
  algorithm: unknown,
  extractable: boolean,
  usages: ReadonlyArray<string>
) => {
  if (format !== "raw" || !isHmacSha256(algorithm))
    throw new Error("the simulation knows raw keys of HMAC with SHA-256 alone")
  const key = {
    type: "secret",
    extractable,
    algorithm: { ...Object(algorithm), hash: { name: "SHA-256" }, length: bytesOf(bytes).length * 8 },
    usages: [...usages],
    [Symbol.toStringTag]: "CryptoKey"
  }
  hmacKeys.set(key, Uint8Array.from(bytesOf(bytes)))
  return key
}
const hmac = (key: object, data: BufferSource) => {
  const bytes = hmacKeys.get(key)
  if (bytes === undefined) throw new Error("the simulation knows HMAC keys alone")
  return createHmac("sha256", bytes).update(bytesOf(data)).digest()
}

/** The current date is the world's. */
const dateIn = (now: () => number) =>
  new Proxy(Date, {
    construct: (real, given: ReadonlyArray<unknown>, made) =>
      given.length === 0 ? new real(now()) : Reflect.construct(real, given, made),
    apply: (real) => new real(now()).toString()
  })

/** Methods whose answers come from threads; HMAC is computed here. */
const subtleMethods = Object.keys(Object.getOwnPropertyDescriptors(SubtleCrypto.prototype)).filter(
  (name) => !["constructor", "importKey", "sign", "verify"].includes(name)
)

const closed = (name: string) => () => {
  throw new Error(`a simulated world has no ${name}`)
}

/** Closed until the returned function is called. */
export const closeEntropy = (world: World, draw: Draw): Restore => {
  const now = () => world.now + world.running.skewMillis
  const timers = new Map<number, Timer>()
  let count = 0
  const setTimer = (run: () => void, millis = 0) => {
    const id = ++count
    const timer = world.after(millis, world.running, () => {
      timers.delete(id)
      run()
    })
    timers.set(id, timer)
    return id
  }
  const clearTimer = (id: number) => {
    const timer = timers.get(id)
    if (timer !== undefined) timer.cancelled = true
    timers.delete(id)
  }
  const fill = <A extends ArrayBufferView>(view: A): A => {
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(draw.bytes(view.byteLength))
    return view
  }
  const uuid = () => {
    const hex = hexOf(draw.bytes(16))
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20)
    ].join("-")
  }
  const restores = [
    replace(Date, "now", now),
    replace(globalThis, "Date", dateIn(now)),
    replace(globalThis, "setInterval", closed("setInterval")),
    replace(process, "hrtime", closed("process.hrtime")),
    replace(Bun, "sleep", closed("Bun.sleep")),
    ...subtleMethods.map((name) => replace(crypto.subtle, name, closed(`crypto.subtle.${name}`))),
    replace(Math, "random", () => draw.fraction()),
    replace(performance, "now", () => world.elapsed),
    replace(globalThis, "setTimeout", setTimer),
    replace(globalThis, "clearTimeout", clearTimer),
    replace(globalThis, "setImmediate", (run: () => void) => world.schedule(world.running, run)),
    replace(globalThis, "fetch", () => Promise.reject(new Error("a simulated world has no network"))),
    replace(crypto, "getRandomValues", fill),
    replace(crypto, "randomUUID", uuid),
    replace(crypto.subtle, "importKey", importHmac),
    replace(crypto.subtle, "sign", async (_: unknown, key: object, data: BufferSource) => hmac(key, data)),
    replace(
      crypto.subtle,
      "verify",
      async (_: unknown, key: object, signature: BufferSource, data: BufferSource) => {
        const [given, made] = [bytesOf(signature), hmac(key, data)]
        return given.length === made.length && timingSafeEqual(given, made)
      }
    )
  ]
  return () => {
    for (const restore of restores.toReversed()) restore()
  }
}
