// The dashboard's URLs: /dashboard/<merchant>/<test|live>/<page>/<id>, and the pages for signed-out users.

import { useEffect, useState } from "preact/hooks"
import type { Env } from "../../domain/Chain.ts"
import { isEnv } from "../../domain/networks.ts"

export interface Place {
  readonly merchantId: string
  readonly env: Env
  readonly page: string
  readonly id: string | undefined
  readonly query: URLSearchParams
}

const listeners = new Set<() => void>()
const announce = () => {
  for (const listener of listeners) listener()
}

export const navigate = (to: string, options: { readonly replace?: boolean } = {}): void => {
  if (options.replace === true) history.replaceState(null, "", to)
  else history.pushState(null, "", to)
  announce()
}

/** The current URL; the component renders again when it changes. */
export const useAddress = (): URL => {
  const [href, setHref] = useState(location.href)
  useEffect(() => {
    const listener = () => setHref(location.href)
    listeners.add(listener)
    addEventListener("popstate", listener)
    return () => {
      listeners.delete(listener)
      removeEventListener("popstate", listener)
    }
  }, [])
  return new URL(href)
}

/** The merchant's page at a URL; undefined for any other URL. */
export const placeOf = (url: URL): Place | undefined => {
  const [, root, merchantId, env, page = "", id] = url.pathname.split("/")
  if (root !== "dashboard" || merchantId === undefined) return undefined
  if (!isEnv(env)) return undefined
  return { merchantId, env, page, id, query: url.searchParams }
}

export const hrefOf = (
  place: Pick<Place, "merchantId" | "env">,
  page = "",
  id?: string,
  query: Readonly<Record<string, string | undefined>> = {}
): string => {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") params.set(name, value)
  }
  const path = ["/dashboard", place.merchantId, place.env, page, id ?? ""]
    .filter((part) => part !== "")
    .join("/")
  const text = params.toString()
  return text === "" ? path : `${path}?${text}`
}

/** Links within the dashboard change the page without a reload. */
export const followLinks = (): void => {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest("a") : null
    if (link === null || link.target !== "" || link.origin !== location.origin) return
    if (link.hasAttribute("download") || link.getAttribute("href")?.startsWith("#") === true) return
    if (!link.pathname.startsWith("/dashboard")) return
    event.preventDefault()
    navigate(link.href)
    scrollTo(0, 0)
  })
}
