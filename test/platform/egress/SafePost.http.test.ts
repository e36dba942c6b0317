// Webhook servers that misbehave in HTTP: over real sockets to 127.0.0.1, which the policy allows by exact host and
// port.
import { describe, expect } from "bun:test"
import { gzipSync } from "node:zlib"
import { Effect } from "effect"
import { type RawReceiverOptions, rawReceiver } from "../../support/rawReceiver.ts"
import { liveEffect } from "../../support/run.ts"
import { answering, expectClosed, gist, requestTo, shortBudgets, subject } from "./egress.ts"

describe("the request", () => {
  liveEffect("is one POST with host and length, and does not offer compression", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject()
      yield* send
      const [head = ""] = (receiver.requests[0] ?? "").split("\r\n\r\n")
      const [requestLine, ...headers] = head.split("\r\n")
      expect(requestLine).toBe("POST /hook?a=b HTTP/1.1")
      expect(headers).toContain(`host: 127.0.0.1:${receiver.port}`)
      expect(headers).toContain("accept-encoding: identity")
      expect(headers).toContain("content-type: application/json")
      expect(headers).toContain(`content-length: ${requestTo("").body.length}`)
    })
  )

  liveEffect("reveals only the status of a private server's answer", () =>
    Effect.gen(function* () {
      const { send } = yield* subject()
      expect(Object.keys(yield* send).toSorted()).toEqual([
        "_tag",
        "durationMs",
        "ok",
        "requestHead",
        "status"
      ])
    })
  )

  liveEffect("ignores proxies in the environment", () =>
    Effect.gen(function* () {
      const proxy = yield* rawReceiver()
      const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
      const before = { ...process.env }
      for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`
      const { receiver, send } = yield* subject()
      expect(gist(yield* send)).toBe(200)
      expect([receiver.connections(), proxy.connections()]).toEqual([1, 0])
      for (const name of names) {
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
      }
    })
  )

  liveEffect("an id that would break a header is never sent", () =>
    Effect.gen(function* () {
      const { receiver, sender } = yield* subject()
      const url = `http://127.0.0.1:${receiver.port}/`
      const exit = yield* Effect.exit(sender.send(requestTo(url, "a\r\nx-evil: 1")))
      expect(exit._tag).toBe("Failure")
      expect(receiver.connections()).toBe(0)
    })
  )
})

describe("redirects are answers", () => {
  for (const status of [300, 301, 302, 303, 304, 305, 307, 308]) {
    liveEffect(String(status), () =>
      Effect.gen(function* () {
        const canary = yield* rawReceiver()
        const location = `location: http://127.0.0.1:${canary.port}/`
        const answer = `HTTP/1.1 ${status} Moved\r\n${location}\r\ncontent-length: 0\r\n\r\n`
        const { receiver, send } = yield* subject(answering(answer))
        expect(yield* send).toMatchObject({ _tag: "Answered", status, ok: false })
        yield* Effect.sleep(20)
        expect([receiver.requests.length, canary.connections()]).toEqual([1, 0])
      })
    )
  }
})

describe("hostile answers", () => {
  const cases: ReadonlyArray<readonly [name: string, answer: string | Buffer, expected: number | string]> = [
    ["101 is not followed", "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n", 101],
    ["header bomb in one header", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`, "response"],
    ["header bomb in many", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}\r\n`, "response"],
    ["endless interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(5_000), "response"],
    ["not HTTP", "220 mail.example.com ESMTP\r\n\r\n", "response"],
    ["body announced as a terabyte", "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n", "timeout"],
    [
      "gzip bomb",
      Buffer.concat([
        Buffer.from(
          "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\ncontent-length: 10205\r\n\r\n"
        ),
        gzipSync(Buffer.alloc(10 * 1024 * 1024))
      ]),
      200
    ]
  ]
  for (const [name, answer, expected] of cases) {
    liveEffect(name, () =>
      Effect.gen(function* () {
        const budgets = expected === "timeout" ? shortBudgets : {}
        const { receiver, send } = yield* subject(answering(answer), { budgets })
        expect(gist(yield* send)).toBe(expected)
        yield* expectClosed(receiver)
      })
    )
  }

  for (const [name, head] of [
    ["by length", "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n"],
    ["until close", "HTTP/1.1 200 OK\r\n\r\n"]
  ] as const) {
    liveEffect(`endless body ${name} is cut off after 16 KiB`, () =>
      Effect.gen(function* () {
        let written = 0
        const { receiver, send } = yield* subject({
          answer: (socket) => {
            socket.write(head)
            const pour = (): void => {
              if (socket.destroyed) return
              written += 65_536
              if (socket.write(Buffer.alloc(65_536, "x"))) setTimeout(pour, 1)
              else socket.once("drain", pour)
            }
            pour()
          }
        })
        expect(gist(yield* send)).toBe(200)
        yield* expectClosed(receiver)
        expect(written).toBeLessThan(16 * 1024 * 1024)
      })
    )
  }

  const drip = (head: string): RawReceiverOptions => ({
    answer: (socket) => {
      let at = 0
      const timer = setInterval(() => {
        if (socket.destroyed) clearInterval(timer)
        else socket.write(head[at++] ?? "x")
      }, 25)
      socket.on("close", () => clearInterval(timer))
    }
  })
  for (const [name, options] of [
    ["says nothing", { mute: true }],
    ["drips its head", drip(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(9_000)}`)],
    ["drips its body", drip("HTTP/1.1 200 OK\r\n\r\n")]
  ] as const) {
    liveEffect(`a server that ${name} takes up the attempt's time, but no more`, () =>
      Effect.gen(function* () {
        const { receiver, send } = yield* subject(options, { budgets: shortBudgets })
        const outcome = yield* send
        expect(gist(outcome)).toBe("timeout")
        expect(outcome.durationMs).toBeGreaterThanOrEqual(shortBudgets.totalMillis - 5)
        expect(outcome.durationMs).toBeLessThan(shortBudgets.totalMillis + 10_000)
        yield* expectClosed(receiver)
      })
    )
  }

  for (const [name, bytes] of [
    ["before a byte", ""],
    ["within the head", "HTTP/1.1 200 OK\r\ncontent-"],
    ["within the body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"]
  ] as const) {
    liveEffect(`a server that hangs up ${name}`, () =>
      Effect.gen(function* () {
        const { send } = yield* subject({ answer: (socket) => void socket.end(bytes) })
        expect(gist(yield* send)).toBe("response")
      })
    )
  }
})
