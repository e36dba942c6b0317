// Lookups that requests ask for in one turn of the event loop go to the database as one
// statement. Nothing is kept: each is answered by a statement sent after it was asked.
import { Effect, Exit, Option } from "effect"

type Resume<A> = (found: Effect.Effect<Option.Option<A>>) => void

/**
 * Turns a lookup of many into one that requests call one by one. Those that ask for the
 * same key in the same turn share its answer; a statement that fails fails all that wait for it.
 */
export const lookupTogether = <A, R>(
  findAll: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, A>, never, R>
): Effect.Effect<(key: string) => Effect.Effect<Option.Option<A>>, never, R> =>
  Effect.map(Effect.context<R>(), (context) => {
    let waiting = new Map<string, Array<Resume<A>>>()

    const send = () => {
      const asked = waiting
      waiting = new Map()
      Effect.runForkWith(context)(findAll([...asked.keys()])).addObserver((exit) => {
        for (const [key, resumes] of asked) {
          const found = Exit.map(exit, (all) => Option.fromUndefinedOr(all.get(key)))
          for (const resume of resumes) resume(found)
        }
      })
    }

    return (key) =>
      Effect.callback<Option.Option<A>>((resume) => {
        const same = waiting.get(key)
        if (same !== undefined) {
          same.push(resume)
          return
        }
        waiting.set(key, [resume])
        // After all that has already arrived on the sockets.
        if (waiting.size === 1) setImmediate(send)
      })
  })
