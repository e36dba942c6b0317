// Limits work of one kind to a millisecond per turn of the event loop: however much of it waits, everything else is
// served in between.
import { Effect } from "effect"

/** The duration of a turn. */
const turnMillis = 1

export class LoopTurns {
  readonly #waiting: Array<() => void> = []
  #isTaken = false

  /** The number of tasks that wait for a turn. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Completes when it is the caller's turn. The turn lasts until the caller waits for something. */
  readonly take: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#isTaken) {
      this.#waiting.push(() => resume(Effect.void))
      return
    }
    this.#isTaken = true
    setImmediate(() => this.#next())
    resume(Effect.void)
  })

  #next(): void {
    if (this.#waiting.length === 0) {
      this.#isTaken = false
      return
    }
    setImmediate(() => this.#next())
    const until = performance.now() + turnMillis
    do this.#waiting.shift()?.()
    while (this.#waiting.length > 0 && performance.now() < until)
  }
}
