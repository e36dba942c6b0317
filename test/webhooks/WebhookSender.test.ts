// The contract for both layers, and the specifics of the one in memory.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { answered, failed } from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import { WebhookSender, WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { gist, makeSender, requestTo } from "../platform/egress/egress.ts"
import { rawReceiver } from "../support/rawReceiver.ts"
import { testEffect } from "../support/run.ts"
import { webhookSenderContract } from "./WebhookSender.contract.ts"

const parseRequest = (request: string) => {
  const [head = "", body = ""] = request.split("\r\n\r\n")
  const headers = Object.fromEntries(
    head
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(/: (.*)/s).slice(0, 2))
  )
  return { headers, body: Buffer.from(body, "latin1") }
}

webhookSenderContract(
  "over the network",
  Effect.gen(function* () {
    let answer: number | "never" = 200
    const receiver = yield* rawReceiver({
      answer: (socket) => {
        if (answer !== "never") socket.write(`HTTP/1.1 ${answer} X\r\ncontent-length: 0\r\n\r\n`)
      }
    })
    const gone = yield* Effect.scoped(rawReceiver())
    const sender = yield* makeSender({
      allowedHosts: [`127.0.0.1:${receiver.port}`, `127.0.0.1:${gone.port}`]
    })
    return {
      sender,
      url: `http://127.0.0.1:${receiver.port}/hook`,
      deadUrl: `http://127.0.0.1:${gone.port}/hook`,
      answerWith: (next) =>
        Effect.sync(() => {
          answer = next
        }),
      received: Effect.sync(() => receiver.requests.map(parseRequest))
    }
  })
)

const makeMemory = Effect.map(Layer.build(WebhookSender.layerMemory), (context) => ({
  sender: Context.get(context, WebhookSender),
  memory: Context.get(context, WebhookSenderMemory)
}))

webhookSenderContract(
  "in memory",
  Effect.gen(function* () {
    const { sender, memory } = yield* makeMemory
    const url = "https://shop.example.com/hook"
    const deadUrl = "https://gone.example.com/hook"
    yield* memory.script(deadUrl, [failed("connect")])
    return {
      sender,
      url,
      deadUrl,
      answerWith: (next) => memory.script(url, [next === "never" ? Effect.never : answered(next)]),
      received: Effect.map(memory.sent, (sent) =>
        sent.map(({ headers, body }) => ({ headers: { ...headers }, body }))
      )
    }
  })
)

describe("WebhookSender.layerMemory", () => {
  testEffect("plays its script to the end, then repeats the last outcome", () =>
    Effect.gen(function* () {
      const { sender, memory } = yield* makeMemory
      const url = "https://shop.example.com/hook"
      yield* memory.script(url, [failed("timeout"), answered(500), answered(200, 12)])
      const outcomes = yield* Effect.replicateEffect(sender.send(requestTo(url)), 4)
      expect(outcomes.map(gist)).toEqual(["timeout", 500, 200, 200])
      expect(gist(yield* sender.send(requestTo("https://other.example.com/")))).toBe(200)
      expect((yield* memory.sent).map((request) => request.url)).toEqual([
        ...Array.from({ length: 4 }, () => url),
        "https://other.example.com/"
      ])
    })
  )
})
