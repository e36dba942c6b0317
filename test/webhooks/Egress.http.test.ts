// Receivers that misbehave in HTTP, and the connections that are kept: over real sockets to 127.0.0.1,
// which the policy allows by exact host and port.
import { describe, expect } from "bun:test"
import { gzipSync } from "node:zlib"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { SendOutcome } from "../../src/webhooks/SendOutcome.ts"
import { scriptedDns } from "../support/dnsServer.ts"
import { ok200, type RawReceiver, type RawReceiverOptions, rawReceiver } from "../support/rawReceiver.ts"
import { liveEffect, testEffect } from "../support/run.ts"
import { type EgressOptions, gist, makeSender, requestTo, shortBudgets } from "./egress.ts"

const subject = Effect.fnUntraced(function* (options: RawReceiverOptions = {}, egress: EgressOptions = {}) {
  const receiver = yield* rawReceiver(options)
  const sender = yield* makeSender({ allowedHosts: [`127.0.0.1:${receiver.port}`], ...egress })
  const send = sender.send(requestTo(`http://127.0.0.1:${receiver.port}/hook?a=b`))
  return { receiver, sender, send }
})

/** The other side sees the end of a connection a moment later. */
const expectClosed = (receiver: RawReceiver) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 50 && receiver.closed() < receiver.connections(); tries++)
      yield* Effect.sleep(10)
    expect(receiver.closed()).toBe(receiver.connections())
  })

const answering = (answer: string | Buffer) => ({
  answer: (socket: { write: (bytes: string | Buffer) => unknown }) => void socket.write(answer)
})

describe("the request", () => {
  liveEffect("is one POST with host, length and no invitation to compress", () =>
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

  liveEffect("shows nothing of what a private peer answers but its status", () =>
    Effect.gen(function* () {
      const { send } = yield* subject()
      expect(Object.keys(yield* send).toSorted()).toEqual(["_tag", "durationMs", "ok", "status"])
    })
  )

  liveEffect("ignores proxies of the environment", () =>
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

  liveEffect("an id that would break a header never reaches the network", () =>
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
    liveEffect(`a receiver that ${name} uses up the attempt's time, not more`, () =>
      Effect.gen(function* () {
        const { receiver, send } = yield* subject(options, { budgets: shortBudgets })
        const outcome = yield* send
        expect(gist(outcome)).toBe("timeout")
        expect(outcome.durationMs).toBeGreaterThanOrEqual(shortBudgets.totalMillis - 5)
        expect(outcome.durationMs).toBeLessThan(shortBudgets.totalMillis + 1_000)
        yield* expectClosed(receiver)
      })
    )
  }

  for (const [name, bytes] of [
    ["before a byte", ""],
    ["within the head", "HTTP/1.1 200 OK\r\ncontent-"],
    ["within the body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"]
  ] as const) {
    liveEffect(`a receiver that hangs up ${name}`, () =>
      Effect.gen(function* () {
        const { send } = yield* subject({ answer: (socket) => void socket.end(bytes) })
        expect(gist(yield* send)).toBe("response")
      })
    )
  }
})

describe("kept connections", () => {
  const times = (count: number, send: Effect.Effect<SendOutcome>) =>
    Effect.map(Effect.replicateEffect(send, count), (outcomes) => outcomes.map(gist))

  liveEffect("one connection carries deliveries in sequence", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject()
      expect(yield* times(20, send)).toEqual(Array.from({ length: 20 }, () => 200))
      expect([receiver.connections(), receiver.requests.length]).toEqual([1, 20])
    })
  )

  for (const [name, answer] of [
    ["the receiver says close", "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"],
    ["the receiver speaks HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n"],
    ["bytes followed the answer", `${ok200}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`]
  ] as const) {
    liveEffect(`none is kept when ${name}`, () =>
      Effect.gen(function* () {
        const { receiver, send } = yield* subject(answering(answer))
        expect(yield* times(3, send)).toEqual([200, 200, 200])
        expect(receiver.connections()).toBe(3)
        yield* expectClosed(receiver)
      })
    )
  }

  liveEffect("an answer to no question is not taken for the next one's", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject({
        answer: (socket, _request, index) => {
          socket.write(ok200)
          if (index === 0)
            setTimeout(() => socket.write("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"), 20)
        }
      })
      expect(gist(yield* send)).toBe(200)
      yield* Effect.sleep(60)
      expect(gist(yield* send)).toBe(200)
      expect(receiver.connections()).toBe(2)
    })
  )

  liveEffect("a connection that the receiver closed while idle costs no delivery", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject({
        answer: (socket) => {
          socket.write(ok200)
          setTimeout(() => socket.end(), 10)
        }
      })
      expect(gist(yield* send)).toBe(200)
      yield* Effect.sleep(50)
      expect(gist(yield* send)).toBe(200)
      expect(receiver.connections()).toBe(2)
    })
  )

  liveEffect("an idle connection is closed after its time, in use or not", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject()
      yield* send
      expect(receiver.closed()).toBe(0)
      yield* Effect.sleep(2_000)
      yield* expectClosed(receiver)
    })
  )

  testEffect("age is judged by the clock", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject()
      yield* send
      yield* TestClock.adjust("999 millis")
      yield* send
      expect(receiver.connections()).toBe(1)
      yield* TestClock.adjust("1001 millis")
      yield* send
      expect(receiver.connections()).toBe(2)
      // Too old between two sweeps: at 500 ms it is used, at 1000 ms swept over, at 1600 ms wanted again.
      yield* TestClock.adjust("500 millis")
      yield* send
      yield* TestClock.adjust("1100 millis")
      yield* send
      expect(receiver.connections()).toBe(3)
    })
  )

  liveEffect("a name that moved is dialled anew, the kept connection is dropped", () =>
    Effect.gen(function* () {
      const dns = yield* scriptedDns
      const receiver = yield* rawReceiver({ host: "0.0.0.0" })
      const sender = yield* makeSender({ dns, allowedHosts: [`shop.example.com:${receiver.port}`] })
      const send = sender.send(requestTo(`http://shop.example.com:${receiver.port}/`))
      dns.set("shop.example.com", { a: ["127.0.0.2"] })
      yield* send
      yield* send
      dns.set("shop.example.com", { a: ["127.0.0.3"] })
      yield* send
      expect(receiver.dialled).toEqual(["127.0.0.2", "127.0.0.3"])
      dns.set("shop.example.com", { behaviour: "nxdomain" })
      expect(gist(yield* send)).toBe("dns")
    })
  )

  liveEffect("a burst leaves no more than 64 to one receiver", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject({
        answer: (socket) => void setTimeout(() => socket.write(ok200), 50)
      })
      yield* Effect.replicateEffect(send, 80, { concurrency: "unbounded" })
      for (let tries = 0; tries < 50 && receiver.closed() < 16; tries++) yield* Effect.sleep(5)
      expect([receiver.connections(), receiver.closed()]).toEqual([80, 16])
    })
  )

  liveEffect("the end of the service closes them", () =>
    Effect.gen(function* () {
      const receiver = yield* rawReceiver()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const sender = yield* makeSender({ allowedHosts: [`127.0.0.1:${receiver.port}`] })
          yield* sender.send(requestTo(`http://127.0.0.1:${receiver.port}/`))
        })
      )
      yield* expectClosed(receiver)
    })
  )
})

/** One turn of the event loop, in which sockets advance. */
const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

describe("interruption", () => {
  liveEffect("at any moment leaves no connection behind", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject({ mute: true })
      for (let ticks = 0; ticks < 300; ticks++) {
        const fiber = yield* Effect.forkChild(send)
        for (let tick = 0; tick < ticks % 30; tick++) yield* turn
        yield* Fiber.interrupt(fiber)
      }
      yield* Effect.sleep(50)
      yield* expectClosed(receiver)
    })
  )

  liveEffect("aborts the request at the receiver", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject({ mute: true })
      const fiber = yield* Effect.forkChild(send)
      yield* Effect.sleep(50)
      const [took] = yield* Effect.timed(Fiber.interrupt(fiber))
      expect(Duration.toMillis(took)).toBeLessThan(1_000)
      yield* expectClosed(receiver)
      expect(receiver.connections()).toBe(1)
    })
  )
})
