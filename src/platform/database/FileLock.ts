// Locks between processes that end with their holder, however it dies: SQLite's locks on a file.
import { Database as SqliteFile } from "bun:sqlite"
import { existsSync, readFileSync, statSync } from "node:fs"
import { type Cause, Effect, Schedule, type Scope } from "effect"

const isBusy = (error: unknown) => error instanceof Error && /locked|busy/i.test(error.message)

const open = (path: string, statement: string): SqliteFile | undefined => {
  const file = new SqliteFile(path)
  try {
    file.run("PRAGMA locking_mode = NORMAL")
    // Nothing is ever committed, so a lock needs no space on the disk.
    file.run("PRAGMA journal_mode = MEMORY")
    file.run(statement)
    // The first read takes the lock that BEGIN only announces.
    file.query("SELECT count(*) FROM sqlite_master").get()
    return file
  } catch (error) {
    file.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/**
 * Holds the file together with other holders until the scope closes, or `close` is called. Throws file system errors.
 */
export const hold = (path: string): SqliteFile | undefined => open(path, "BEGIN")

/** Holds the file exclusively; undefined if anyone else holds it. */
export const holdAlone = (path: string): SqliteFile | undefined => open(path, "BEGIN EXCLUSIVE")

/** The process that holds the file, if the system reports it. */
const holderOf = (path: string): string => {
  const locks = "/proc/locks"
  if (!existsSync(locks)) return "another process"
  const { ino } = statSync(path)
  const [, pid] = new RegExp(` WRITE (\\d+) \\S+:${ino} `).exec(readFileSync(locks, "utf8")) ?? []
  return pid === undefined ? "another process" : `process ${pid}`
}

/** Waits until this process holds the file exclusively, for as long as the scope is open. Fails with file system errors. */
export const waitAlone = (path: string): Effect.Effect<void, Cause.UnknownError, Scope.Scope> => {
  const taken = Effect.uninterruptible(
    Effect.gen(function* () {
      const file = yield* Effect.try(() => holdAlone(path))
      if (file !== undefined) yield* Effect.addFinalizer(() => Effect.sync(() => file.close()))
      return file !== undefined
    })
  )
  const wait = (times: number) =>
    Effect.repeat(taken, { schedule: Schedule.spaced("20 millis"), times, until: (has) => has })
  return Effect.gen(function* () {
    if (yield* wait(100)) return
    yield* Effect.logWarning(
      `Waiting for ${path}: ${holderOf(path)} holds it, to start or stop the embedded database. If it is suspended, resume it or stop it.`
    )
    yield* wait(Number.POSITIVE_INFINITY)
  })
}
