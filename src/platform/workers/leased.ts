// A batch of a queue under a lease: of several instances one takes a row, and what a process that was
// killed had taken comes again when the lease ends.
import { DateTime, Effect } from "effect"

export interface Leased<A, E, R, E2, R2> {
  /** The action on one row, for the log. */
  readonly what: string
  /** Longer than the rows of a batch take against a chain that does not answer. */
  readonly leaseMillis: number
  readonly batch: number
  readonly concurrency: number
  readonly take: (at: Date, leaseUntil: Date, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>
  readonly each: (row: A) => Effect.Effect<unknown, E2, R2>
  /** The annotations of its log lines. */
  readonly annotations: (row: A) => Record<string, string>
}

/** True where more may be due. A row that fails is logged, and keeps neither the others nor its next time. */
export const leased = <A, E, R, E2, R2>({
  annotations,
  batch,
  concurrency,
  each,
  leaseMillis,
  take,
  what
}: Leased<A, E, R, E2, R2>): Effect.Effect<boolean, E, R | R2> =>
  Effect.gen(function* () {
    const at = yield* DateTime.nowAsDate
    const rows = yield* take(at, new Date(at.getTime() + leaseMillis), batch)
    yield* Effect.forEach(
      rows,
      (row) =>
        each(row).pipe(
          Effect.catchCause((cause) =>
            Effect.logError(`${what} failed; retrying when its lease expires`, cause)
          ),
          Effect.annotateLogs(annotations(row))
        ),
      { concurrency, discard: true }
    )
    return rows.length === batch
  })
