// The operator's deny list: what its file may hold, and how a new version comes into force.
import { describe, expect } from "bun:test"
import { rename, rm, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { DenyList, layerConfig, layerOnce, readDenyList } from "../../src/chain/DenyList.ts"
import { Address } from "../../src/domain/Chain.ts"
import { Alerts } from "../../src/platform/alerts/Alerts.ts"
import { testConfig } from "../support/memory.ts"
import { temporaryDirectory } from "../support/process.ts"
import { testEffect } from "../support/run.ts"

const one = Address.make("0x036CbD53842c5426634e7929541eC2318f3dCF7e")
const other = Address.make("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")

const write = (path: string, text: string) => Effect.promise(() => writeFile(path, text))

/** The service's list on a file, and the alerts to its operator. */
const watched = Effect.gen(function* () {
  const path = join(yield* temporaryDirectory, "deny-list.txt")
  const told: Array<string> = []
  const alerts = Layer.succeed(Alerts, {
    raise: ({ message }) => Effect.sync(() => void told.push(message)),
    resolve: (kind) => Effect.sync(() => void told.push(`${kind} resolved`))
  })
  const start = Effect.map(
    Layer.build(layerConfig.pipe(Layer.provide([testConfig({ denyList: Option.some(path) }), alerts]))),
    (context) => Effect.provideContext(DenyList, context)
  ).pipe(Effect.flatten)
  /** Lets the watch poll the file: a change is read once it is the same at two polls. */
  const looks = Effect.gen(function* () {
    for (let look = 0; look < 10; look++) {
      yield* TestClock.adjust("2 seconds")
      yield* Effect.promise(() => Bun.sleep(30))
    }
  })
  return { path, told, start, looks }
})

describe("the deny list's file", () => {
  testEffect("holds addresses in any case, comments and blank lines; its date is that of the file", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryDirectory, "deny-list.txt")
      yield* write(path, `# Sanctions\r\n\r\n${one.toLowerCase()}  # named in May\r\n 0x${"Ab".repeat(20)}\n`)
      yield* Effect.promise(() => utimes(path, 1_790_000_000, 1_790_000_000))
      const list = yield* DenyList.pipe(
        Effect.provide(layerOnce.pipe(Layer.provide(testConfig({ denyList: Option.some(path) }))))
      )
      expect([one, other, Address.make(`0x${"aB".repeat(20)}`)].map(list.has)).toEqual([true, false, true])
      expect(list.date()).toEqual(new Date(1_790_000_000_000))
    })
  )

  testEffect("is refused with the line that is no address, or the reason that it cannot be read", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryDirectory, "deny-list.txt")
      const refusal = Effect.map(Effect.flip(readDenyList(path)), ({ message }) => message)
      expect(yield* refusal).toContain(`${path} cannot be read (ENOENT)`)
      yield* write(path, `# A list\n${one}\n${one.slice(0, -1)}\n`)
      expect(yield* refusal).toBe(
        `DENY_LIST: line 3 of ${path} is not an address. Write one address a line, 0x and 40 hex digits; comments begin with #.`
      )
    })
  )

  testEffect("is empty without the setting", () =>
    Effect.gen(function* () {
      const list = yield* DenyList.pipe(Effect.provide(layerOnce.pipe(Layer.provide(testConfig()))))
      expect([list.has(one), list.date()]).toEqual([false, null])
    })
  )
})

describe("while the service runs", () => {
  testEffect("a bad file refuses the start; a good file closes an earlier process's alert", () =>
    Effect.gen(function* () {
      const { path, start, told } = yield* watched
      expect((yield* Effect.flip(start)).message).toContain("cannot be read")
      expect(told).toEqual([])
      yield* write(path, `${one}\n`)
      expect((yield* start).has(one)).toBe(true)
      expect(told).toEqual(["deny_list_refused resolved"])
    })
  )

  testEffect("a new version takes effect, whether written in place or renamed", () =>
    Effect.gen(function* () {
      const { looks, path, start } = yield* watched
      yield* write(path, `${one}\n`)
      const list = yield* start
      yield* write(path, `${one}\n${other}\n`)
      yield* looks
      expect([one, other].map(list.has)).toEqual([true, true])
      yield* write(`${path}.next`, `${other}\n`)
      yield* Effect.promise(() => utimes(`${path}.next`, 1_790_000_000, 1_790_000_000))
      yield* Effect.promise(() => rename(`${path}.next`, path))
      yield* looks
      expect([one, other].map(list.has)).toEqual([false, true])
      expect(list.date()).toEqual(new Date(1_790_000_000_000))
    })
  )

  for (const [what, spoil] of [
    ["has a line that is no address", (path: string) => writeFile(path, "nonsense\n")],
    ["is missing", (path: string) => rm(path)]
  ] as const)
    testEffect(`a version that ${what} changes nothing and alerts once, until it is corrected`, () =>
      Effect.gen(function* () {
        const { looks, path, start, told } = yield* watched
        yield* write(path, `${one}\n`)
        const list = yield* start
        const date = list.date()
        yield* Effect.promise(() => spoil(path))
        yield* looks
        yield* looks
        expect([list.has(one), list.date()]).toEqual([true, date])
        expect(told).toEqual([
          "deny_list_refused resolved",
          expect.stringContaining(`The version of ${date?.toISOString()} stays in force`)
        ])
        yield* write(path, `${other}\n`)
        yield* looks
        expect([one, other].map(list.has)).toEqual([false, true])
        expect(told.slice(2)).toEqual(["deny_list_refused resolved"])
      })
    )
})
