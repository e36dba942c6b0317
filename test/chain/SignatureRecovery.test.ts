// The service's own signature recovery compared with viem's: in turns, in the thread, from the cache, and without the
// thread.
import { heapStats } from "bun:jsc"
import { afterAll, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { concat, type Hex, recoverAddress as recoverByViem, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { make, SignatureRecovery } from "../../src/chain/SignatureRecovery.ts"
import { Address } from "../../src/domain/Chain.ts"
import { testEffect } from "../support/run.ts"

/** Until the thread has started, or has failed to. */
const started = Effect.sleep("500 millis")

const directory = mkdtempSync(join(tmpdir(), "quittance-thread-"))
afterAll(() => rmSync(directory, { recursive: true }))

const programOf = (text: string) => {
  const path = join(directory, `${randomBytes(4).toString("hex")}.mjs`)
  writeFileSync(path, text)
  return path
}

const account = privateKeyToAccount(`0x${"7".repeat(64)}`)
const address = Address.make(account.address)
const random = (size: number) => toHex(randomBytes(size))

/** Signed hashes, hashes that an unknown account may have signed, and signatures that no account can make. */
const drawn = (count: number) =>
  Effect.promise(() =>
    Promise.all(
      Array.from({ length: count }, async (_, index): Promise<{ hash: Hex; signature: Hex }> => {
        const hash = random(32)
        if (index % 4 === 0) return { hash, signature: await account.sign({ hash }) }
        if (index % 4 === 1) return { hash, signature: random(index % 70) }
        return { hash, signature: concat([random(64), index % 4 === 2 ? "0x1b" : "0x1c"]) }
      })
    )
  )

const judged = (recover: typeof SignatureRecovery.Service, count: number) =>
  Effect.gen(function* () {
    const all = yield* drawn(count)
    const ours = yield* Effect.forEach(all, ({ hash, signature }) => recover(hash, signature), {
      concurrency: "unbounded"
    })
    const theirs = yield* Effect.promise(() =>
      Promise.all(all.map(({ hash, signature }) => recoverByViem({ hash, signature }).catch(() => undefined)))
    )
    expect<ReadonlyArray<string | undefined>>(ours).toEqual(theirs)
    return ours.filter((one) => one === address).length
  })

test(
  "many at once have the same signers as with viem: in turns at first, then in the thread",
  () =>
    Effect.gen(function* () {
      const recover = yield* make()
      expect(yield* judged(recover, 200)).toBe(50)
      // The thread has started by now.
      yield* Effect.sleep("1 second")
      let turns = 0
      let counts = true
      const count = () => {
        if (!counts) return
        turns++
        setImmediate(count)
      }
      setImmediate(count)
      expect(yield* judged(recover, 200)).toBe(50)
      counts = false
      expect(turns).toBeGreaterThan(0)
    }).pipe(Effect.scoped, Effect.runPromise),
  180_000
)

/** The nice value of each thread of this process: field 17 after its name (proc(5)). */
const niceOfThreads = () =>
  readdirSync("/proc/self/task").map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16])
  })

test.skipIf(process.platform !== "linux")(
  "the thread has a lower priority than the event loop, whose own is unchanged",
  () =>
    Effect.gen(function* () {
      const recover = yield* make()
      const before = niceOfThreads()
      expect(yield* judged(recover, 200)).toBe(50)
      yield* Effect.sleep("1 second")
      expect(yield* judged(recover, 200)).toBe(50)
      const [main, ...others] = niceOfThreads()
      expect(main).toBe(before[0])
      expect(others).toContain(10)
    }).pipe(Effect.scoped, Effect.runPromise),
  180_000
)

/** A thread that finds no signer for anything, so that its answers differ from the event loop's. */
const knowsNobody = () =>
  programOf(`import { parentPort } from "node:worker_threads"
    parentPort.on("message", (asked) => parentPort.postMessage(new Uint8Array((asked.length / 97) * 66)))
    parentPort.postMessage(new Uint8Array())`)

const signedOne = Effect.map(drawn(1), ([one]) => one ?? { hash: "0x" as const, signature: "0x" as const })

test("the thread is started by many signatures at once, and used once it is ready", () =>
  Effect.gen(function* () {
    const recover = yield* make(knowsNobody())
    expect(yield* judged(recover, 8)).toBe(2)
    yield* started
    expect(yield* judged(recover, 100)).toBe(25)
    yield* started
    const { hash, signature } = yield* signedOne
    expect(yield* recover(hash, signature)).toBeUndefined()
  }).pipe(Effect.scoped, Effect.runPromise))

testEffect("a thread that is idle for half a minute is stopped", () =>
  Effect.gen(function* () {
    const live = Effect.promise(() => Bun.sleep(500))
    const recover = yield* make(knowsNobody())
    expect(yield* judged(recover, 100)).toBe(25)
    yield* live
    const first = yield* signedOne
    expect(yield* recover(first.hash, first.signature)).toBeUndefined()
    yield* TestClock.adjust("31 seconds")
    const second = yield* signedOne
    expect(yield* recover(second.hash, second.signature)).toBeUndefined()
    yield* TestClock.adjust("62 seconds")
    yield* live
    const third = yield* signedOne
    expect(yield* recover(third.hash, third.signature)).toBe(address)
  }).pipe(Effect.scoped)
)

test("a repeated signature is not recovered again", () =>
  Effect.gen(function* () {
    const recover = yield* make()
    const hash = random(32)
    const signature = yield* Effect.promise(() => account.sign({ hash }))
    expect(yield* recover(hash, signature)).toBe(address)
    // Synchronously, from the cache.
    expect(Effect.runSync(recover(hash, signature))).toBe(address)
    // Another hash or another signature is another cache entry.
    expect(yield* recover(random(32), signature)).not.toBe(address)
    const bad = concat([random(64), "0x1d"])
    expect(yield* recover(hash, bad)).toBeUndefined()
    expect(Effect.runSync(recover(hash, bad))).toBeUndefined()
  }).pipe(Effect.scoped, Effect.runPromise))

test(
  "a thread that does not start, or dies with requests, loses no answer",
  () =>
    Effect.gen(function* () {
      const programs = {
        throws: `throw new Error("no thread")`,
        ends: `import { parentPort } from "node:worker_threads"
        parentPort.on("message", () => process.exit(1))
        parentPort.postMessage(new Uint8Array())`
      }
      for (const program of Object.values(programs)) {
        const path = programOf(program)
        const recover = yield* make(path)
        expect(yield* judged(recover, 100)).toBe(25)
        yield* Effect.sleep("300 millis")
        expect(yield* judged(recover, 100)).toBe(25)
      }
    }).pipe(Effect.scoped, Effect.runPromise),
  180_000
)

test(
  "an input longer than a signature is not cached",
  () =>
    Effect.gen(function* () {
      const recover = yield* make()
      const held = () => {
        Bun.gc(true)
        return heapStats().heapSize
      }
      const before = held()
      for (let count = 0; count < 1_000; count++)
        expect(yield* recover(random(32), random(60_000))).toBeUndefined()
      expect(held() - before).toBeLessThan(20_000_000)
    }).pipe(Effect.scoped, Effect.runPromise),
  180_000
)

test("without a service each signer is recovered at once", () =>
  Effect.gen(function* () {
    const recover = yield* SignatureRecovery
    const hash = random(32)
    const signature = yield* Effect.promise(() => account.sign({ hash }))
    expect(yield* recover(hash, signature)).toBe(address)
  }).pipe(Effect.runPromise))
