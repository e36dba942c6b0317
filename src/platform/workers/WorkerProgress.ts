// The workers of this process that make no progress, since when, and why.
import { Context } from "effect"

export interface Trouble {
  readonly worker: string
  /** Unix milliseconds. */
  readonly since: number
  readonly words: string
}

export const makeWorkerProgress = () => {
  const troubles = new Map<string, Trouble>()
  return {
    /** A round failed, or met an obstacle. */
    fails: (worker: string, at: number, words: string): void =>
      void troubles.set(worker, { worker, since: troubles.get(worker)?.since ?? at, words }),
    succeeds: (worker: string): void => void troubles.delete(worker),
    troubles: (): ReadonlyArray<Trouble> => [...troubles.values()]
  }
}

/** The process's own progress. */
export const WorkerProgress = Context.Reference<ReturnType<typeof makeWorkerProgress>>(
  "quittance/platform/WorkerProgress",
  { defaultValue: makeWorkerProgress }
)
