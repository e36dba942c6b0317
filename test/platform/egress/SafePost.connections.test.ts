// Connections that are kept for the next delivery, and none that outlives its reason.
import { describe, expect } from "bun:test"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { SendOutcome } from "../../../src/webhooks/WebhookSender/SendOutcome.ts"
import { scriptedDns } from "../../support/dnsServer.ts"
import { ok200, rawReceiver } from "../../support/rawReceiver.ts"
import { liveEffect, testEffect } from "../../support/run.ts"
import { answering, expectClosed, gist, makeSender, requestTo, subject } from "./egress.ts"

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
    liveEffect(`no connection is kept when ${name}`, () =>
      Effect.gen(function* () {
        const { receiver, send } = yield* subject(answering(answer))
        expect(yield* times(3, send)).toEqual([200, 200, 200])
        expect(receiver.connections()).toBe(3)
        yield* expectClosed(receiver)
      })
    )
  }

  liveEffect("an answer without a request is not used for the next request", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject({
        answer: (socket, _request, index) => {
          socket.write(ok200)
          if (index === 0)
            setTimeout(() => socket.write("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"), 20)
        }
      })
      expect(gist(yield* send)).toBe(200)
      yield* expectClosed(receiver)
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
      yield* expectClosed(receiver)
      expect(gist(yield* send)).toBe(200)
      expect(receiver.connections()).toBe(2)
    })
  )

  liveEffect("an idle connection is closed after its time, whether the sender is used or not", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject()
      yield* send
      expect(receiver.closed()).toBe(0)
      yield* Effect.sleep(2_000)
      yield* expectClosed(receiver)
    })
  )

  testEffect("a connection's age is measured by the clock", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject()
      yield* send
      yield* TestClock.adjust("999 millis")
      yield* send
      expect(receiver.connections()).toBe(1)
      yield* TestClock.adjust("1001 millis")
      yield* send
      expect(receiver.connections()).toBe(2)
      // Too old between two sweeps: used at 500 ms, passed by the sweep at 1000 ms, wanted again at 1600 ms.
      yield* TestClock.adjust("500 millis")
      yield* send
      yield* TestClock.adjust("1100 millis")
      yield* send
      expect(receiver.connections()).toBe(3)
    })
  )

  liveEffect("a name whose address changed gets a new connection, and the kept one is dropped", () =>
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

  liveEffect("after a burst no more connections than the window are kept to one server", () =>
    Effect.gen(function* () {
      const { receiver, send } = yield* subject({
        answer: (socket) => void setTimeout(() => socket.write(ok200), 50)
      })
      yield* Effect.replicateEffect(send, 144, { concurrency: "unbounded" })
      for (let tries = 0; tries < 500 && receiver.closed() < 16; tries++) yield* Effect.sleep(10)
      expect([receiver.connections(), receiver.closed()]).toEqual([144, 16])
    })
  )

  liveEffect("stopping the service closes the connections", () =>
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

  liveEffect("aborts the request at the server", () =>
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
