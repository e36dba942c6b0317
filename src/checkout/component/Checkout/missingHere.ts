/** Required features that this page or frame lacks, with the remedy for its developer. */
export interface Missing {
  readonly code: "INSECURE_CONTEXT" | "STORAGE_BLOCKED"
  readonly remedy: string
}

const frame =
  'In a sandboxed frame add "allow-scripts allow-same-origin allow-popups" to its sandbox attribute; where the browser blocks storage of frames, link to the hosted page (/pay) instead.'

/** Without a record of requests and a lock between tabs, a double payment could not be ruled out. */
export const missingHere = async (): Promise<Missing | undefined> => {
  // There are no Web Locks on such a page, and wallets refuse it.
  if (!isSecureContext)
    return { code: "INSECURE_CONTEXT", remedy: "The page is not secure: serve it over https, as its frames." }
  try {
    localStorage.getItem("")
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
