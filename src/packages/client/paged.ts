// Lists that come in pages.

/** Parameters as a query string; absent parameters are left out. */
export const query = (parameters: Readonly<Record<string, string | number | undefined>>) => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) search.set(name, String(value))
  const text = search.toString()
  return text === "" ? "" : `?${text}`
}

/** A list that can be awaited for its first page or iterated over all pages. */
export const paged = <Page extends { readonly hasMore: boolean }, Item>(
  first: string | undefined,
  page: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => ReadonlyArray<Item>,
  cursorOf: (item: Item) => string
): AsyncIterable<Item> & PromiseLike<Page> => ({
  // biome-ignore lint/suspicious/noThenProperty: awaiting the list is its first page
  then: (resolve, reject) => page(first).then(resolve, reject),
  async *[Symbol.asyncIterator]() {
    let cursor = first
    for (;;) {
      const current = await page(cursor)
      const items = itemsOf(current)
      yield* items
      const last = items.at(-1)
      if (!current.hasMore || last === undefined) return
      cursor = cursorOf(last)
    }
  }
})
