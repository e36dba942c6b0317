// A list whose newest page is requested repeatedly, and of which a user can load older entries.
import { useState } from "preact/hooks"
import { useAction } from "./api.ts"
import { continued, meets } from "./continued.ts"

export interface ListPage<A> {
  readonly items: ReadonlyArray<A>
  readonly hasMore: boolean
}

export interface Continued<A> extends ListPage<A> {
  /** Loads the page after the last shown entry. */
  readonly more: ReturnType<typeof useAction<[]>>
  /** Removes an item that no longer belongs to the list. */
  readonly forget: (id: string) => void
}

/** `of` identifies the list: entries of another list are not shown. */
export const useContinued = <A extends { readonly id: string; readonly at: string }>(
  of: string,
  newest: ListPage<A>,
  after: (id: string) => Promise<ListPage<A>>
): Continued<A> => {
  const [read, setRead] = useState<ListPage<A> & { readonly of: string }>()
  const older = read?.of === of && meets(newest.items, read.items) ? read : undefined
  const items = continued(newest, older?.items ?? [])
  const more = useAction(async () => {
    const last = items.at(-1)
    if (last === undefined) return
    const next = await after(last.id)
    setRead({ of, items: [...items, ...next.items], hasMore: next.hasMore })
  }, of)
  return {
    items,
    hasMore: newest.hasMore && (older?.hasMore ?? true),
    more,
    forget: (id) =>
      setRead((before) =>
        before === undefined ? before : { ...before, items: before.items.filter((one) => one.id !== id) }
      )
  }
}
