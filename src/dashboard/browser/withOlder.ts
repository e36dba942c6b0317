/** The newest page, then the entries shown before that are not on it, so that new entries push nothing out of view. */
export const withOlder = <A>(
  newest: ReadonlyArray<A>,
  before: ReadonlyArray<A>,
  idOf: (one: A) => string | number
): ReadonlyArray<A> => {
  const ids = new Set(newest.map(idOf))
  return [...newest, ...before.filter((one) => !ids.has(idOf(one)))]
}
