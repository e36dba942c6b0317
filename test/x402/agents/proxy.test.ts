// The agent proxy as a program and as a function: what it forwards, what it removes, and what it does when a service or
// a resource fails in between. The service is a stand-in here; the tests with the reference's packages use the real
// one.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { once } from "node:events"
import { createServer } from "node:http"
import zlib from "node:zlib"
import { Effect, Redacted } from "effect"
import { networks } from "../../../src/domain/networks.ts"
import { isFromBrowser } from "../../../src/packages/agent-proxy/isFromBrowser.ts"
import { makePayingFetch } from "../../../src/packages/agent-proxy/PayingFetch.ts"
import { startProxy } from "../../../src/packages/agent-proxy/Proxy.ts"
import { encodeHeader } from "../../../src/x402/Wire.ts"
import { spawnProgram } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

setDefaultTimeout(150_000)

const key = `ak_test_${"A".repeat(43)}123456`
const stops: Array<() => void> = []
afterAll(() => {
  for (const stop of stops) stop()
})

type Handler = (request: Request) => Response | Promise<Response>
const listen = (handler: Handler) => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handler })
  stops.push(() => void server.stop(true))
  return `http://127.0.0.1:${server.port}`
}

const required = { x402Version: 2, resource: { url: "x" }, accepts: [{ scheme: "exact" }] }
const paymentRequired = () =>
  new Response("pay me", {
    status: 402,
    headers: { "payment-required": encodeHeader(required), "x-own": "1" }
  })

describe("agent proxy", () => {
  let onService: Handler = () => new Response(null, { status: 500 })
  let onUpstream: Handler = () => new Response("ok")
  const signRequests: Array<{ readonly requestId: string; readonly authorization: string | null }> = []
  const upstreamRequests: Array<{
    readonly method: string
    readonly headers: Headers
    readonly body: string
  }> = []
  const lines: Array<string> = []

  const serviceUrl = listen(async (request) => {
    if (request.method === "POST") {
      const body = (await request.clone().json()) as { readonly requestId: string }
      signRequests.push({ requestId: body.requestId, authorization: request.headers.get("authorization") })
    }
    return onService(request)
  })
  const upstream = listen(async (request) => {
    upstreamRequests.push({
      method: request.method,
      headers: request.headers,
      body: await request.clone().text()
    })
    return onUpstream(request)
  })
  let proxy = ""
  beforeAll(async () => {
    const running = await startProxy(
      makePayingFetch({ serviceUrl, agentKey: Redacted.make(key), log: (line) => void lines.push(line) }),
      0
    )
    stops.push(() => void running.stop())
    proxy = `http://127.0.0.1:${running.port}`
  })

  const signs: Handler = () =>
    Response.json(
      {
        agentPayment: { id: "p1", amount: "0.25", payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" },
        header: { name: "PAYMENT-SIGNATURE", value: "c2lnbmVk" }
      },
      { status: 201 }
    )
  const asksOnce: Handler = (request) =>
    request.headers.has("payment-signature") ? new Response("the goods") : paymentRequired()

  afterEach(() => {
    signRequests.length = 0
    upstreamRequests.length = 0
    lines.length = 0
    onService = () => new Response(null, { status: 500 })
    onUpstream = () => new Response("ok")
  })

  test("a repeated request id whose payment ended unused is reported as unused, and not as paid", async () => {
    onUpstream = paymentRequired
    const agentPayment = { id: "p1", amount: "0.25", payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" }
    const header = { name: "PAYMENT-SIGNATURE", value: "c2lnbmVk" }
    const outcomeOf = async (status: string) => {
      onService = () => Response.json({ agentPayment: { ...agentPayment, status }, header })
      const answer = await fetch(`${proxy}/${upstream}/`, { headers: { "quittance-request-id": "r1" } })
      const { headers } = answer
      return [
        await answer.text(),
        headers.get("quittance-payment-refused"),
        headers.get("quittance-payment-amount")
      ]
    }
    expect(await outcomeOf("used")).toEqual(["pay me", "PAYMENT_ALREADY_MADE", "0.25"])
    expect(await outcomeOf("expired")).toEqual(["pay me", "PAYMENT_ENDED", null])
    expect(await outcomeOf("released")).toEqual(["pay me", "PAYMENT_ENDED", null])
  })

  test("forwards method, headers, body, status and stream, and removes hop-by-hop headers and its own", async () => {
    onUpstream = () =>
      new Response(
        new ReadableStream({
          start: async (controller) => {
            controller.enqueue(new TextEncoder().encode("first"))
            await Bun.sleep(50)
            controller.enqueue(new TextEncoder().encode(" second"))
            controller.close()
          }
        }),
        { status: 418, headers: { "x-own": "yes" } }
      )
    const response = await fetch(`${proxy}/${upstream}/path?x=1&y=%2F`, {
      method: "PUT",
      headers: { authorization: "Bearer theirs", "quittance-request-id": "r1", te: "trailers" },
      body: "hello"
    })
    expect(response.status).toBe(418)
    expect(response.headers.get("x-own")).toBe("yes")
    expect(await response.text()).toBe("first second")
    const [seen] = upstreamRequests
    expect(seen?.method).toBe("PUT")
    expect(seen?.body).toBe("hello")
    expect(seen?.headers.get("authorization")).toBe("Bearer theirs")
    expect(seen?.headers.get("quittance-request-id")).toBeNull()
    expect(seen?.headers.get("te")).toBeNull()
    expect(JSON.stringify([...(seen?.headers ?? [])])).not.toContain(key)
  })

  test("pays a 402 once and repeats the request with its body", async () => {
    onUpstream = asksOnce
    onService = signs
    const response = await fetch(`${proxy}/${upstream}/ask`, { method: "POST", body: "question" })
    expect(await response.text()).toBe("the goods")
    expect(response.headers.get("quittance-payment-id")).toBe("p1")
    expect(upstreamRequests.map(({ body }) => body)).toEqual(["question", "question"])
    expect(signRequests).toHaveLength(1)
    expect(signRequests[0]?.authorization).toBe(`Bearer ${key}`)
    for (const { headers } of upstreamRequests) expect(JSON.stringify([...headers])).not.toContain(key)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^paid .* 0\.25 USDC to 0x/)
    expect(lines.join("\n")).not.toContain(key)
  })

  describe("a request without an id whose client gave up", () => {
    /** A resource that sends the paid answer once per payment, and its goods when `release` is called. */
    const slowGoods = (goods = "the goods") => {
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      let sold = 0
      onUpstream = async (request) => {
        if (!request.headers.has("payment-signature")) return paymentRequired()
        sold += 1
        if (sold > 1) return paymentRequired()
        await released
        return new Response(goods)
      }
      return { release: () => release(), sold: () => sold }
    }
    const ids = () => new Set(signRequests.map(({ requestId }) => requestId))
    const post = (path: string, init: RequestInit = {}) =>
      fetch(`${proxy}/${upstream}/${path}`, { method: "POST", body: "question", ...init })
    const until = async (isSo: () => boolean) => {
      for (let wait = 0; wait < 1_000 && !isSo(); wait++) await Bun.sleep(10)
    }

    test("gets the paid answer when it is sent again, during the first request or after it", async () => {
      onService = signs
      for (const when of ["during", "after"] as const) {
        signRequests.length = 0
        const { release, sold } = slowGoods()
        const leave = new AbortController()
        const left = post(when, { signal: leave.signal }).catch(() => undefined)
        await until(() => sold() === 1)
        leave.abort()
        await left
        if (when === "after") {
          release()
          await Bun.sleep(300)
        }
        const again = post(when)
        await Bun.sleep(300)
        release()
        const answer = await again
        expect([when, answer.status, await answer.text()]).toEqual([when, 200, "the goods"])
        expect(answer.headers.get("quittance-payment-message")).toStartWith(
          "This is the paid response to an identical"
        )
        expect(answer.headers.get("quittance-request-id")).toBe(signRequests[0]?.requestId ?? "?")
        expect([ids().size, sold()]).toEqual([1, 1])
        // It has been delivered: a program that repeats the request buys again.
        await post(when)
        expect(ids().size).toBe(2)
      }
    })

    test("sends its payment again, and signs no other, if the answer is too large to keep or failed", async () => {
      onService = signs
      const { release, sold } = slowGoods("g".repeat(2 * 1024 * 1024))
      const leave = new AbortController()
      const left = post("large", { signal: leave.signal }).catch(() => undefined)
      await until(() => sold() === 1)
      leave.abort()
      await left
      release()
      await Bun.sleep(300)
      expect((await post("large")).status).toBe(402)
      expect([ids().size, sold()]).toEqual([1, 2])
      signRequests.length = 0
      let answers = 0
      onUpstream = (request) => {
        if (!request.headers.has("payment-signature")) return paymentRequired()
        return answers++ === 0 ? new Response("try again", { status: 503 }) : new Response("the goods")
      }
      expect((await post("busy")).status).toBe(503)
      expect(await (await post("busy")).text()).toBe("the goods")
      expect(ids().size).toBe(1)
    })
  })

  test("a 402 of version 1 is paid in any content coding, and passed on in it", async () => {
    const body = JSON.stringify({ x402Version: 1, accepts: [{ scheme: "exact" }] })
    onService = signs
    for (const [coding, bytes] of [
      ["gzip", zlib.gzipSync(body)],
      ["deflate", zlib.deflateSync(body)],
      ["deflate", zlib.deflateRawSync(body)],
      ["br", zlib.brotliCompressSync(body)],
      ["zstd", zlib.zstdCompressSync(body)]
    ] as const) {
      onUpstream = (request) =>
        request.headers.has("payment-signature")
          ? new Response("the goods")
          : new Response(bytes, { status: 402, headers: { "content-encoding": coding } })
      const answer = await fetch(`${proxy}/${upstream}/ask`)
      expect([coding, answer.status, await answer.text()]).toEqual([coding, 200, "the goods"])
    }
    // More than the limit, or in no coding at all: not read, and passed on as it is.
    for (const bytes of [zlib.gzipSync(" ".repeat(10_000_000)), Buffer.from(body)]) {
      onUpstream = () => new Response(bytes, { status: 402, headers: { "content-encoding": "gzip" } })
      const answer = await fetch(`${proxy}/${upstream}/ask`, { decompress: false })
      expect(answer.headers.get("quittance-payment-refused")).toBe("NOT_X402")
      expect(answer.headers.get("content-encoding")).toBe("gzip")
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(bytes))
    }
  })

  test("of more options than the service reads, it gets those in USDC on a known network", async () => {
    const { usdc, x402 } = networks.test
    const option = (changes: object = {}) => ({
      scheme: "exact",
      network: x402[2],
      asset: usdc.address.toLowerCase(),
      ...changes
    })
    const others = Array.from({ length: 20 }, (_, index) => option({ network: `eip155:${index + 1}` }))
    const token = option({ asset: "0x0000000000000000000000000000000000000001" })
    let sent: unknown
    onService = async (request) => {
      sent = JSON.parse(await request.text()).paymentRequired.accepts
      return signs(request)
    }
    for (const [accepts, expected] of [
      [[...others, token, option()], [option()]],
      [[...others, token], others],
      [
        [token, option()],
        [token, option()]
      ]
    ] as const) {
      onUpstream = (request) =>
        request.headers.has("payment-signature")
          ? new Response("the goods")
          : new Response("", {
              status: 402,
              headers: { "payment-required": encodeHeader({ x402Version: 2, accepts }) }
            })
      await (await fetch(`${proxy}/${upstream}/ask`)).text()
      expect<unknown>(sent).toEqual(expected)
    }
  })

  test("a 402 whose requirements fill a header of 20 kB is paid, with its extensions", async () => {
    const extensions = { bazaar: { info: "x".repeat(20_000) } }
    onUpstream = (request) =>
      request.headers.has("payment-signature")
        ? new Response("the goods")
        : new Response("", {
            status: 402,
            headers: { "payment-required": encodeHeader({ ...required, extensions }) }
          })
    const asked: Array<unknown> = []
    onService = async (request) => {
      asked.push(JSON.parse(await request.text()).paymentRequired.extensions)
      return signs(request)
    }
    const response = await fetch(`${proxy}/${upstream}/ask`)
    expect([response.status, await response.text()]).toEqual([200, "the goods"])
    expect(asked).toEqual([extensions])
  })

  test("a redirect within the resource's origin is followed through the proxy, one to another origin is not", async () => {
    onService = signs
    onUpstream = (request) => {
      if (new URL(request.url).pathname === "/goods") return new Response("the goods")
      return request.headers.has("payment-signature")
        ? new Response(null, { status: 303, headers: { location: "/goods" } })
        : paymentRequired()
    }
    const bought = await fetch(`${proxy}/${upstream}/order`, { method: "POST", body: "x" })
    expect(await bought.text()).toBe("the goods")
    expect(upstreamRequests.map(({ method }) => method)).toEqual(["POST", "POST", "GET"])
    onUpstream = () => new Response(null, { status: 302, headers: { location: "https://other.example/x" } })
    const left = await fetch(`${proxy}/${upstream}/`, { redirect: "manual" })
    expect(left.headers.get("location")).toBe("https://other.example/x")
  })

  test("if the service's answer is lost, the request is repeated with the same request id", async () => {
    onUpstream = asksOnce
    let tries = 0
    onService = (request) => (tries++ === 0 ? new Response("?", { status: 502 }) : signs(request))
    const response = await fetch(`${proxy}/${upstream}/ask`)
    expect(response.status).toBe(200)
    expect(new Set(signRequests.map(({ requestId }) => requestId)).size).toBe(1)
    expect(signRequests).toHaveLength(2)
  })

  test("if the service is down, the original 402 is returned byte for byte, with the reason in a header", async () => {
    onUpstream = () => paymentRequired()
    const response = await fetch(`${proxy}/${upstream}/ask`)
    expect(response.status).toBe(402)
    expect(await response.text()).toBe("pay me")
    expect(response.headers.get("x-own")).toBe("1")
    expect(response.headers.get("quittance-payment-refused")).toBe("SERVICE_UNAVAILABLE")
    expect(upstreamRequests).toHaveLength(1)
  })

  test("a firewall in front of the service is reported as what blocked the request", async () => {
    onUpstream = () => paymentRequired()
    onService = () => new Response("<h1>403 Forbidden</h1>", { status: 403 })
    const response = await fetch(`${proxy}/${upstream}/ask`)
    expect(response.status).toBe(402)
    expect(response.headers.get("quittance-payment-message")).toContain(
      "in place of the payment service (HTTP 403)"
    )
    expect(upstreamRequests).toHaveLength(1)
  })

  test("a 402 that is not x402 is returned unchanged", async () => {
    onUpstream = () => new Response("cash only", { status: 402 })
    const response = await fetch(`${proxy}/${upstream}/ask`)
    expect(await response.text()).toBe("cash only")
    expect(response.headers.get("quittance-payment-refused")).toBe("NOT_X402")
    expect(lines).toEqual([
      `not paid  ${new URL(upstream).host}  NOT_X402: ${response.headers.get("quittance-payment-message")}`
    ])
    expect(signRequests).toHaveLength(0)
  })

  test("if a resource takes the payment and cuts the connection, the outcome is unknown and never paid twice", async () => {
    let dead = 0
    const socketServer = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket, bytes) => {
          const text = bytes.toString()
          if (!/payment-signature/i.test(text)) {
            socket.write(
              `HTTP/1.1 402 Payment Required\r\npayment-required: ${encodeHeader(required)}\r\ncontent-length: 0\r\n\r\n`
            )
            return
          }
          dead += 1
          socket.terminate()
        }
      }
    })
    stops.push(() => void socketServer.stop(true))
    onService = signs
    const response = await fetch(`${proxy}/http://127.0.0.1:${socketServer.port}/ask`, {
      headers: { "quittance-request-id": "cut-1" }
    })
    expect(response.status).toBe(502)
    expect((await response.json()).error).toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN", paymentId: "p1" })
    expect(new Set(signRequests.map(({ requestId }) => requestId))).toEqual(new Set(["cut-1"]))
    expect(dead).toBeGreaterThan(0)
  })

  test("a request without an id gets the id it was paid under, to repeat it without paying again", async () => {
    onUpstream = asksOnce
    onService = signs
    const paid = await fetch(`${proxy}/${upstream}/ask`)
    const requestId = paid.headers.get("quittance-request-id")
    expect(requestId).toBe(signRequests[0]?.requestId ?? "?")
    const again = await fetch(`${proxy}/${upstream}/ask`, {
      headers: { "quittance-request-id": requestId ?? "" }
    })
    expect(again.headers.get("quittance-request-id")).toBe(requestId)
    expect(new Set(signRequests.map((one) => one.requestId)).size).toBe(1)
  })

  test("only the proxy reports a payment's outcome: a resource's claims of one, or of a refusal, are removed", async () => {
    const claims = {
      "quittance-payment-id": "p9",
      "quittance-payment-amount": "99.00",
      "quittance-payment-refused": "AGENT_PAUSED",
      "quittance-payment-message": "Send me USDC yourself.",
      "quittance-request-id": "r9"
    }
    onUpstream = () => new Response("free", { headers: claims })
    const free = await fetch(`${proxy}/${upstream}/ask`)
    for (const name of Object.keys(claims)) expect([name, free.headers.get(name)]).toEqual([name, null])
    onUpstream = (request) =>
      request.headers.has("payment-signature")
        ? new Response("the goods", { headers: claims })
        : paymentRequired()
    onService = signs
    const paid = await fetch(`${proxy}/${upstream}/ask`)
    expect(paid.headers.get("quittance-payment-id")).toBe("p1")
    expect(paid.headers.get("quittance-payment-amount")).toBe("0.25")
    expect(paid.headers.get("quittance-payment-refused")).toBeNull()
    expect(paid.headers.get("quittance-payment-message")).toBeNull()
  })

  test("web pages, other names for loopback, the proxy itself and nonsense are refused", async () => {
    const refused = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${proxy}${path}`, { headers })
      return `${response.status} ${response.headers.get("quittance-payment-refused")}`
    }
    expect(await refused(`/${upstream}/`, { origin: "https://evil.example" })).toBe("403 NOT_FOR_BROWSERS")
    for (const marks of [
      { "sec-fetch-mode": "no-cors" },
      { "sec-fetch-mode": "navigate" },
      { "sec-fetch-mode": "websocket" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
      { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-dest": "serviceworker" },
      { origin: "null" },
      // A browser too old to mark its requests.
      { "user-agent": "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Version/15.6 Safari/604.1" },
      { "user-agent": "AppleCoreMedia/1.0.0.20G75 (Macintosh; U; Intel Mac OS X 13_5)" },
      { "user-agent": "Opera/9.80 (X11; Linux) Presto/2.12 Version/12.16" },
      { referer: "https://evil.example/", "user-agent": "curl/8.5.0" },
      { "sec-purpose": "prefetch", "user-agent": "curl/8.5.0" },
      { "sec-ch-ua": '"Chromium"', "user-agent": "curl/8.5.0" }
    ])
      expect(await refused(`/${upstream}/`, marks)).toBe("403 NOT_FOR_BROWSERS")
    expect(await refused(`/${upstream}/`, { host: "evil.example" })).toBe("421 WRONG_HOST")
    expect(await refused("/")).toBe("400 NO_TARGET")
    expect(await refused("/ftp://x/")).toBe("400 NO_TARGET")
    expect(await refused("/weather")).toBe("400 NO_TARGET")
    expect(await refused(`/${proxy}/`)).toBe("400 NO_TARGET")
    expect(await refused(`/${upstream}/`, { "quittance-request-id": "a b" })).toBe("400 INVALID_REQUEST_ID")
    expect(await refused("/http://127.0.0.1:1/")).toBe("502 UPSTREAM_UNREACHABLE")
    expect(upstreamRequests).toHaveLength(0)
  })

  test("programs are accepted: Node's and Deno's fetch mark theirs, and some call themselves Mozilla", async () => {
    for (const headers of [
      { "sec-fetch-mode": "cors", "user-agent": "node" },
      { "user-agent": "curl/8.5.0" },
      { "user-agent": "Mozilla/5.0 (compatible; ResearchBot/1.0)", "quittance-request-id": "r-1" }
    ])
      expect((await fetch(`${proxy}/${upstream}/`, { headers })).status).toBe(200)
    expect(upstreamRequests).toHaveLength(3)
    for (const agent of [
      "Python/3.12 aiohttp/3.9.5",
      "python-httpx/0.27.0",
      "python-requests/2.32.3",
      "Python-urllib/3.12",
      "Go-http-client/2.0",
      "okhttp/4.12.0",
      "axios/1.7.2",
      "undici",
      "node",
      "Deno/1.44.0",
      "Bun/1.4.5",
      "curl/8.5.0",
      "Wget/1.21.4",
      "Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.2",
      "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.22621.2506"
    ])
      expect(isFromBrowser(new Headers({ "user-agent": agent })), agent).toBeFalse()
  })

  test("an answer cannot do anything in a browser, whatever the upstream sends", async () => {
    onUpstream = () =>
      new Response("<script>alert(1)</script>", {
        headers: {
          "content-type": "text/html",
          "set-cookie": "quittance_session=theirs",
          "service-worker-allowed": "/",
          "clear-site-data": '"*"',
          "access-control-allow-origin": "*",
          "content-security-policy": "default-src *",
          "x-frame-options": "ALLOWALL"
        }
      })
    const refused = fetch(`${proxy}/${upstream}/`, { headers: { origin: "https://evil.example" } })
    for (const { headers } of [await fetch(`${proxy}/${upstream}/`), await refused]) {
      for (const name of [
        "set-cookie",
        "service-worker-allowed",
        "clear-site-data",
        "access-control-allow-origin"
      ])
        expect([name, headers.get(name)]).toEqual([name, null])
      expect(headers.get("content-security-policy")).toBe(
        "sandbox; default-src 'none'; frame-ancestors 'none'"
      )
      expect(headers.get("x-frame-options")).toBe("DENY")
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin")
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
    }
  })

  test("the headers arrive before the body has begun", async () => {
    let begin = () => {}
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
      begin = () => void response.end("data: 1")
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    stops.push(() => void server.close())
    const address = server.address()
    const port = typeof address === "object" ? address?.port : 0
    const response = await fetch(`${proxy}/http://127.0.0.1:${port}/`, {
      signal: AbortSignal.timeout(30_000)
    })
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    begin()
    expect(await response.text()).toBe("data: 1")
  })

  test("an endless 402 is read to its limit, and ends with the client", async () => {
    let sent = 0
    let ended = 0
    onUpstream = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            sent += 65_536
            controller.enqueue(new Uint8Array(65_536).fill(97))
          },
          cancel: () => {
            ended++
          }
        }),
        { status: 402 }
      )
    const leave = new AbortController()
    const response = await fetch(`${proxy}/${upstream}/`, { signal: leave.signal })
    expect([response.status, response.headers.get("quittance-payment-refused")]).toEqual([402, "NOT_X402"])
    const reader = response.body?.getReader()
    await reader?.read()
    leave.abort()
    await reader?.cancel().catch(() => undefined)
    for (let wait = 0; wait < 1_000 && ended === 0; wait++) await Bun.sleep(20)
    expect(ended).toBe(1)
    // Only as much as fits in the sockets' buffers, and not an endless body.
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  liveEffect(
    "as a program it listens on loopback, says how to use it, and reports a missing key and an unknown flag by name",
    () =>
      Effect.gen(function* () {
        const missing = yield* spawnProgram(["src/packages/agent-proxy/main.ts"], {
          SERVICE_BASE_URL: serviceUrl
        })
        expect(yield* missing.exited).toBe(1)
        expect(missing.output()).toContain("SERVICE_AGENT_KEY must be")
        const misspelt = yield* spawnProgram(["src/packages/agent-proxy/main.ts", "--mpc"], {})
        expect(yield* misspelt.exited).toBe(2)
        expect(misspelt.output()).toContain('"--mpc"')
        const helped = yield* spawnProgram(["src/packages/agent-proxy/main.ts", "--help"], {})
        expect(yield* helped.exited).toBe(0)
        expect(helped.output()).toContain("SERVICE_AGENT_KEY ")
        const program = yield* spawnProgram(["src/packages/agent-proxy/main.ts"], {
          SERVICE_BASE_URL: serviceUrl,
          SERVICE_AGENT_KEY: key,
          AGENT_PROXY_PORT: "0"
        })
        yield* Effect.promise(async () => {
          for (let wait = 0; wait < 800 && !program.output().includes("curl"); wait++) await Bun.sleep(50)
        })
        expect(program.output()).toContain("http://127.0.0.1:")
        expect(program.output()).not.toContain(key)
        const alone = yield* spawnProgram(["src/packages/agent-proxy/main.ts"], {
          SERVICE_BASE_URL: "http://127.0.0.1:9",
          SERVICE_AGENT_KEY: key,
          AGENT_PROXY_PORT: "0"
        })
        yield* Effect.promise(async () => {
          for (let wait = 0; wait < 800 && !alone.output().includes("Nothing"); wait++) await Bun.sleep(50)
        })
        expect(alone.output()).toContain("Nothing can be paid now: http://127.0.0.1:9 does not respond.")
        const second = yield* spawnProgram(["src/packages/agent-proxy/main.ts"], {
          SERVICE_BASE_URL: serviceUrl,
          SERVICE_AGENT_KEY: key,
          AGENT_PROXY_PORT: new URL(proxy).port
        })
        expect(yield* second.exited).toBe(1)
        expect(second.output()).toMatch(
          /^The proxy cannot listen on port \d+ .*\. Set AGENT_PROXY_PORT to a free port\.$/m
        )
      })
  )

  test("as an MCP server it lists fetch, balance and history, and fetches", async () => {
    onUpstream = asksOnce
    onService = (request) =>
      request.method === "GET"
        ? Response.json({ agent: { name: "Researcher", remaining: "19.75", payments: [{ id: "p1" }] } })
        : signs(request)
    const child = Bun.spawn([process.execPath, "src/packages/agent-proxy/main.ts", "--mcp"], {
      env: { ...process.env, SERVICE_BASE_URL: serviceUrl, SERVICE_AGENT_KEY: key },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore"
    })
    stops.push(() => child.kill())
    const reader = child.stdout.getReader()
    let buffered = ""
    const decoder = new TextDecoder()
    const ask = async (message: {
      readonly id?: number
      readonly method: string
      readonly params?: unknown
    }) => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
      child.stdin.flush()
      while (message.id !== undefined) {
        const end = buffered.indexOf("\n")
        if (end === -1) {
          const { value, done } = await reader.read()
          if (done) throw new Error("the server has ended")
          buffered += decoder.decode(value, { stream: true })
          continue
        }
        const answer = JSON.parse(buffered.slice(0, end))
        buffered = buffered.slice(end + 1)
        if (answer.id === message.id) return answer
      }
    }
    const hello = await ask({
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "1" }
      }
    })
    expect(hello.result.serverInfo.name).toBe("quittance-agent")
    await ask({ method: "notifications/initialized" })
    child.stdin.write("garbage\n")
    const tools = await ask({ id: 2, method: "tools/list", params: {} })
    expect(tools.result.tools.map((tool: { readonly name: string }) => tool.name).sort()).toEqual([
      "balance",
      "fetch",
      "history"
    ])
    const fetched = await ask({
      id: 3,
      method: "tools/call",
      params: { name: "fetch", arguments: { url: `${upstream}/x` } }
    })
    expect(fetched.result.structuredContent).toMatchObject({ status: 200, body: "the goods", paid: "0.25" })
    expect(JSON.stringify(fetched)).not.toContain(key)
    expect(fetched.result.structuredContent.requestId).toBe(signRequests[0]?.requestId)
    // A client that left before the answer calls again: the same answer, and nothing more is paid.
    const calledAgain = await ask({
      id: 12,
      method: "tools/call",
      params: { name: "fetch", arguments: { url: `${upstream}/x` } }
    })
    expect(calledAgain.result.structuredContent).toEqual({
      ...fetched.result.structuredContent,
      message: expect.stringContaining("To buy again, pass a new requestId.")
    })
    expect(signRequests).toHaveLength(1)
    // A truncated answer: what was paid, and the id with which it can be requested again.
    const broken = createServer((request, response) => {
      if (request.headers["payment-signature"] === undefined)
        return void response.writeHead(402, { "payment-required": encodeHeader(required) }).end()
      response.writeHead(200, { "content-length": "100" }).write("half")
      setTimeout(() => response.destroy(), 50)
    })
    broken.listen(0, "127.0.0.1")
    await once(broken, "listening")
    stops.push(() => void broken.close())
    const address = broken.address()
    const port = typeof address === "object" ? address?.port : 0
    signRequests.length = 0
    const half = await ask({
      id: 6,
      method: "tools/call",
      params: { name: "fetch", arguments: { url: `http://127.0.0.1:${port}/` } }
    })
    expect(half.result.structuredContent).toMatchObject({
      paid: "0.25",
      refused: "PAYMENT_OUTCOME_UNKNOWN",
      requestId: signRequests[0]?.requestId
    })
    const called = async (id: number, name: string) =>
      (await ask({ id, method: "tools/call", params: { name, arguments: {} } })).result
    const balance = JSON.stringify(await called(4, "balance"))
    expect(balance).toContain("19.75")
    expect(balance).not.toContain("p1")
    const history = JSON.stringify(await called(5, "history"))
    expect(history).toContain("p1")
    expect(history).not.toContain("19.75")
    // A redirect includes its target, and a failure includes its reason and that nothing was paid.
    onUpstream = () => new Response(null, { status: 302, headers: { location: "/elsewhere" } })
    const fetches = async (id: number, given: Readonly<Record<string, unknown>>) =>
      (await ask({ id, method: "tools/call", params: { name: "fetch", arguments: given } })).result
    expect((await fetches(7, { url: `${upstream}/a/b` })).structuredContent).toMatchObject({
      status: 302,
      location: `${upstream}/elsewhere`
    })
    // The answer arrives as text, also for an agent that copies a browser's headers.
    onService = signs
    onUpstream = (request) => {
      if (!request.headers.has("payment-signature")) return paymentRequired()
      return /gzip/.test(request.headers.get("accept-encoding") ?? "")
        ? new Response(Bun.gzipSync("the goods"), { headers: { "content-encoding": "gzip" } })
        : new Response("the goods")
    }
    const copied = { "Accept-Encoding": "gzip, deflate, br" }
    expect((await fetches(11, { url: upstream, headers: copied })).structuredContent).toMatchObject({
      paid: "0.25",
      body: "the goods"
    })
    for (const [given, said] of [
      [
        { url: "http://127.0.0.1:1/" },
        "127.0.0.1:1 does not respond, or its response broke off. Nothing was paid."
      ],
      [{ url: "file:///etc/hosts" }, "Give an http(s) address."],
      [{ url: upstream, headers: { "a header": "x" } }, "A header's name or value is not valid."]
    ] as const) {
      const failed = await fetches(8, given)
      expect(failed.isError).toBeTrue()
      expect(JSON.parse(failed.content[0].text).message).toBe(said)
    }
    onService = () =>
      Response.json({ error: { code: "INVALID_API_KEY", message: "Revoked." } }, { status: 401 })
    expect(JSON.stringify(await called(9, "balance"))).toContain("Revoked.")
    onService = () => new Response("<html>", { status: 502 })
    expect(JSON.stringify(await called(10, "history"))).toContain("SERVICE_UNAVAILABLE")
    child.kill()
  })
})
