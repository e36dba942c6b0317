// The opening that a link's page goes on with: in this tab until its buyer is done with it, and in every tab of this
// browser while its money may be under way.
import { isRecord } from "../../pages/browser/isRecord.ts"
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

/** Of one link. */
export const openingsOf = (link: string) => {
  const key = `quittance-link:${link}`
  const isNoMore = ({ intentToken }: Opened) => {
    if (readFrom(everyTab, key)?.intentToken === intentToken) quietly(() => localStorage.removeItem(key))
  }
  return {
    get: (): Opened | undefined => readFrom(thisTab, key) ?? readFrom(everyTab, key),
    keep: (opened: Opened): void => {
      quietly(() => sessionStorage.setItem(key, JSON.stringify(opened)))
    },
    isUnderWay: (opened: Opened): void => {
      quietly(() => localStorage.setItem(key, JSON.stringify(opened)))
    },
    /** No money of it is under way. */
    isNoMore,
    forget: (opened: Opened): void => {
      quietly(() => sessionStorage.removeItem(key))
      isNoMore(opened)
    }
  }
}
