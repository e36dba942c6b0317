// Every way in which a web page can reach loopback, in Chromium, against a proxy that would pay.
import { afterAll, expect, test } from "bun:test"
import { Redacted } from "effect"
import { chromium } from "playwright-core"
import { makePayingFetch } from "../../../src/packages/agent-proxy/PayingFetch.ts"
import { startProxy } from "../../../src/packages/agent-proxy/Proxy.ts"
import { encodeHeader } from "../../../src/x402/Wire.ts"
import { chromiumPath, hasChromium } from "../../support/browser.ts"

const stops: Array<() => unknown> = []
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})
const listen = (fetch: (request: Request) => Response) => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch })
  stops.push(() => server.stop(true))
  return server.port ?? 0
}

const signatures: Array<string> = []
const fetched: Array<string> = []
const service = listen((request) => {
  signatures.push(request.url)
  return Response.json(
    {
      agentPayment: { id: "p1", amount: "0.50", payTo: "0x" },
      header: { name: "PAYMENT-SIGNATURE", value: "x" }
    },
    { status: 201 }
  )
})
/** An API that requires payment, and a server on the intranet. */
const upstream = listen((request) => {
  fetched.push(request.url)
  const required = { x402Version: 2, resource: { url: "x" }, accepts: [{ scheme: "exact" }] }
  return request.url.endsWith("/pay") && !request.headers.has("payment-signature")
    ? new Response("pay me", { status: 402, headers: { "payment-required": encodeHeader(required) } })
    : new Response("<p>INTRANET-SECRET-42</p><script>fetch('/taken')</script>", {
        headers: { "content-type": "text/html" }
      })
})
const proxy = await startProxy(
  makePayingFetch({
    serviceUrl: `http://127.0.0.1:${service}`,
    agentKey: Redacted.make(`ak_test_${"A".repeat(43)}123456`),
    log: () => undefined
  }),
  0
)
stops.push(() => proxy.stop())
const attacker = listen(
  () => new Response("<!doctype html><body>public page</body>", { headers: { "content-type": "text/html" } })
)

/** The ways in which the page uses the address that would pay or reveal something. */
const ways: Readonly<Record<string, string>> = {
  location: "location = target",
  popup: "window.opened = open(target)",
  link: "const a = document.createElement('a'); a.href = target; document.body.append(a); a.click()",
  iframe: "const f = document.createElement('iframe'); f.src = target; document.body.append(f)",
  "form, GET":
    "const f = document.createElement('form'); f.action = target; document.body.append(f); f.submit()",
  "form, POST":
    "const f = document.createElement('form'); f.method = 'POST'; f.action = target; document.body.append(f); f.submit()",
  fetch: "window.got = fetch(target).then((r) => r.text()).catch(() => '')",
  "fetch, no-cors": "window.got = fetch(target, { mode: 'no-cors' }).then((r) => r.text()).catch(() => '')",
  image: "const i = new Image(); i.src = target",
  script: "const s = document.createElement('script'); s.src = target; document.body.append(s)",
  WebSocket: "new WebSocket(target.replace('http:', 'ws:'))",
  "service worker": "navigator.serviceWorker?.register(target).catch(() => '')",
  "window of the proxy's own":
    "const w = open(target); setTimeout(() => { try { w.eval('1') } catch {} }, 300)"
}

const run = hasChromium ? test : test.skip
run(
  `a public page spends and reads nothing through the proxy${hasChromium ? "" : `: no Chromium at ${chromiumPath}`}`,
  async () => {
    const browser = await chromium.launch({
      executablePath: chromiumPath,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-popup-blocking",
        "--host-resolver-rules=MAP attacker.example 127.0.0.1",
        `--ip-address-space-overrides=127.0.0.1:${attacker}=public`
      ]
    })
    stops.push(() => browser.close())
    for (const [way, script] of Object.entries(ways)) {
      // A page that shows an answer could also read it.
      for (const path of /location|popup|iframe|own/.test(way) ? ["pay", "intranet"] : ["pay"]) {
        const context = await browser.newContext()
        const page = await context.newPage()
        await page.goto(`http://attacker.example:${attacker}/`)
        const target = `http://127.0.0.1:${proxy.port}/http://127.0.0.1:${upstream}/${path}`
        await page
          .evaluate(`(() => { const target = ${JSON.stringify(target)}; ${script} })()`)
          .catch(() => undefined)
        await page.waitForTimeout(200)
        for (const shown of context.pages())
          for (const frame of shown.frames())
            expect([way, await frame.content().catch(() => "")]).toEqual([
              way,
              expect.not.stringContaining("SECRET")
            ])
        expect([way, signatures, fetched]).toEqual([way, [], []])
        await context.close()
      }
    }
    // For a program the same address pays.
    const answer = await fetch(`http://127.0.0.1:${proxy.port}/http://127.0.0.1:${upstream}/pay`)
    expect([answer.status, signatures.length, fetched.length]).toEqual([200, 1, 2])
  },
  120_000
)
