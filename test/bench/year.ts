// `bun run bench year`: a year of one large merchant (overview, statement and balances), read for the first time and
// again, next to a neighbour who opens payments. Prints the plan of each statement.
import { SQL } from "bun"
import { Effect } from "effect"
import { signUp } from "../dashboard/person.ts"
import { spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { fill, withoutIndexes } from "./growth.ts"
import { startPostgres } from "./postgres.ts"
import { built, serviceEnv } from "./servers.ts"
import { settings } from "./settings.ts"
import { median } from "./statistics.ts"

export interface YearResult {
  readonly payments: number
  readonly reads: ReadonlyArray<{
    readonly name: string
    /** Seconds of the first read, and the median of the later ones. */
    readonly first: number
    readonly again: number
  }>
  /** Milliseconds within which 99 of 100 openings of the neighbour are answered, and their ratio: medians of the rounds. */
  readonly neighbour: {
    readonly alone: number
    readonly beside: number
    readonly ratio: number
    readonly failed: number
  }
}

const repeats = 20
/** Twelve people who each read the year once in three seconds. */
const readEveryMillis = 250
/** The neighbour's openings a second, for how many seconds, and the number of rounds without and with the reads. */
const openings = { perSecond: 50, seconds: 8, rounds: 5 }

/** From the server's log: each statement once, with its plan. */
const plansOf = (log: string): ReadonlyArray<string> => {
  const plans = new Map<string, string>()
  for (const [, body = ""] of log.matchAll(/LOG: {2}duration: [\d.]+ ms {2}plan:\n((?:\t.*\n?)+)/g)) {
    const text = body.replaceAll(/^\t/gm, "")
    const [query = "", plan = ""] = text.split(/\n(?=\S.*\(cost=)/)
    plans.set(query.replaceAll(/\s+/g, " "), plan)
  }
  return [...plans].map(([query, plan]) => `${query}\n${plan}`)
}

export const measureYear = Effect.gen(function* () {
  const url = yield* startPostgres(["shared_preload_libraries=auto_explain", "logging_collector=on"])
  const directory = yield* temporaryDirectory
  const service = yield* spawnService({ ...serviceEnv, DATABASE_URL: url, DATA_DIR: directory }, built)
  yield* untilReady(service)
  return yield* Effect.promise(async (): Promise<YearResult> => {
    const person = await signUp(service.baseUrl)
    const neighbour = await signUp(service.baseUrl)
    const sql = new SQL(url, { max: 1 })
    await withoutIndexes(sql, () => fill(sql, person.merchantId, settings.year, 1))
    // The books are read up to now, so that balances are compared.
    await sql.unsafe(
      "INSERT INTO chain_cursors (chain_id, block_number, block_hash, block_time) VALUES (84532, 1000, decode(repeat('ab', 32), 'hex'), now())"
    )
    await sql.unsafe("VACUUM ANALYZE")
    console.log(`year ${settings.year.toLocaleString("en")} payments are in`)

    const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
    const period = `from=${day(364)}&to=${day(0)}`
    /** Seconds until the answer; repeated if the first reads take too long for one request. */
    const read = async (path: string) => {
      const start = performance.now()
      for (;;) {
        // Tests treat a 503 as a failure; here it means that the first read has not summed all days yet.
        const { status } = await fetch(
          `${service.baseUrl}/dashboard/api/merchants/${person.merchantId}/test${path}?${period}`,
          { headers: { cookie: person.cookie, "sec-fetch-site": "same-origin" } }
        )
        if (status === 200) return (performance.now() - start) / 1_000
        if (status !== 503 || performance.now() - start > 300_000) throw new Error(`${path}: ${status}`)
      }
    }
    const paths = { overview: "/overview", "statement and balances": "/books" }

    const failures = { count: 0 }
    const open = async () => {
      const start = performance.now()
      const post = (path: string, key: string, body: unknown) =>
        fetch(`${service.baseUrl}/api/v1${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(body)
        })
      const intent = await post("/payment-intents", neighbour.keys.test.secret, {
        amount: "1.00",
        intentUrl: "https://shop.example.com/1"
      })
      const { intentToken } = await intent.json()
      const opened = await post("/payments", neighbour.keys.test.publishable, { intentToken })
      if (opened.status !== 201) failures.count++
      const text = await opened.text()
      if (opened.status < 500 && opened.status !== 201) throw new Error(text)
      return performance.now() - start
    }
    const p99 = async () => {
      const times: Array<Promise<number>> = []
      for (let index = 0; index < openings.perSecond * openings.seconds; index++) {
        times.push(open())
        await Bun.sleep(1_000 / openings.perSecond)
      }
      const sorted = (await Promise.all(times)).toSorted((a, b) => a - b)
      return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
    }

    const explain = async (millis: number) => {
      await sql.unsafe(`ALTER SYSTEM SET auto_explain.log_min_duration = ${millis}`)
      await sql.unsafe("SELECT pg_reload_conf()")
    }
    await explain(0)
    const firsts: Record<string, number> = {}
    for (const [name, path] of Object.entries(paths)) firsts[name] = await read(path)
    for (const path of Object.values(paths)) await read(path)
    await explain(-1)
    const [{ log } = { log: "" }] = await sql.unsafe("SELECT pg_read_file(pg_current_logfile()) AS log")
    for (const plan of plansOf(log)) console.log(`${plan}\n`)

    const besideReads = async () => {
      let goesOn = true
      const reading = (async () => {
        while (goesOn)
          for (const path of Object.values(paths)) {
            await read(path)
            await Bun.sleep(readEveryMillis)
          }
      })()
      const beside = await p99()
      goesOn = false
      await reading
      return beside
    }
    await p99()
    const rounds: Array<{ readonly alone: number; readonly beside: number }> = []
    while (rounds.length < openings.rounds) rounds.push({ alone: await p99(), beside: await besideReads() })
    const reads: Array<YearResult["reads"][number]> = []
    for (const [name, path] of Object.entries(paths)) {
      const times: Array<number> = []
      for (let count = 0; count < repeats; count++) times.push(await read(path))
      reads.push({ name, first: firsts[name] ?? Number.NaN, again: median(times) })
    }
    await sql.close()
    return {
      payments: settings.year,
      reads,
      neighbour: {
        alone: median(rounds.map(({ alone }) => alone)),
        beside: median(rounds.map(({ beside }) => beside)),
        ratio: median(rounds.map(({ alone, beside }) => beside / alone)),
        failed: failures.count
      }
    }
  })
})
