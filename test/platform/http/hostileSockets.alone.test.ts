// Clients that misbehave below HTTP: slow heads, slow bodies, slow readers, idle crowds, headers without end. Other
// clients must not notice.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { connect, type Socket } from "node:net"
import { send } from "../../support/contractCheck.ts"
import { serviceForFile } from "../../support/forFile.ts"
import { buyer, makeShop, tokenChangesOf } from "./shop.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()
const shop = await makeShop(service)
for (let count = 0; count < 50; count++) await shop.open()
const port = Number(new URL(service.baseUrl).port)

describe("Hostile sockets", () => {
  const dial = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(socket))
      socket.on("error", () => {})
    })

  /** Everything that the server sends until it closes, or undefined if it does not close in time. */
  const converse = async (text: string, millis = 12_000): Promise<string | undefined> => {
    const socket = await dial()
    let said = ""
    socket.on("data", (chunk) => {
      said += chunk.toString("latin1")
    })
    const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(said)))
    socket.write(text)
    const result = await Promise.race([closed, Bun.sleep(millis).then(() => undefined)])
    socket.destroy()
    return result
  }

  const statusOf = (answer: string | undefined) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer ?? "")?.[1])
  const request = (line: string, headers = "") =>
    `${line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer ${shop.keys.full}\r\n${headers}\r\n`

  test("paths with doubled slashes do not reach other paths", async () => {
    for (const path of [
      "//api/v1/payments",
      "/api//v1/payments",
      "/./api/v1/payments",
      "/api/v1/../v1/payments"
    ]) {
      const status = statusOf(await converse(request(`GET ${path}`)))
      expect([200, 400, 404]).toContain(status)
      if (path.includes("//")) expect(status).toBe(404)
    }
  })

  test("a declared body of 1 GB is refused without being read", async () => {
    const answer = await converse(
      request(
        "POST /api/v1/payment-intents",
        "content-type: application/json\r\ncontent-length: 1000000000\r\n"
      )
    )
    expect(statusOf(answer)).toBe(413)
    expect(answer?.toLowerCase()).toContain("cache-control: no-store")
    expect(answer).toContain('"PAYLOAD_TOO_LARGE"')
  })

  test("a chunked body within the limit is read", async () => {
    const body = JSON.stringify({ amount: "1.00", intentUrl: "https://shop.example.com/" })
    const answer = await converse(
      `${request(
        "POST /api/v1/payment-intents",
        "content-type: application/json\r\ntransfer-encoding: chunked\r\n"
      )}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    )
    expect(statusOf(answer)).toBe(201)
  })

  test("a chunked body without end is cut off", async () => {
    const socket = await dial()
    let said = ""
    socket.on("data", (chunk) => {
      said += chunk.toString("latin1")
    })
    socket.write(
      request(
        "POST /api/v1/payment-intents",
        "content-type: application/json\r\ntransfer-encoding: chunked\r\n"
      )
    )
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`
    for (let count = 0; count < 400 && !socket.destroyed && said === ""; count++) {
      socket.write(chunk)
      await Bun.sleep(2)
    }
    await Bun.sleep(200)
    expect(said === "" ? socket.destroyed : statusOf(said) === 413).toBe(true)
    socket.destroy()
  })

  /** Bun itself answers bytes that are no HTTP request: a status or nothing, and the connection is closed. */
  const malformed: ReadonlyArray<{
    readonly name: string
    readonly bytes: string
    /** Undefined if Bun closes without an answer. */
    readonly status: number | undefined
  }> = [
    {
      name: "a head without end",
      bytes: `GET /healthz HTTP/1.1\r\nhost: x\r\n${"x-filler: y\r\n".repeat(20_000)}`,
      status: 431
    },
    {
      name: "a header of 17 KB",
      bytes: `GET /healthz HTTP/1.1\r\nhost: x\r\nx-filler: ${"y".repeat(17_000)}\r\n\r\n`,
      status: 431
    },
    {
      name: "300 headers",
      bytes: `GET /healthz HTTP/1.1\r\nhost: x\r\n${Array.from({ length: 300 }, (_, n) => `x-${n}: y\r\n`).join("")}\r\n`,
      status: 431
    },
    {
      name: "a path of 17 KB",
      bytes: `GET /${"a".repeat(17_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      status: 431
    },
    {
      name: "no Host",
      bytes: "GET /openapi.json HTTP/1.1\r\nconnection: close\r\n\r\n",
      status: 400
    },
    {
      name: "HTTP/9.9",
      bytes: "GET /healthz HTTP/9.9\r\nhost: x\r\n\r\n",
      status: 505
    },
    { name: "HTTP/0.9", bytes: "GET /healthz\r\n\r\n", status: 505 },
    {
      name: "a header without a colon",
      bytes: "GET /healthz HTTP/1.1\r\nhost: x\r\nfoo bar\r\n\r\n",
      status: 400
    },
    {
      name: "TLS",
      bytes: "\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n",
      status: 400
    },
    { name: "an unknown method", bytes: "BREW /coffee HTTP/1.1\r\nhost: x\r\n\r\n", status: undefined },
    {
      name: "chunks of HTTP/1.0",
      bytes: "POST /api/v1/payments HTTP/1.0\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      status: 400
    }
  ]

  for (const { name, bytes, status } of malformed) {
    test(`${name}: ${status ?? "no answer"}, without a body, and the connection is closed`, async () => {
      const answer = await converse(bytes)
      expect(answer).toBeDefined()
      if (status === undefined) expect(answer).toBe("")
      else
        expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [^\r]+\r\n(connection: close\r\n)?\r\n$`, "i"))
    })
  }

  test("malformed bytes after a request end its connection with 400", async () => {
    const answer = await converse("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nno request\r\n\r\n")
    expect(answer).toMatch(/^HTTP\/1.1 (200 .*HTTP\/1.1 )?400 /s)
  })

  for (const [name, head] of [
    ["two Hosts", "host: a\r\nhost: b"],
    ["a Host with a space", "host: a b"],
    ["a Host with a path", "host: a/b"],
    ["a Host with a user", "host: user@a"],
    ["a Host whose port is no number", "host: a:b"]
  ] as const) {
    test(`${name}: 400 INVALID_REQUEST in the envelope, but a health check is answered`, async () => {
      const ask = (path: string) => converse(`GET ${path} HTTP/1.1\r\n${head}\r\nconnection: close\r\n\r\n`)
      const answer = (await ask("/openapi.json")) ?? ""
      expect(statusOf(answer)).toBe(400)
      const requestId = /x-request-id: (\S+)/i.exec(answer)?.[1]
      expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
        error: { code: "INVALID_REQUEST", requestId }
      })
      expect(statusOf(await ask("/healthz"))).toBe(200)
    })
  }

  test("a report settles even if its client disconnects before the answer", async () => {
    for (let count = 0; count < 20; count++) {
      const { id } = (await shop.open("1.00")).body.payment
      const transactionId = await shop.transfer(1_000_000n)
      const socket = await dial()
      const closed = new Promise((resolve) => socket.on("close", resolve))
      const body = JSON.stringify({
        buyerDidToken: `buyer:${buyer}`,
        transactionId,
        tokenChanges: tokenChangesOf(1_000_000n, "test", shop.merchant.receiver)
      })
      socket.write(
        `PATCH /api/v1/payments/${id} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${shop.keys.publishable}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        () => socket.destroy()
      )
      await closed
      const retrieve = { method: "GET", path: `/api/v1/payments/${id}`, key: shop.keys.full }
      let payment = (await shop.call(retrieve)).body.payment
      for (let again = 0; again < 400 && payment.status === "pending"; again++) {
        await Bun.sleep(25)
        payment = (await shop.call(retrieve)).body.payment
      }
      expect(payment.status).toBe("settled")
    }
  })

  const measure = async (count: number): Promise<number> => {
    const times: Array<number> = []
    for (let index = 0; index < count; index++) {
      const start = performance.now()
      const answer = await send(service.baseUrl, {
        method: "GET",
        path: "/api/v1/payments?limit=5",
        key: shop.keys.full
      })
      times.push(performance.now() - start)
      expect(answer.status).toBe(200)
    }
    times.sort((left, right) => left - right)
    return times[Math.floor(times.length * 0.99)] ?? 0
  }

  test("slow heads, slow bodies, slow readers and 1,000 idle sockets leave another client's p99 within twice its quiet value", async () => {
    await measure(200)
    const quiet = await measure(400)
    const sockets: Array<Socket> = []
    for (let count = 0; count < 1_000; count++) sockets.push(await dial())
    const dripping: Array<Socket> = []
    for (let count = 0; count < 100; count++) {
      const head = await dial()
      head.write("GET /healthz HTT")
      const body = await dial()
      body.write(
        request("POST /api/v1/payment-intents", "content-type: application/json\r\ncontent-length: 1000\r\n")
      )
      const reader = await dial()
      reader.pause()
      reader.write(request("GET /docs"))
      sockets.push(head, body, reader)
      dripping.push(head, body)
    }
    const drip = setInterval(() => {
      for (const one of dripping) if (!one.destroyed) one.write("x")
    }, 500)
    // The attackers and other work share two cores: a disturbed round is measured again.
    let loaded = await measure(400)
    for (let again = 0; again < 4 && loaded > quiet * 2; again++)
      loaded = Math.min(loaded, await measure(400))
    clearInterval(drip)
    for (const one of sockets) one.destroy()
    console.log(`p99 quiet ${quiet.toFixed(2)} ms, under attack ${loaded.toFixed(2)} ms`)
    expect(loaded).toBeLessThanOrEqual(quiet * 2)
  }, 180_000)

  test("a body that drips a byte a second is aborted at its deadline with 408", async () => {
    const socket = await dial()
    let said = ""
    socket.on("data", (chunk) => {
      said += chunk.toString("latin1")
    })
    socket.write(
      request("POST /api/v1/payment-intents", "content-type: application/json\r\ncontent-length: 100\r\n")
    )
    const drip = setInterval(() => socket.destroyed || socket.write(" "), 500)
    const start = performance.now()
    while (said === "" && !socket.destroyed && performance.now() - start < 14_000) await Bun.sleep(50)
    clearInterval(drip)
    socket.destroy()
    expect(statusOf(said)).toBe(408)
    expect(performance.now() - start).toBeLessThan(12_000)
  }, 180_000)
})
