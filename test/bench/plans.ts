// The plans that Postgres runs, as auto_explain logs them: those of the service's own
// statements, prepared and cached as they are, not of copies.
import { readFileSync } from "node:fs"
import { SQL } from "bun"
import { Effect } from "effect"

/** What Postgres must be started with. Each entry of its log begins with the database's name. */
export const explaining = ["session_preload_libraries=auto_explain", "log_line_prefix=%d:"]

/** The entries of one database in a log; their further lines are indented. */
export const entriesOf = (log: string, database: string): string =>
  (log.match(/^\S.*\n(?:[ \t].*\n?)*/gm) ?? []).filter((entry) => entry.startsWith(`${database}:`)).join("")

/** Of these tables, those that a plan reads from end to end. */
export const scannedTables = (plans: string, tables: ReadonlyArray<string>): ReadonlyArray<string> =>
  tables.filter((table) => new RegExp(`Seq Scan on (?:public\\.)?${table}\\b`).test(plans))

/** Names of the indexes that plans read, each once. */
export const indexNames = (plans: string): ReadonlyArray<string> => [
  ...new Set(
    [...plans.matchAll(/(?:Index(?: Only)? Scan(?: Backward)? using|Bitmap Index Scan on) (\w+)/g)].map(
      (match) => match[1] ?? ""
    )
  )
]

/** Logs every plan from now on. What it answers runs some work and tells the plans that it took in one database. */
export const indexesRead = (postgres: { readonly url: string; readonly logFile: string }, database: string) =>
  Effect.promise(async () => {
    const sql = new SQL(postgres.url, { max: 1 })
    await sql.unsafe("ALTER SYSTEM SET auto_explain.log_min_duration = 0")
    await sql.unsafe("SELECT pg_reload_conf()")
    await sql.close()
    // Connections read it before their next statement.
    await Bun.sleep(500)
    return async (work: () => Promise<void>) => {
      const before = readFileSync(postgres.logFile, "utf8").length
      for (let tries = 0; tries < 20; tries++) {
        await work()
        await Bun.sleep(100)
        const text = entriesOf(readFileSync(postgres.logFile, "utf8").slice(before), database)
        const indexes = indexNames(text)
        if (text.includes("payments") && indexes.length > 0) return { text, indexes }
      }
      throw new Error("auto_explain told no plan")
    }
  })
