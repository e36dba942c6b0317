// The service's own Postgres, in a directory. The first process starts it, later ones join it, and the last one stops
// it. It listens on a socket in its data directory, which only its user can enter, and requires a password from a file
// beside it.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option, type Redacted, Schedule, Scope } from "effect"
import { startPeriodic } from "../workers/startWorker.ts"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"
import { Cluster } from "./EmbeddedPostgres/Cluster.ts"
import { hold, holdAlone, waitAlone } from "./FileLock.ts"
import { fullDisk } from "./fullDisk.ts"

/** The connection parameters for a client. */
export interface EmbeddedPostgres {
  /** The socket. */
  readonly path: string
  readonly username: "postgres"
  readonly password: Redacted.Redacted
  readonly database: "postgres"
}

/** The time a leaving process waits for another that starts or stops the server. */
const leaveMillis = 5_000
const watchEvery = "1 second"

const sentenceOf = (directory: string, error: unknown): DatabaseRefusal => {
  const message = error instanceof Error ? error.message : String(error)
  const full = fullDisk(directory)
  if (full !== undefined)
    return new DatabaseRefusal({
      message: `The embedded database in ${directory} cannot be opened. ${full}, then start again. It says: ${message}`
    })
  return new DatabaseRefusal({
    message: /DATA_DIR|DATABASE_URL/.test(message)
      ? message
      : `The embedded database in ${directory} cannot be opened: ${message}. Set DATA_DIR to a writable directory.`
  })
}

/**
 * The Postgres in the directory, which runs until the scope of its last user closes. If it is killed, it is started
 * again. `overrides` adds settings if it is started here.
 */
export const joinEmbeddedPostgres = Effect.fnUntraced(function* (
  directory: string,
  overrides: Readonly<Record<string, string>> = {}
): Effect.fn.Return<EmbeddedPostgres, DatabaseRefusal, Scope.Scope> {
  const attempt = <A>(work: () => A | Promise<A>) =>
    Effect.tryPromise({ try: async () => work(), catch: (error) => sentenceOf(directory, error) })
  const cluster = new Cluster(directory, overrides)
  yield* attempt(() => {
    cluster.check()
    mkdirSync(cluster.directory, { recursive: true, mode: 0o700 })
  })
  const users = join(cluster.directory, "users.lock")
  /** Lets only one process at a time start or stop the server. */
  const startLock = Effect.mapError(waitAlone(join(cluster.directory, "start.lock")), ({ cause }) =>
    sentenceOf(directory, cause)
  )
  const leave = (mine: { readonly close: () => void }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const isAlone = yield* startLock.pipe(
          Effect.interruptible,
          Effect.timeoutOption(leaveMillis),
          Effect.orElseSucceed(() => Option.none())
        )
        mine.close()
        const last = Option.isSome(isAlone) ? holdAlone(users) : undefined
        if (last === undefined) return
        yield* Effect.promise(() => cluster.stop())
        last.close()
      })
    )
  /**
   * Runs `work` under start.lock. Only waiting for the lock can be interrupted, so every server that is started here
   * also gets a user that stops it.
   */
  const startedAlone = (work: Effect.Effect<boolean, DatabaseRefusal>) =>
    Effect.uninterruptibleMask((restore) => Effect.scoped(Effect.andThen(restore(startLock), work)))
  const untilDone = (work: Effect.Effect<boolean, DatabaseRefusal>) =>
    Effect.gen(function* () {
      const again = (times: number) =>
        Effect.repeat(work, { schedule: Schedule.spaced("100 millis"), times, until: (done) => done })
      if (yield* again(20)) return
      yield* Effect.logWarning(
        `Waiting for the embedded database in ${cluster.directory}: another Postgres process holds the data directory and does not respond. If its container is paused or suspended, resume or stop it.`
      )
      yield* again(Number.POSITIVE_INFINITY)
    })

  const scope = yield* Scope.Scope
  yield* untilDone(
    startedAlone(
      Effect.gen(function* () {
        const mine = yield* attempt(async () => {
          cluster.check()
          // Processes that arrive now wait for start.lock.
          const nobody = holdAlone(users)
          nobody?.close()
          if (!(await cluster.secure(nobody === undefined)) || !(await cluster.ensure())) return undefined
          const held = hold(users)
          if (held === undefined) throw new Error(`${users} is held by another program`)
          return held
        })
        if (mine !== undefined) yield* Scope.addFinalizer(scope, leave(mine))
        return mine !== undefined
      })
    )
  )
  yield* startPeriodic(
    "Restarting the embedded Postgres",
    Effect.sleep(watchEvery),
    Effect.suspend(() => {
      cluster.boundLog()
      return cluster.running() === undefined
        ? untilDone(startedAlone(attempt(() => cluster.ensure())))
        : Effect.void
    })
  )
  return { path: cluster.socket, username: "postgres", password: cluster.password(), database: "postgres" }
})
