import { gunzipSync, gzipSync } from "node:zlib"
import { encodeHeader } from "../../src/x402/Wire.ts"

const required = { x402Version: 2, resource: { url: "x" }, accepts: [{ scheme: "exact" }] }
const goods = gzipSync("the goods")

const paidApi = () => {
  const signatures: Array<string | null> = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === "/api/v1/agent/x402/payments")
        return Response.json(
          {
            agentPayment: { id: "p1", amount: "0.25", payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" },
            header: { name: "PAYMENT-SIGNATURE", value: "c2lnbmVk" }
          },
          { status: 201 }
        )
      if (pathname === "/api/v1/agent") return Response.json({ object: "agent" })
      if (pathname === "/moved") return new Response(null, { status: 302, headers: { location: "/goods" } })
      if (pathname === "/none") return new Response(null, { status: 204 })
      signatures.push(request.headers.get("payment-signature"))
      return request.headers.has("payment-signature")
        ? new Response(goods, { headers: { "content-encoding": "gzip", etag: '"1"' } })
        : new Response("pay me", { status: 402, headers: { "payment-required": encodeHeader(required) } })
    }
  })
  return { url: `http://127.0.0.1:${server.port}`, signatures, stop: () => server.stop(true) }
}

/** Ends in the middle of a body whose length it has announced. */
const brokenApi = () => {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf")
        setTimeout(() => socket.terminate(), 100)
      }
    }
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop() }
}

/** The result of a program that buys through the installed agent proxy; the service is a stand-in. */
export const buyThroughProxy = async (command: ReadonlyArray<string>, cwd: string) => {
  const api = paidApi()
  const broken = brokenApi()
  const child = Bun.spawn([...command], {
    cwd,
    stderr: "pipe",
    env: {
      PATH: process.env["PATH"] ?? "",
      SERVICE_AGENT_KEY: "ak_test_abc",
      SERVICE_BASE_URL: api.url,
      AGENT_PROXY_PORT: "0"
    }
  })
  try {
    // After the start nobody reads its log: it works without a reader.
    let proxy: string | undefined
    let said = ""
    for await (const bytes of child.stderr) {
      said += new TextDecoder().decode(bytes)
      proxy = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1]
      if (proxy !== undefined) break
    }
    if (proxy === undefined) throw new Error(`the proxy has not started: ${said}`)
    const through = (url: string, init: BunFetchRequestInit & { readonly decompress?: false } = {}) =>
      fetch(`${proxy}/${url}`, { ...init, redirect: "manual" })
    const bought = await through(`${api.url}/goods`, { method: "POST", body: "please", decompress: false })
    const bytes = await bought.bytes()
    const { headers: moved } = await through(`${api.url}/moved`)
    const large = await through(`${api.url}/goods`, {
      method: "POST",
      body: new Uint8Array(10 * 1024 * 1024 + 1)
    })
    return {
      status: bought.status,
      paid: bought.headers.get("quittance-payment-amount"),
      encoding: bought.headers.get("content-encoding"),
      etag: bought.headers.get("etag"),
      goods: gunzipSync(bytes).toString(),
      signatures: api.signatures,
      moved: moved.get("location")?.replace(`${proxy}/${api.url}`, "through the proxy: "),
      none: (await through(`${api.url}/none`)).status,
      large: [large.status, large.headers.get("quittance-payment-refused")],
      half: await through(broken.url)
        .then((response) => response.text())
        .then(
          () => "looked whole",
          () => "broke off"
        )
    }
  } finally {
    child.kill()
    await child.exited
    await api.stop()
    broken.stop()
  }
}
