// Wake-ups between instances on a real Postgres, and listeners that die or lose their connection.
import { describe, expect } from "bun:test"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Layer, Logger, Option, Queue, Redacted, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { channel, DeliveryWake } from "../../src/webhooks/DeliveryWake.ts"
import { testDatabase } from "../support/database.ts"
import { postgresSocket } from "../support/ownDatabase.ts"
import { liveEffect } from "../support/run.ts"
import { tcpProxy } from "../support/tcpProxy.ts"

const listening = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(sql`SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`, (rows) =>
    rows.map((row) => row["pid"])
  )
)
const twoWakes = Effect.gen(function* () {
  const scope = yield* Scope.Scope
  const wake = Layer.fresh(DeliveryWake.layerPostgres("300 millis"))
  const [here, there] = yield* Effect.all([
    Layer.buildWithScope(wake, scope),
    Layer.buildWithScope(wake, scope)
  ])
  yield* listening.pipe(Effect.repeat({ until: (pids) => pids.length >= 2 }), Effect.timeout("5 seconds"))
  const of = (context: typeof here) => Effect.provideContext(Effect.service(DeliveryWake), context)
  const pair = { here: yield* of(here), there: yield* of(there) }
  // Each polls once when it begins to listen.
  yield* Effect.all([pair.here.wait, pair.there.wait])
  return pair
})
const wakeLayer = Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto)

describe("wake-ups between instances", () => {
  liveEffect("a signal wakes the other instance at once; a nudge wakes only this one", () =>
    Effect.gen(function* () {
      const { here, there } = yield* twoWakes
      yield* here.nudge
      expect(Option.isNone(yield* Effect.timeoutOption(there.wait, "400 millis"))).toBe(true)
      yield* here.wait
      yield* here.signal
      yield* Effect.timeout(there.wait, "5 seconds")
    }).pipe(Effect.provide(wakeLayer))
  )

  liveEffect("ten thousand signals become a handful of notifications", () =>
    Effect.gen(function* () {
      const { here } = yield* twoWakes
      const pg = yield* PgClient.PgClient
      const connection = yield* PgConnection.make(pg.config)
      const heard = yield* connection.listen(channel)
      for (let signals = 0; signals < 10_000; signals++) yield* here.signal
      yield* Effect.sleep("300 millis")
      const all = yield* Queue.clear(heard)
      const signals = all.filter((one) => !one.payload.startsWith("beat"))
      expect(signals.length).toBeWithin(1, 12)
    }).pipe(Effect.provide(wakeLayer))
  )

  liveEffect("a listener whose backend is killed is replaced", () =>
    Effect.gen(function* () {
      const { here, there } = yield* twoWakes
      const sql = yield* PgClient.PgClient
      const before = yield* listening
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`
      yield* listening.pipe(
        Effect.delay("50 millis"),
        Effect.repeat({ until: (pids) => pids.length >= 2 && pids.every((pid) => !before.includes(pid)) }),
        Effect.timeout("5 seconds")
      )
      yield* Effect.all([here.wait, there.wait])
      yield* here.signal
      yield* Effect.timeout(there.wait, "1 second")
    }).pipe(Effect.provide(wakeLayer))
  )

  liveEffect("a database without LISTEN is tried once, and wake-ups within this process still work", () =>
    Effect.gen(function* () {
      const { config } = yield* PgClient.PgClient
      const asked: Array<string> = []
      const said: Array<unknown> = []
      const far = yield* Layer.build(
        Layer.fresh(DeliveryWake.layerPostgres("300 millis")).pipe(
          Layer.provide(
            PgClient.layer({
              ...config,
              stream: () => {
                const socket = postgresSocket()
                const write = socket.write.bind(socket)
                return Object.assign(socket, {
                  write: (bytes: Uint8Array) => {
                    const sent = Buffer.from(bytes).toString("latin1")
                    if (/\bLISTEN /.test(sent)) asked.push("LISTEN")
                    return write(Buffer.from(sent.replace(/\bLISTEN /, "HARKEN "), "latin1"))
                  }
                })
              }
            })
          ),
          Layer.provide(Logger.layer([Logger.make(({ message }) => void said.push(message))]))
        )
      )
      const wake = yield* Effect.provideContext(Effect.service(DeliveryWake), far)
      yield* Effect.sleep("2500 millis")
      expect(asked).toEqual(["LISTEN"])
      expect(JSON.stringify(said)).toContain("found by polling")
      yield* wake.signal
      yield* Effect.timeout(wake.wait, "1 second")
    }).pipe(Effect.provide(wakeLayer))
  )

  liveEffect("a half-open listener is noticed and replaced", () =>
    Effect.gen(function* () {
      const { here } = yield* twoWakes
      const { config } = yield* PgClient.PgClient
      if (config.url === undefined) throw new Error("the database has no url")
      const url = new URL(Redacted.value(config.url))
      const proxy = yield* tcpProxy(Number(url.port))
      url.port = String(proxy.port)
      const before = (yield* listening).length
      const far = yield* Layer.build(
        Layer.fresh(DeliveryWake.layerPostgres("300 millis")).pipe(
          Layer.provide(PgClient.layer({ url: Redacted.make(url.toString()), maxConnections: 2 }))
        )
      )
      const there = yield* Effect.provideContext(Effect.service(DeliveryWake), far)
      yield* listening.pipe(Effect.repeat({ until: (pids) => pids.length > before }))
      yield* there.wait
      proxy.freeze()
      yield* here.signal
      expect(Option.isNone(yield* Effect.timeoutOption(there.wait, "250 millis"))).toBe(true)
      // A new listener polls at once, and gets signals again.
      yield* Effect.timeout(there.wait, "15 seconds")
      yield* Effect.sleep("100 millis")
      yield* here.signal
      yield* Effect.timeout(there.wait, "1 second")
    }).pipe(Effect.provide(wakeLayer))
  )
})
