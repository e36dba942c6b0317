// Web pages of any site can reach loopback. Browsers mark the requests of pages (Fetch Metadata, Origin). A
// browser that is too old for that, or that loads media, cannot set the proxy's own header.
const ownHeader = "quittance-request-id"

/** Node's and Deno's `fetch` send the mode of a script's request but no other mark. */
const programsMode = "cors"

const marks = ["origin", "referer", "upgrade-insecure-requests", "x-playback-session-id"]

/** User agents of known programs. Browsers always send a user agent. */
const programs =
  /^(aiohttp|apache-httpclient|axios|bun|curl|deno|faraday|go-http-client|got|guzzlehttp|httpie|insomnia|java|libcurl|node|okhttp|postmanruntime|python[-/]|reqwest|ruby|undici|wget)|powershell\/[\d.]+$/i

export const isFromBrowser = (headers: Headers): boolean => {
  if (marks.some((name) => headers.has(name))) return true
  for (const [name, value] of headers)
    if (name.startsWith("sec-") && !(name === "sec-fetch-mode" && value === programsMode)) return true
  const agent = headers.get("user-agent")
  return agent !== null && !programs.test(agent) && !headers.has(ownHeader)
}
