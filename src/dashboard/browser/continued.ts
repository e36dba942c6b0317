interface Listed {
  readonly id: string
  readonly at: string
}

const isAfter = (one: Listed, last: Listed) => one.at < last.at || (one.at === last.at && one.id < last.id)

/**
 * True if the newest page reaches what was read before. Where more have come than a page holds, as to a tab that was
 * asleep, some lie between them that nobody has read.
 */
export const meets = (newest: ReadonlyArray<Listed>, before: ReadonlyArray<Listed>): boolean => {
  const known = new Set(before.map(({ id }) => id))
  return newest.some(({ id }) => known.has(id))
}

/**
 * The newest page and what was read beyond it, newest first. What the page reaches past and no longer has is not of
 * the list any more.
 */
export const continued = <A extends Listed>(
  newest: { readonly items: ReadonlyArray<A>; readonly hasMore: boolean },
  before: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const last = newest.items.at(-1)
  if (last === undefined || !newest.hasMore) return newest.items
  return [...newest.items, ...before.filter((one) => isAfter(one, last))]
}
