// The opening with which a link's page continues: in this tab until its buyer has finished, and in every tab of this
// browser while its money may be in transit, which is possible once the buyer has seen the address.
// Without storage, a reload opens another payment.

import { isRecord } from "../../../platform/pages/browser/isRecord.ts"
import { orUndefined } from "../../../platform/pages/browser/orUndefined.ts"
import { wasAddressShown } from "../../component/attempt.ts"
import { readIntentToken } from "../../component/intentToken.ts"
import type { Opened } from "./linkApi.ts"

const isOpened = (value: unknown): value is Opened =>
  isRecord(value) && typeof value["intentToken"] === "string" && typeof value["publishableKey"] === "string"

const readFrom = (storage: () => Storage, key: string): Opened | undefined =>
  orUndefined(() => {
    const value: unknown = JSON.parse(storage().getItem(key) ?? "null")
    return isOpened(value) ? value : undefined
  })

const everyTab = () => localStorage
const thisTab = () => sessionStorage

/** The payment of an opening whose buyer saw the address, and may have sent from an exchange. */
const shownOf = (opened: Opened | undefined): string | undefined => {
  const id = opened && readIntentToken(opened.intentToken)?.id
  return id !== undefined && orUndefined(() => wasAddressShown(id)) === true ? id : undefined
}

/** Openings of one link. */
export const openingsOf = (link: string) => {
  const key = `quittance-link:${link}`
  const latest = `quittance-link-latest:${link}`
  const shown = () => {
    const opened = readFrom(everyTab, latest)
    return shownOf(opened) === undefined ? undefined : opened
  }
  const isNotInTransit = ({ intentToken }: Opened) => {
    if (readFrom(everyTab, key)?.intentToken === intentToken) orUndefined(() => localStorage.removeItem(key))
  }
  const isOver = (opened: Opened): void => {
    const stored = readFrom(everyTab, latest)
    if (
      stored !== undefined &&
      readIntentToken(stored.intentToken)?.id === readIntentToken(opened.intentToken)?.id
    )
      orUndefined(() => localStorage.removeItem(latest))
  }
  return {
    get: (): Opened | undefined => readFrom(thisTab, key) ?? readFrom(everyTab, key) ?? shown(),
    store: (opened: Opened): void => {
      orUndefined(() => sessionStorage.setItem(key, JSON.stringify(opened)))
      // Another opening whose buyer saw the address stays until it is over.
      const other = shownOf(shown())
      if (other === undefined || other === readIntentToken(opened.intentToken)?.id)
        orUndefined(() => localStorage.setItem(latest, JSON.stringify(opened)))
    },
    isInTransit: (opened: Opened): void => {
      orUndefined(() => localStorage.setItem(key, JSON.stringify(opened)))
    },
    /** None of its money is in transit. */
    isNotInTransit,
    /** It is paid, or its buyer has finished: the link opens another payment. */
    isOver,
    forget: (opened: Opened): void => {
      orUndefined(() => sessionStorage.removeItem(key))
      isNotInTransit(opened)
      isOver(opened)
    }
  }
}
