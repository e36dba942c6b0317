// Takes a batch of a queue under a lease: only one of several instances takes a row, and the rows of a killed process
// become due again when the lease ends.
import { DateTime, Effect } from "effect"
import { plusMillis } from "../../domain/plusMillis.ts"

export interface LeasedBatch<A, E, R, E2, R2> {
  /** The action on one row, for the log. */
  readonly what: string
  /** Longer than the rows of a batch take against a chain that does not respond. */
  readonly leaseMillis: number
  readonly batchSize: number
  readonly concurrency: number
  readonly take: (at: Date, leaseUntil: Date, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>
  readonly process: (row: A) => Effect.Effect<unknown, E2, R2>
  /** The annotations of its log lines. */
  readonly annotations: (row: A) => Record<string, string>
}

/** True if more may be due. A row that fails is logged; the other rows and its own next time are unaffected. */
export const processBatch = <A, E, R, E2, R2>({
  annotations,
  batchSize,
  concurrency,
  process,
  leaseMillis,
  take,
  what
}: LeasedBatch<A, E, R, E2, R2>): Effect.Effect<boolean, E, R | R2> =>
  Effect.gen(function* () {
    const at = yield* DateTime.nowAsDate
    const rows = yield* take(at, plusMillis(at, leaseMillis), batchSize)
    yield* Effect.forEach(
      rows,
      (row) =>
        process(row).pipe(
          Effect.catchCause((cause) =>
            Effect.logError(`${what} failed; retrying when its lease expires`, cause)
          ),
          Effect.annotateLogs(annotations(row))
        ),
      { concurrency, discard: true }
    )
    return rows.length === batchSize
  })
