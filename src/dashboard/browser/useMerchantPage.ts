// A page of the present merchant and environment.
import { useEffect } from "preact/hooks"
import { type Page, usePage } from "./api.ts"
import { follow } from "./following.ts"
import { useSession } from "./session.ts"

/** `path` begins with a slash and may carry a query. A page that `follows` is one that the server's events are about. */
export const useMerchantPage = <T>(
  path: string,
  { everyMillis, follows }: { readonly everyMillis?: number; readonly follows?: boolean } = {}
): Page<T> => {
  const { api } = useSession()
  useEffect(() => follow(api), [api])
  return usePage<T>(`${api}${path}`, everyMillis, follows)
}
