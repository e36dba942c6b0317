// Checks before a payment that the page offers what a safe payment needs.
import { canStore } from "../canStore.ts"

/** Required features that this page or frame lacks, with the remedy for its developer. */
export interface Missing {
  readonly code: "INSECURE_CONTEXT" | "STORAGE_BLOCKED"
  readonly remedy: string
}

const frame =
  'In a sandboxed frame add "allow-scripts allow-same-origin allow-popups" to its sandbox attribute; where the browser blocks storage of frames, link to the hosted page (/pay) instead.'

/**
 * Without a record of requests and a lock between tabs, a double payment could not be ruled out. A payment that is
 * `onRecord` can be followed even if nothing more can be stored.
 */
export const missingHere = async (onRecord: () => boolean): Promise<Missing | undefined> => {
  // There are no Web Locks on such a page, and wallets refuse it.
  if (!isSecureContext)
    return { code: "INSECURE_CONTEXT", remedy: "The page is not secure: serve it over https, as its frames." }
  try {
    if (!onRecord() && !canStore())
      return {
        code: "STORAGE_BLOCKED",
        remedy: `localStorage does not store here: it is full, or blocked. ${frame}`
      }
  } catch {
    return { code: "STORAGE_BLOCKED", remedy: `localStorage is blocked here. ${frame}` }
  }
  try {
    await navigator.locks.query()
  } catch {
    return { code: "STORAGE_BLOCKED", remedy: `Web Locks are blocked here. ${frame}` }
  }
  return undefined
}
