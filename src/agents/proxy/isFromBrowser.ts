// Pages of any site reach loopback. A browser marks what it sends for them (Fetch Metadata, Origin); one
// that is too old to do so cannot put a header of ours on a navigation.
const ownHeader = "quittance-request-id"

/** Node's and Deno's `fetch` send the mode of a script's request, and no other mark. */
const programsMode = "cors"

export const isFromBrowser = (headers: Headers): boolean => {
  if (["sec-fetch-site", "sec-fetch-dest", "sec-fetch-user", "origin"].some((name) => headers.has(name)))
    return true
  if ((headers.get("sec-fetch-mode") ?? programsMode) !== programsMode) return true
  // Every browser's name begins so (RFC 9110, 10.1.5, has the history of it).
  return /^mozilla\//i.test(headers.get("user-agent") ?? "") && !headers.has(ownHeader)
}
