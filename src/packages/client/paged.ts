// Lists that come in pages.

/** Parameters as a query, without those that are absent. */
export const query = (parameters: Readonly<Record<string, string | number | undefined>>) => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) search.set(name, String(value))
  const text = search.toString()
  return text === "" ? "" : `?${text}`
}

/** A list is awaited for its first page, as well as iterated. */
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
      const one = await page(cursor)
      const items = itemsOf(one)
      yield* items
      const last = items.at(-1)
      if (!one.hasMore || last === undefined) return
      cursor = cursorOf(last)
    }
  }
})
