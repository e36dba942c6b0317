interface Listed {
  readonly id: string
  readonly at: string
}

const isAfter = (one: Listed, last: Listed) => one.at < last.at || (one.at === last.at && one.id < last.id)

/**
 * True if the newest page reaches the entries that were read before. If more entries arrived than a page holds, for
 * example while the tab was asleep, there are unread entries in between.
 */
export const meets = (newest: ReadonlyArray<Listed>, before: ReadonlyArray<Listed>): boolean => {
  const ids = new Set(before.map(({ id }) => id))
  return newest.some(({ id }) => ids.has(id))
}

/**
 * The newest page and the entries that were read beyond it, newest first. An entry that the page covers and no longer
 * contains has left the list.
 */
export const continued = <A extends Listed>(
  newest: { readonly items: ReadonlyArray<A>; readonly hasMore: boolean },
  before: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const last = newest.items.at(-1)
  if (last === undefined || !newest.hasMore) return newest.items
  return [...newest.items, ...before.filter((one) => isAfter(one, last))]
}
