// Fifty endpoints that hang, drip or send without end next to a healthy one, in real time over real sockets: the
// healthy one's p99 stays within twice its quiet value (with 25 ms for the noise of a shared machine), and memory grows
// by less than 64 MB.
import { describe, expect } from "bun:test"
import { join } from "node:path"
import { Effect, Layer, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { EgressPolicy } from "../../src/platform/egress/EgressPolicy.ts"
import { Resolver } from "../../src/platform/egress/Resolver.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { DeliveryWake } from "../../src/webhooks/DeliveryWake.ts"
import { Attempts } from "../../src/webhooks/DeliveryWorker/Attempts.ts"
import * as DeliveryWorker from "../../src/webhooks/DeliveryWorker.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import { testDatabase } from "../support/database.ts"
import { testConfig } from "../support/memory.ts"
import { liveEffect } from "../support/run.ts"
import { newShop, settle } from "./deliveries.ts"

const noiseMillis = 25

interface Receivers {
  readonly port: number
  /** Each delivery's arrival time, by its id. */
  readonly arrivals: ReadonlyMap<string, number>
}

const receivers = Effect.acquireRelease(
  Effect.promise(async (): Promise<Receivers & { readonly stop: () => void }> => {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "badReceivers.ts")], {
      stdout: "pipe",
      stderr: "ignore"
    })
    const arrivals = new Map<string, number>()
    const port = await new Promise<number>((resolve) => {
      const read = async () => {
        let text = ""
        for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
          const lines = (text + chunk).split("\n")
          text = lines.pop() ?? ""
          for (const line of lines) {
            const [id = "", at] = line.split(" ")
            if (id === "port") resolve(Number(at))
            else arrivals.set(id, Number(at))
          }
        }
      }
      void read()
    })
    return { port, arrivals, stop: () => child.kill() }
  }),
  (running) => Effect.sync(running.stop)
)

const p99 = (all: ReadonlyArray<number>) =>
  [...all].sort((left, right) => left - right)[Math.ceil(all.length * 0.99) - 1] ?? Number.NaN

describe(`isolation on Postgres`, () => {
  liveEffect("fifty hostile endpoints do not slow a healthy one", () =>
    Effect.gen(function* () {
      const { port, arrivals } = yield* receivers
      const host = `127.0.0.1:${port}`
      const side = DeliveryWorker.layer.pipe(
        Layer.provide(Attempts.layer),
        Layer.provideMerge(
          Layer.mergeAll(PaymentRepo.layer, KeyAuth.layer, WebhookRepo.layer, DeliveryWake.layerLocal)
        ),
        Layer.provideMerge(
          Layer.mergeAll(
            WebhookSender.layer.pipe(Layer.provide(Resolver.layer)),
            SecretBox.layer.pipe(Layer.provide(testConfig()))
          )
        ),
        Layer.provideMerge(EgressPolicy.layerOf({ ownHosts: [], allowedHosts: [host] })),
        Layer.provideMerge(SecureRandom.layerWebCrypto),
        Layer.provideMerge(testDatabase.layer)
      )
      yield* Effect.gen(function* () {
        const wake = yield* DeliveryWake
        const healthy = yield* newShop(new Date(), `http://${host}/healthy`)
        const send = Effect.gen(function* () {
          const { id } = yield* settle(healthy.tenant, new Date())
          const settled = Date.now()
          yield* wake.signal
          return { id, settled }
        })
        const measure = Effect.fnUntraced(function* (count: number) {
          const sends = yield* Effect.forEach(Array.from({ length: count }), () =>
            Effect.tap(send, () => Effect.sleep("20 millis"))
          )
          yield* Effect.sleep("500 millis")
          return p99(sends.map(({ id, settled }) => (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - settled))
        })
        yield* measure(50)
        const quiet = yield* measure(100)
        const modes = ["hang", "drip", "endless"]
        const hostile = yield* Effect.forEach([...Array(50).keys()], (index) =>
          newShop(new Date(), `http://${host}/${modes[index % modes.length]}/${index}`)
        )
        Bun.gc(true)
        const memory = process.memoryUsage.rss()
        let peak = memory
        yield* Effect.sync(() => {
          peak = Math.max(peak, process.memoryUsage.rss())
        }).pipe(Effect.repeat(Schedule.spaced("100 millis")), Effect.forkScoped)
        const queued = yield* Effect.forEach(
          hostile,
          (shop) => Effect.forEach(Array.from({ length: 10 }), () => settle(shop.tenant, new Date())),
          { concurrency: 8 }
        )
        yield* wake.signal
        const bound = Math.max(2 * quiet, quiet + noiseMillis)
        let loaded = yield* measure(300)
        // Other processes on the machine are not part of the promise: a disturbed round is measured again while the
        // hostile endpoints still hold their requests.
        if (loaded > bound) loaded = yield* measure(150)
        const grown = (peak - memory) / 1_048_576
        expect(queued.flat().filter(({ id }) => arrivals.has(id)).length).toBeGreaterThanOrEqual(150)
        console.log(
          `healthy p99 ${quiet.toFixed(0)} ms quiet, ${loaded.toFixed(0)} ms beside 50 hostile endpoints; memory +${grown.toFixed(0)} MB`
        )
        expect(loaded).toBeLessThanOrEqual(bound)
        expect(grown).toBeLessThan(64)
      }).pipe(Effect.provide(side))
    })
  )
})
