// A page of the current merchant and environment.
import { useEffect } from "preact/hooks"
import { type Page, usePage } from "./api.ts"
import { follow } from "./following.ts"
import { useSession } from "./session.ts"

/** `path` begins with a slash and may contain a query. With `follows`, the server's events cover the page. */
export const useMerchantPage = <T>(
  path: string,
  { everyMillis, follows }: { readonly everyMillis?: number; readonly follows?: boolean } = {}
): Page<T> => {
  const { api } = useSession()
  useEffect(() => follow(api), [api])
  return usePage<T>(`${api}${path}`, everyMillis, follows)
}
