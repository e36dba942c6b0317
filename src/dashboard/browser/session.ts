// The signed-in user, for every component, and the redirect to the sign-in page.

import { createContext } from "preact"
import { useContext } from "preact/hooks"
import { faucetNetwork } from "../../domain/networks.ts"
import type { SessionView } from "../api/accounts/Api.ts"
import { hrefOf, navigate, type Place } from "./router.ts"

export interface SignedInSession {
  readonly session: SessionView
  readonly place: Place
  /** The API's path of the place's merchant and environment. */
  readonly api: string
  readonly refresh: () => Promise<void>
}

export const SessionContext = createContext<SignedInSession | undefined>(undefined)

export const useSession = (): SignedInSession => {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error("no session here")
  return session
}

/** Goes to the first merchant's overview, and replaces the URL that led here, so that Back skips it. */
export const enter = (session: SessionView): void => {
  const [merchant] = session.merchants
  const to =
    merchant === undefined ? "/dashboard" : hrefOf({ merchantId: merchant.id, env: faucetNetwork.env })
  navigate(to, { replace: true })
}

/** True if the environment of the place accepts payments. */
export const useIsOpen = (): boolean => {
  const { place, session } = useSession()
  return session.open.includes(place.env)
}

/** A link to a page of the current merchant and environment. */
export const useHref = () => {
  const { place } = useSession()
  return (page?: string, id?: string, query?: Readonly<Record<string, string | undefined>>) =>
    hrefOf(place, page, id, query)
}
