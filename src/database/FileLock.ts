// Locks between processes that end with their holder, however it dies: SQLite's locks on a file.
import { Database as SqliteFile } from "bun:sqlite"
import { Effect, Schedule, type Scope } from "effect"

const isBusy = (error: unknown) => error instanceof Error && /locked|busy/i.test(error.message)

const open = (path: string, statement: string): SqliteFile | undefined => {
  const file = new SqliteFile(path)
  try {
    file.run("PRAGMA locking_mode = NORMAL")
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

/** Holds the file beside other holders until the scope closes, or `close` is called. Throws what the file system says. */
export const hold = (path: string): SqliteFile | undefined => open(path, "BEGIN")

/** Holds the file alone; undefined where anybody else holds it. */
export const holdAlone = (path: string): SqliteFile | undefined => open(path, "BEGIN EXCLUSIVE")

class Busy extends Error {}

/** Waits until the file is this process's alone, for as long as the scope is open. */
export const waitAlone = (path: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const file = holdAlone(path)
        if (file === undefined) throw new Busy()
        return file
      },
      catch: (error) => error
    }).pipe(
      Effect.retry({ schedule: Schedule.spaced("20 millis"), while: (error) => error instanceof Busy }),
      Effect.orDie
    ),
    (file) => Effect.sync(() => file.close())
  )
