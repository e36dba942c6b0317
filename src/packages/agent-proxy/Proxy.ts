// The agent's local HTTP proxy: `http://127.0.0.1:PORT/https://api.example.com/path`. It listens only on loopback
// and serves programs. It refuses web pages, because they could spend the agent's money.
import { isFromBrowser } from "./isFromBrowser.ts"
import { outcomeHeaders, type PayingFetch } from "./PayingFetch.ts"
import { type LoopbackRequest, type LoopbackServer, serveLoopback } from "./serveLoopback.ts"
import { contentOf } from "./sharedCalls.ts"
import { makeSharedPurchases } from "./sharedPurchases.ts"

/** Hop-by-hop headers (RFC 9110, section 7.6.1), and those that the next hop sets itself. */
const hopHeaders = [
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
]
const requestIdHeader = "quittance-request-id"
const maxBodyBytes = 10 * 1024 * 1024
/** How long a paid answer is still read after its client has left. */
const readOnMillis = 120_000

const refusal = (status: number, code: string, message: string) =>
  Response.json(
    { error: { code, message } },
    { status, headers: { ...inert, [outcomeHeaders.refused]: code } }
  )

const usage =
  "Put the whole address behind the proxy's: http://127.0.0.1:PORT/https://api.example.com/path. Send quittance-request-id to repeat a request without paying again."

const targetOf = (target: string): URL | null => {
  // Some clients collapse the two slashes of a path into one.
  const text = target.slice(1).replace(/^(https?):\/+/, "$1://")
  const url = target.startsWith("/") && URL.canParse(text) ? new URL(text) : null
  return url !== null && /^https?:$/.test(url.protocol) ? url : null
}

const forwardedHeaders = (headers: Headers): Headers => {
  const connectionHeaders = (headers.get("connection") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
  const dropped = new Set([...hopHeaders, ...connectionHeaders, requestIdHeader])
  return new Headers([...headers].filter(([name]) => !dropped.has(name)))
}

/** Headers that would affect a browser on the proxy's origin, which all upstreams share. */
const browserHeaders = ["set-cookie", "service-worker-allowed", "clear-site-data"]
/** Makes a response inert if a browser displays it anyway: no script, no framing, no sharing. */
const inert = {
  "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const cleanResponse = (response: Response, target: URL, ownHost: string): Response => {
  const headers = new Headers(response.headers)
  // A redirect within the resource's origin stays behind the proxy. The client follows a redirect to another
  // origin itself, and so knows that its credentials are for another host.
  const location = Math.floor(response.status / 100) === 3 ? headers.get("location") : null
  const next = location === null ? null : URL.parse(location, target)
  if (next?.origin === target.origin) headers.set("location", `http://${ownHost}/${next.href}`)
  for (const name of [...headers.keys()]) if (name.startsWith("access-control-")) headers.delete(name)
  for (const name of [...hopHeaders, ...browserHeaders]) headers.delete(name)
  for (const [name, value] of Object.entries(inert)) headers.set(name, value)
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}

/** Handles one request to the proxy. */
const makeHandler = (paying: PayingFetch, ownHosts: () => ReadonlyArray<string>) => {
  const purchase = makeSharedPurchases()
  return async (request: LoopbackRequest): Promise<Response> => {
    // Another name that resolves to loopback is not the proxy's (DNS rebinding).
    const ownHost = request.headers.get("host") ?? ""
    if (!ownHosts().includes(ownHost)) {
      return refusal(421, "WRONG_HOST", "Address the proxy as 127.0.0.1 or localhost.")
    }
    if (isFromBrowser(request.headers)) {
      return refusal(
        403,
        "NOT_FOR_BROWSERS",
        "The proxy serves programs on this machine, not web pages. If your program is refused, send the header quittance-request-id."
      )
    }
    const target = targetOf(request.target)
    if (target === null) return refusal(400, "NO_TARGET", usage)
    if (ownHosts().includes(target.host))
      return refusal(400, "NO_TARGET", "The proxy does not fetch from itself.")
    const requestId = request.headers.get(requestIdHeader)
    if (requestId !== null && !/^[A-Za-z0-9._:-]{1,128}$/.test(requestId)) {
      return refusal(400, "INVALID_REQUEST_ID", `${requestIdHeader} must be 1 to 128 of A-Z a-z 0-9 . _ : -`)
    }
    const body = await request.body()
    if (body === "too_large") {
      return refusal(413, "BODY_TOO_LARGE", "The body exceeds 10 MiB. Nothing was forwarded.")
    }
    const { delivered, method } = request
    const headers = forwardedHeaders(request.headers)
    // Once a payment may have been signed, the call goes on without its client.
    let mayBePaid = false
    const upstream = new AbortController()
    void delivered.then((isDelivered) => {
      if (isDelivered) return
      if (mayBePaid) setTimeout(() => upstream.abort(), readOnMillis).unref()
      else upstream.abort()
    })
    try {
      const response = await paying.fetch(
        { url: target.href, method, headers, body, signal: upstream.signal },
        (offer) => {
          upstream.signal.throwIfAborted()
          mayBePaid = true
          return purchase(offer, contentOf(method, target.href, headers, body), requestId, delivered)
        }
      )
      return cleanResponse(response, target, ownHost)
    } catch {
      return refusal(502, "UPSTREAM_UNREACHABLE", `${target.host} does not respond. Nothing was paid.`)
    }
  }
}

/** Listens on loopback. Port 0 picks a free port. */
export const startProxy = async (paying: PayingFetch, port: number): Promise<LoopbackServer> => {
  let hosts: ReadonlyArray<string> = []
  const server = await serveLoopback(
    port,
    maxBodyBytes,
    makeHandler(paying, () => hosts)
  )
  hosts = [`127.0.0.1:${server.port}`, `localhost:${server.port}`]
  return server
}
