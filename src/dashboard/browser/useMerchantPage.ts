// A page of the present merchant and environment, whose answer also feeds the badge.
import { useEffect } from "preact/hooks"
import { type Page, usePage } from "./api.ts"
import { setOpenAlerts } from "./badge.ts"
import { useSession } from "./session.ts"

/** `path` begins with a slash and may carry a query. */
export const useMerchantPage = <T extends { readonly openAlerts: number }>(
  path: string,
  everyMillis?: number
): Page<T> => {
  const { api } = useSession()
  const page = usePage<T>(`${api}${path}`, everyMillis)
  const open = page.data?.openAlerts
  useEffect(() => {
    if (open !== undefined) setOpenAlerts(open)
  }, [open])
  return page
}
