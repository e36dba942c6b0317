// `bun run bench week`: a week of ten payments a minute, opened, settled and delivered in some seven minutes: what
// autovacuum, as Postgres has it by default, leaves of the dead rows, and how much larger the tables are than their rows.
import { SQL } from "bun"
import { Effect } from "effect"
import { freePort } from "../../../src/dev/freePort.ts"
import { spawnProgram, temporaryDirectory } from "../../support/process.ts"
import { startPostgres } from "../postgres.ts"
import { startReceiver } from "../receiving.ts"
import { serviceEnv } from "../servers.ts"

export interface WeekResult {
  readonly payments: number
  readonly minutes: number
  readonly tables: ReadonlyArray<{
    readonly name: string
    readonly rows: number
    readonly dead: number
    /** Megabytes with the indexes, and after `VACUUM FULL`. */
    readonly megabytes: number
    readonly leastMegabytes: number
    readonly vacuums: number
  }>
}

const tables = ["payments", "claimed_transfers", "webhook_deliveries", "webhook_attempts"]
/** The settler's warm-up goes at 300 a second for as long. */
const perSecond = 100
const seconds = 252
const payments = (300 + perSecond) * seconds

export const measureWeek = Effect.gen(function* () {
  const { url: databaseUrl } = yield* startPostgres()
  const receiver = yield* startReceiver
  const begun = performance.now()
  const child = yield* spawnProgram(
    [
      ...["test/bench/settling/settler.ts", "--hook", receiver.hook],
      ...["--rates", String(perSecond), "--seconds", String(seconds)]
    ],
    {
      ...serviceEnv,
      DATABASE_URL: databaseUrl,
      DATA_DIR: yield* temporaryDirectory,
      PORT: String(yield* freePort(0)),
      WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`
    }
  )
  yield* child.succeeded
  const minutes = (performance.now() - begun) / 60_000
  return yield* Effect.promise(async () => {
    const sql = new SQL(databaseUrl, { max: 1 })
    // Autovacuum looks once a minute.
    await Bun.sleep(70_000)
    const sizeOf = async (name: string) => {
      const [row] = await sql`SELECT pg_total_relation_size(${name}::regclass)::float8 / 1e6 AS megabytes`
      return Number(row.megabytes)
    }
    const measured: Array<WeekResult["tables"][number]> = []
    for (const name of tables) {
      const [row] = await sql`
        SELECT n_live_tup::int AS rows, n_dead_tup::int AS dead, autovacuum_count::int AS vacuums
        FROM pg_stat_user_tables WHERE relname = ${name}`
      const megabytes = await sizeOf(name)
      await sql.unsafe(`VACUUM FULL ${name}`)
      const leastMegabytes = await sizeOf(name)
      measured.push({ name, ...row, megabytes, leastMegabytes })
      console.log(
        `week  ${name.padEnd(20)} ${row.rows} rows, ${row.dead} dead, ${megabytes.toFixed(0)} MB, ${(megabytes / leastMegabytes).toFixed(2)} of the least, ${row.vacuums} vacuums`
      )
    }
    await sql.close()
    const result: WeekResult = { payments, minutes, tables: measured }
    return result
  })
})
