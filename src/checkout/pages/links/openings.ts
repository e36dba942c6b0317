// The opening that a link's page goes on with: in this tab until its buyer is done with it, and in every tab of this
// browser while its money may be under way, as it may be once its buyer was shown the address.

import { isRecord } from "../../../platform/pages/browser/isRecord.ts"
import { wasAddressShown } from "../../component/attempt.ts"
import { readIntentToken } from "../../component/intentToken.ts"
import type { Opened } from "./linkApi.ts"

const isOpened = (value: unknown): value is Opened =>
  isRecord(value) && typeof value["intentToken"] === "string" && typeof value["publishableKey"] === "string"

/** Without storage a reload opens another payment. */
const quietly = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}

const readFrom = (storage: () => Storage, key: string): Opened | undefined =>
  quietly(() => {
    const value: unknown = JSON.parse(storage().getItem(key) ?? "null")
    return isOpened(value) ? value : undefined
  })

const everyTab = () => localStorage
const thisTab = () => sessionStorage

/** The payment of an opening whose buyer was shown the address, and may have sent from an exchange. */
const shownOf = (opened: Opened | undefined): string | undefined => {
  const id = opened && readIntentToken(opened.intentToken)?.id
  return id !== undefined && quietly(() => wasAddressShown(id)) === true ? id : undefined
}

/** Openings of one link. */
export const openingsOf = (link: string) => {
  const key = `quittance-link:${link}`
  const latest = `quittance-link-latest:${link}`
  const shown = () => {
    const opened = readFrom(everyTab, latest)
    return shownOf(opened) === undefined ? undefined : opened
  }
  const isNoMore = ({ intentToken }: Opened) => {
    if (readFrom(everyTab, key)?.intentToken === intentToken) quietly(() => localStorage.removeItem(key))
  }
  const isOver = (opened: Opened): void => {
    const stored = readFrom(everyTab, latest)
    if (
      stored !== undefined &&
      readIntentToken(stored.intentToken)?.id === readIntentToken(opened.intentToken)?.id
    )
      quietly(() => localStorage.removeItem(latest))
  }
  return {
    get: (): Opened | undefined => readFrom(thisTab, key) ?? readFrom(everyTab, key) ?? shown(),
    keep: (opened: Opened): void => {
      quietly(() => sessionStorage.setItem(key, JSON.stringify(opened)))
      // Another one whose buyer was shown the address stays until it is over.
      const other = shownOf(shown())
      if (other === undefined || other === readIntentToken(opened.intentToken)?.id)
        quietly(() => localStorage.setItem(latest, JSON.stringify(opened)))
    },
    isUnderWay: (opened: Opened): void => {
      quietly(() => localStorage.setItem(key, JSON.stringify(opened)))
    },
    /** No money of it is under way. */
    isNoMore,
    /** It is paid, or its buyer is done with it: the link opens another one. */
    isOver,
    forget: (opened: Opened): void => {
      quietly(() => sessionStorage.removeItem(key))
      isNoMore(opened)
      isOver(opened)
    }
  }
}
