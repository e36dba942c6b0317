// Calls whose answer nobody has heard yet: a client that gives up and calls again joins the call that there is.

/** The time for which an uncollected answer is stored. */
const keptMillis = 10 * 60_000
const mostKept = 100

interface Call<A> {
  readonly id: string
  readonly answer: Promise<A>
  /** The caller has heard the answer: the next call is another one. */
  readonly done: () => void
}

export const makeUnderWay = <A>() => {
  const calls = new Map<string, Call<A>>()
  return {
    /** The call of that id, or the same call without one; otherwise a new one, begun under the id or a new id. */
    join: (requestId: string | undefined, call: string, begin: (id: string) => Promise<A>): Call<A> => {
      const known = calls.get(requestId ?? call)
      if (known !== undefined) return known
      const id = requestId ?? crypto.randomUUID()
      const names = requestId === undefined ? [id, call] : [id]
      const done = () => {
        for (const name of names) calls.delete(name)
        clearTimeout(timer)
      }
      const timer = setTimeout(done, keptMillis)
      timer.unref()
      const answer = begin(id)
      // Heard by whoever joins; a failure that nobody hears is none.
      answer.catch(() => undefined)
      const begun = { id, answer, done }
      for (const name of names) calls.set(name, begun)
      for (const [name] of calls) {
        if (calls.size <= 2 * mostKept) break
        calls.delete(name)
      }
      return begun
    }
  }
}
