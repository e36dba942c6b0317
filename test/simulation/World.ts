// The scheduler and the clock of a simulated world. All fibers of all instances and people wait in one list, from which
// the seed draws which one runs next and where it is preempted. If nothing is ready, the clock jumps to the next timer:
// nobody waits for time.
import { drainMicrotasks } from "bun:jsc"
import { Clock, Context, Duration, Effect, Scheduler } from "effect"
import type { Draw } from "./Draw.ts"
import { Trace } from "./Trace.ts"

/** The owner of tasks and timers: an instance of the service, or the world around them. */
export interface Owner {
  readonly name: string
  /** Tasks and timers of an abandoned instance never run. */
  alive: boolean
  /** The lead of its clock. */
  skewMillis: number
  /** None of its tasks runs before this time of the world. */
  frozenUntil?: number
}

/** The owner of the running fiber. */
export const CurrentOwner = Context.Reference<Owner>("quittance/simulation/CurrentOwner", {
  defaultValue: () => ({ name: "outside", alive: true, skewMillis: 0 })
})

interface Task {
  readonly owner: Owner
  readonly run: () => void
}

export interface Timer extends Task {
  readonly at: number
  readonly order: number
  cancelled: boolean
}

export interface WorldOptions {
  /** The approximate number of operations after which another fiber may run. */
  readonly preemptAfter: number
  /** Steps after which an endless run is stopped. */
  readonly longest: number
}

/** The world begins at this time. */
export const beginning = Date.UTC(2026, 0, 5, 12)
/** Steps at one time of the world, after which the run counts as stuck. */
const patience = 10_000

export class WorldStuck extends Error {}

export class World {
  readonly trace = new Trace()
  readonly outside: Owner = { name: "outside", alive: true, skewMillis: 0 }
  /** The owner of the running task. */
  running: Owner = this.outside
  now = beginning
  steps = 0
  /** Sleeps of a second or longer end at a multiple of this many milliseconds, together. */
  tick = 1
  /** Called after each step. */
  onStep: () => void = () => {}
  readonly #draw: Draw
  readonly #preempt: Draw
  readonly #options: WorldOptions
  readonly #ready: Array<Task> = []
  readonly #timers: Array<Timer> = []
  #order = 0
  #budget: number

  constructor(draw: Draw, options: WorldOptions) {
    this.#draw = draw.of("next task")
    this.#preempt = draw.of("preemption")
    this.#options = options
    this.#budget = this.#nextBudget()
  }

  /** Milliseconds since the beginning. */
  get elapsed(): number {
    return this.now - beginning
  }

  tell(who: string, what: string): void {
    this.trace.tell(this.elapsed, who, what)
  }

  schedule(owner: Owner, run: () => void): void {
    this.#ready.push({ owner, run })
  }

  after(millis: number, owner: Owner, run: () => void): Timer {
    const timer: Timer = {
      at: this.now + Math.max(0, Math.ceil(millis)),
      order: this.#order++,
      owner,
      run,
      cancelled: false
    }
    push(this.#timers, timer)
    return timer
  }

  /** The context of the owner's fibers. */
  context(owner: Owner): Context.Context<never> {
    return Context.empty().pipe(
      Context.add(Scheduler.Scheduler, this.#scheduler(owner)),
      Context.add(Clock.Clock, this.clock(owner)),
      Context.add(CurrentOwner, owner)
    )
  }

  /** Runs until `isDone`, or until no task or timer is left. */
  run(isDone: () => boolean): void {
    let still = 0
    while (!isDone()) {
      if (this.#ready.length === 0) {
        const next = this.#jump()
        if (!next) return
        still = 0
        continue
      }
      if (this.steps >= this.#options.longest)
        throw new WorldStuck(`not at its end after ${this.steps} steps`)
      if (still++ > patience) throw new WorldStuck(`time stands still at ${this.elapsed} ms`)
      this.#step()
    }
  }

  #step(): void {
    const place = this.#draw.below(this.#ready.length)
    const task = this.#ready[place]
    const last = this.#ready.pop()
    if (task === undefined || last === undefined) return
    if (place < this.#ready.length) this.#ready[place] = last
    const { alive, frozenUntil = 0 } = task.owner
    if (!alive) return
    if (frozenUntil > this.now) {
      this.after(frozenUntil - this.now, task.owner, task.run)
      return
    }
    this.steps++
    this.trace.note(place)
    this.running = task.owner
    task.run()
    drainMicrotasks()
    this.running = this.outside
    this.onStep()
  }

  /** Moves to the next timer, and runs all that are due with it; returns false if there is none. */
  #jump(): boolean {
    let first = pop(this.#timers)
    while (first !== undefined && (first.cancelled || !first.owner.alive)) first = pop(this.#timers)
    if (first === undefined) return false
    this.now = first.at
    this.trace.note(this.elapsed)
    this.#ready.push(first)
    let next = this.#timers[0]
    while (next !== undefined && next.at <= this.now) {
      pop(this.#timers)
      if (!next.cancelled) this.#ready.push(next)
      next = this.#timers[0]
    }
    return true
  }

  #nextBudget(): number {
    return 1 + this.#preempt.below(2 * this.#options.preemptAfter)
  }

  #scheduler(owner: Owner): Scheduler.Scheduler {
    const dispatcher: Scheduler.SchedulerDispatcher = {
      scheduleTask: (run) => this.schedule(owner, run),
      flush: () => {}
    }
    return {
      executionMode: "async",
      shouldYield: () => {
        if (!owner.alive) return true
        if (--this.#budget > 0) return false
        this.#budget = this.#nextBudget()
        return true
      },
      makeDispatcher: () => dispatcher
    }
  }

  clock(owner: Owner): Clock.Clock {
    const wall = () => this.now + owner.skewMillis
    const nanos = () => BigInt(this.elapsed) * 1_000_000n
    const wallNanos = () => BigInt(wall()) * 1_000_000n
    return {
      currentTimeMillisUnsafe: wall,
      currentTimeMillis: Effect.sync(wall),
      currentTimeNanosUnsafe: wallNanos,
      currentTimeNanos: Effect.sync(wallNanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) => {
        const millis = Duration.toMillis(duration)
        if (millis <= 0) return Effect.yieldNow
        if (!Number.isFinite(millis)) return Effect.never
        return Effect.callback((resume) => {
          const late = millis < 1_000 ? 0 : this.tick - 1 - ((this.elapsed + millis - 1) % this.tick)
          const timer = this.after(millis + late, owner, () => resume(Effect.void))
          return Effect.sync(() => {
            timer.cancelled = true
          })
        })
      }
    }
  }
}

// A binary heap by time, then by order.
const isBefore = (one: Timer, other: Timer) =>
  one.at < other.at || (one.at === other.at && one.order < other.order)

const push = (heap: Array<Timer>, timer: Timer): void => {
  let place = heap.length
  heap.push(timer)
  while (place > 0) {
    const above = (place - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || !isBefore(timer, parent)) break
    heap[place] = parent
    place = above
  }
  heap[place] = timer
}

const pop = (heap: Array<Timer>): Timer | undefined => {
  const top = heap[0]
  const last = heap.pop()
  if (top === undefined || last === undefined || heap.length === 0) return top
  let place = 0
  while (true) {
    let below = 2 * place + 1
    const left = heap[below]
    if (left === undefined) break
    const right = heap[below + 1]
    const smaller = right !== undefined && isBefore(right, left) ? right : left
    if (smaller === right) below++
    if (!isBefore(smaller, last)) break
    heap[place] = smaller
    place = below
  }
  heap[place] = last
  return top
}
