// Calls whose result no client has received yet. A client that gives up and calls again joins its call.

/** How long an uncollected result is stored. */
const storedMillis = 10 * 60_000
const maxCalls = 100

interface Call<A> {
  readonly id: string
  readonly answer: Promise<A>
  /** Call this once the client has the result: the next call is a new one. */
  readonly done: () => void
}

export const makeUnderWay = <A>() => {
  const calls = new Map<string, Call<A>>()
  return {
    /** Returns the running call with this id or, without one, this content. Otherwise begins a call. */
    join: (requestId: string | undefined, call: string, begin: (id: string) => Promise<A>): Call<A> => {
      const running = calls.get(requestId ?? call)
      if (running !== undefined) return running
      const id = requestId ?? crypto.randomUUID()
      const names = requestId === undefined ? [id, call] : [id]
      const done = () => {
        for (const name of names) calls.delete(name)
        clearTimeout(timer)
      }
      const timer = setTimeout(done, storedMillis)
      timer.unref()
      const answer = begin(id)
      // Callers that join handle the failure; without any, it is not an unhandled rejection.
      answer.catch(() => undefined)
      const begunCall = { id, answer, done }
      for (const name of names) calls.set(name, begunCall)
      for (const [name] of calls) {
        if (calls.size <= 2 * maxCalls) break
        calls.delete(name)
      }
      return begunCall
    }
  }
}
