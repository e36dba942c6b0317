/**
 * Runs an action now, then at most every five seconds. A worker that took a row before the change under test would
 * otherwise consume its only look.
 */
export const eachFewSeconds = (action: () => Promise<unknown>) => {
  let next = 0
  return async () => {
    if (Date.now() < next) return
    next = Date.now() + 5_000
    await action()
  }
}
