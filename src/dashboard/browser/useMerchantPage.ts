// A page of the present merchant and environment, whose answer also feeds the badge.
import { useEffect } from "preact/hooks"
import { type Page, usePage } from "./api.ts"
import { setOpenAlerts } from "./badge.ts"
import { follow } from "./following.ts"
import { useSession } from "./session.ts"

/** `path` begins with a slash and may carry a query. A page that `follows` is one that the server's events are about. */
export const useMerchantPage = <T extends { readonly openAlerts: number }>(
  path: string,
  { everyMillis, follows }: { readonly everyMillis?: number; readonly follows?: boolean } = {}
): Page<T> => {
  const { api } = useSession()
  const page = usePage<T>(`${api}${path}`, everyMillis, follows)
  useEffect(() => follow(api), [api])
  const open = page.data?.openAlerts
  useEffect(() => {
    if (open !== undefined) setOpenAlerts(open)
  }, [open])
  return page
}
