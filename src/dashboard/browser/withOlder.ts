/** The newest page, then what was shown before and is not on it: what others add pushes nothing out of sight. */
export const withOlder = <A>(
  newest: ReadonlyArray<A>,
  before: ReadonlyArray<A>,
  idOf: (one: A) => string | number
): ReadonlyArray<A> => {
  const ids = new Set(newest.map(idOf))
  return [...newest, ...before.filter((one) => !ids.has(idOf(one)))]
}
