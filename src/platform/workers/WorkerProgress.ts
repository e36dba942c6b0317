// The workers of this process that make no progress, since when, and why.
import { Context } from "effect"

export interface WorkerFailure {
  readonly worker: string
  /** Unix milliseconds. */
  readonly since: number
  readonly reason: string
}

export const makeWorkerProgress = () => {
  const failures = new Map<string, WorkerFailure>()
  return {
    /** A round failed, or met an obstacle. */
    recordFailure: (worker: string, at: number, reason: string): void =>
      void failures.set(worker, { worker, since: failures.get(worker)?.since ?? at, reason }),
    recordSuccess: (worker: string): void => void failures.delete(worker),
    failures: (): ReadonlyArray<WorkerFailure> => [...failures.values()]
  }
}

/** The process's own progress. */
export const WorkerProgress = Context.Reference<ReturnType<typeof makeWorkerProgress>>(
  "quittance/platform/WorkerProgress",
  { defaultValue: makeWorkerProgress }
)
