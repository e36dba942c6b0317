// One node at a time: its requests on the wire, and the limits of time and size on its answers.
import { describe, expect } from "bun:test"
import { Effect, Fiber, Redacted, Schema } from "effect"
import { encodeErrorResult, parseAbi } from "viem"
import { defaultRpcLimits, makeRpcNode, type RpcLimits } from "../../../src/chain/RpcPool/RpcNode.ts"
import { RpcPool } from "../../../src/chain/RpcPool.ts"
import { Quantity } from "../../../src/chain/RpcSchemas.ts"
import { row } from "../../support/attackRows.ts"
import { rpcProxy } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"

const limits: RpcLimits = { ...defaultRpcLimits, timeout: 2_000, deadline: 10_000, retries: 2 }

/** A server of raw responses that stores the requests. */
const server = Effect.fnUntraced(function* (answer: (request: Request) => Response | Promise<Response>) {
  const requests: Array<Request> = []
  const running = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        port: 0,
        fetch: (request) => {
          requests.push(request.clone())
          return answer(request)
        }
      })
    ),
    (bun) => Effect.promise(() => bun.stop(true))
  )
  return { url: running.url, requests }
})
const ask = (url: string, changes: Partial<RpcLimits> = {}) =>
  makeRpcNode("test", url, { ...limits, ...changes }).callUnchecked("eth_blockNumber", [], Quantity)
const echo = async (request: Request, result: unknown) => {
  const { id } = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.Int }))(await request.json())
  return Response.json({ jsonrpc: "2.0", id, result })
}

liveEffect(
  "a request is JSON-RPC 2.0; credentials in the URL become a header, and the host names neither",
  () =>
    Effect.gen(function* () {
      const { requests, url } = yield* server((request) => echo(request, "0x10"))
      const node = makeRpcNode("test", Redacted.make(`http://user:p%40ss@${url.host}/v1/secret-key`), limits)
      expect(yield* node.callUnchecked("eth_blockNumber", [], Quantity)).toBe(16n)
      expect(node.host).toBe(url.host)
      const sent = requests[0]
      expect(sent?.headers.get("authorization")).toBe(`Basic ${btoa("user:p@ss")}`)
      expect(new URL(sent?.url ?? "").pathname).toBe("/v1/secret-key")
      expect(yield* Effect.promise(async () => sent?.json())).toEqual({
        jsonrpc: "2.0",
        id: 1,
        method: "eth_blockNumber",
        params: []
      })
    })
)

describe(row.rpcLags, () => {
  liveEffect("every call succeeds on a node that refuses each third request for its rate limit", () =>
    Effect.gen(function* () {
      let calls = 0
      const limited = yield* rpcProxy(undefined, () => {
        calls += 1
        return calls % 3 === 0
          ? { error: { code: -32_007, message: "50/second request limit reached" } }
          : { result: "0x10" }
      })
      for (let time = 0; time < 8; time++) expect(yield* ask(limited.url)).toBe(16n)
    })
  )

  for (const [what, response] of [
    [
      "a code that nobody has heard of",
      () => Response.json({ id: 1, error: { code: -32_099, message: "no" } })
    ],
    ["no id", () => Response.json({ id: null, error: { code: -32_603, message: "Internal error" } })],
    ["a code in quotes", () => Response.json({ error: { code: "-32005", message: "limit exceeded" } })],
    ["a string", () => Response.json({ id: 1, error: "too many connections" })],
    ["an object of its own", () => Response.json({ id: 1, error: { reason: "maintenance" } })],
    ["HTTP 429 and text", () => new Response("slow down", { status: 429 })],
    ["HTTP 403 and a page", () => new Response("<html>", { status: 403 })],
    [
      "HTTP 429 and a JSON-RPC error",
      () => Response.json({ error: { code: 429, message: "no" } }, { status: 429 })
    ],
    [
      "an HTTP 503 that is a JSON-RPC error",
      () => Response.json({ error: { code: -32_000, message: "overloaded" } }, { status: 503 })
    ],
    ["an unknown method", () => Response.json({ id: 1, error: { code: -32_601, message: "no method" } })]
  ] as const)
    liveEffect(`an error with ${what} says nothing about the chain: the call is tried again twice`, () =>
      Effect.gen(function* () {
        const node = yield* server(response)
        expect((yield* Effect.flip(ask(String(node.url)))).kind).toBe("declined")
        expect(node.requests).toHaveLength(3)
      })
    )

  liveEffect("an answer with neither a result nor an error is tried again twice", () =>
    Effect.gen(function* () {
      const node = yield* server(() => Response.json({ jsonrpc: "2.0", id: 1 }))
      expect((yield* Effect.flip(ask(String(node.url)))).kind).toBe("malformed")
      expect(node.requests).toHaveLength(3)
    })
  )

  liveEffect("a refusal without the frame of JSON-RPC is one in the provider's words", () =>
    Effect.gen(function* () {
      const node = yield* server(() => Response.json({ code: -32_097, message: "Limit exceeded" }))
      const failed = yield* Effect.flip(ask(String(node.url)))
      expect([failed.kind, failed.nodeMessage]).toEqual(["declined", "Limit exceeded (-32097)"])
    })
  )

  liveEffect("HTTP 502 from a gateway counts as silence, and is tried again twice", () =>
    Effect.gen(function* () {
      const broken = yield* server(() => new Response("", { status: 502 }))
      const { kind, message } = yield* Effect.flip(ask(String(broken.url)))
      expect([kind, message]).toEqual(["transport", "eth_blockNumber: HTTP 502"])
      expect(broken.requests).toHaveLength(3)
    })
  )

  liveEffect(
    "a transaction is broadcast once for each call: the caller decides whether to send it again",
    () =>
      Effect.gen(function* () {
        const broken = yield* server(() => new Response("", { status: 503 }))
        const send = makeRpcNode("test", String(broken.url), limits).callUnchecked(
          "eth_sendRawTransaction",
          ["0x02"],
          Schema.String
        )
        expect((yield* Effect.flip(send)).kind).toBe("transport")
        expect(broken.requests).toHaveLength(1)
      })
  )

  for (const [kind, method, error] of [
    ["reverted", "eth_call", { code: 3, message: "execution reverted" }],
    ["declined", "eth_blockNumber", { code: 3, message: "execution reverted" }],
    ["declined", "eth_getLogs", { code: -32_000, message: "nonce too low" }],
    ["too_wide", "eth_getLogs", { code: -32_614, message: "eth_getLogs is limited to a 10,000 range" }]
  ] as const)
    liveEffect(`${error.message}, of ${method}: ${kind}; a verdict is final, also with HTTP 400`, () =>
      Effect.gen(function* () {
        const node = yield* server(() => Response.json({ jsonrpc: "2.0", id: 1, error }, { status: 400 }))
        const call = makeRpcNode("test", String(node.url), limits).callUnchecked(method, [], Quantity)
        expect((yield* Effect.flip(call)).kind).toBe(kind)
        expect(node.requests).toHaveLength(kind === "declined" ? 3 : 1)
      })
    )

  liveEffect("a result with an empty error, and an id in quotes, are read", () =>
    Effect.gen(function* () {
      const node = yield* server(async (request) => {
        const { id } = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.Int }))(await request.json())
        return Response.json({ jsonrpc: "2.0", id: String(id), result: "0x10", error: null })
      })
      expect(yield* ask(String(node.url))).toBe(16n)
    })
  )

  liveEffect("a revert carries the contract's own text, which no row of the table interprets", () =>
    Effect.gen(function* () {
      const data = encodeErrorResult({
        abi: parseAbi(["error Error(string)"]),
        errorName: "Error",
        args: ["Blacklistable: rate limit"]
      })
      const node = yield* rpcProxy(undefined, () => ({
        error: { code: 3, message: "execution reverted", data }
      }))
      const call = makeRpcNode("test", node.url, limits).callUnchecked("eth_call", [], Quantity)
      const failed = yield* Effect.flip(call)
      expect([failed.kind, failed.nodeMessage]).toEqual([
        "reverted",
        "execution reverted: Blacklistable: rate limit (3)"
      ])
    })
  )

  liveEffect("a node's error becomes one short line without the key in its URL", () =>
    Effect.gen(function* () {
      const node = yield* server(() =>
        Response.json({
          error: { code: -32_000, message: `key sk-1234567890\u0000\nis over ${"x".repeat(999)}` }
        })
      )
      const { nodeMessage = "" } = yield* Effect.flip(ask(`${String(node.url)}v2/sk-1234567890`))
      expect(nodeMessage).toMatch(/^key … is over x+ \(-32000\)$/)
      expect(nodeMessage.length).toBeLessThan(220)
    })
  )

  liveEffect("a node that repeats its credentials is quoted without them", () =>
    Effect.gen(function* () {
      const told = `no p@ss, p%40ss or Basic ${btoa("user:p@ss")}`
      const node = yield* server(() => Response.json({ error: { code: -32_000, message: told } }))
      const { nodeMessage } = yield* Effect.flip(ask(`http://user:p%40ss@${node.url.host}`))
      expect(nodeMessage).toBe("no …, … or Basic … (-32000)")
    })
  )

  liveEffect(
    "a node counts as refusing after three refused calls of a method, until it answers that method, or is not called with it for ten minutes",
    () =>
      Effect.gen(function* () {
        let refuses = true
        const proxy = yield* rpcProxy(undefined, (method) =>
          refuses && method === "eth_call"
            ? { error: { code: -32_007, message: "request limit reached" } }
            : { result: "0x10" }
        )
        const node = makeRpcNode("test", proxy.url, limits)
        const call = node.callUnchecked("eth_call", [], Quantity)
        for (const times of [1, 2, 3]) {
          expect(node.isRefusing(Date.now())).toBe(false)
          expect((yield* Effect.flip(call)).consecutiveDeclines).toBe(times)
          expect(yield* node.callUnchecked("eth_blockNumber", [], Quantity)).toBe(16n)
        }
        expect(node.isRefusing(Date.now())).toBe(true)
        expect(node.isRefusing(Date.now() + 600_000)).toBe(false)
        refuses = false
        yield* call
        expect(node.isRefusing(Date.now())).toBe(false)
      })
  )

  liveEffect("an answer to another request, or from a redirect, is not believed", () =>
    Effect.gen(function* () {
      const confused = yield* server(() => Response.json({ jsonrpc: "2.0", id: 7, result: "0x1" }))
      expect((yield* Effect.flip(ask(String(confused.url)))).kind).toBe("malformed")
      const elsewhere = yield* server((request) => echo(request, "0x1"))
      const redirecting = yield* server(() => Response.redirect(String(elsewhere.url), 307))
      const redirected = yield* Effect.flip(ask(String(redirecting.url)))
      expect([redirected.kind, redirected.message]).toEqual([
        "transport",
        `eth_blockNumber: HTTP 307 to ${elsewhere.url.origin}`
      ])
      expect(elsewhere.requests).toHaveLength(0)
    })
  )
  for (const [what, body, kind, nodeMessage] of [
    [
      "a gateway's words",
      "error: too many requests, slow down",
      "declined",
      "error: too many requests, slow down"
    ],
    ["a gateway's page", "<!doctype html><title>Just a moment</title>", "declined", "an HTML page"],
    ["half an answer", '{"jsonrpc":"2.0","id":1,"resu', "malformed", undefined],
    ["nothing", "", "malformed", undefined]
  ] as const)
    liveEffect(`200 with ${what} is ${kind}`, () =>
      Effect.gen(function* () {
        const gateway = yield* server(() => new Response(body))
        const refused = yield* Effect.flip(ask(String(gateway.url)))
        expect([refused.kind, refused.nodeMessage]).toEqual([kind, nodeMessage])
      })
    )
  liveEffect("a slow, dripping answer is aborted in time", () =>
    Effect.gen(function* () {
      const dripping = yield* server(
        () =>
          new Response(
            new ReadableStream({
              async pull(controller) {
                controller.enqueue(new TextEncoder().encode(" "))
                await Bun.sleep(50)
              }
            })
          )
      )
      const started = performance.now()
      expect((yield* Effect.flip(ask(String(dripping.url), { retries: 0 }))).kind).toBe("transport")
      expect(performance.now() - started).toBeLessThan(15_000)
    })
  )
  liveEffect("an answer one byte above the limit is not read", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1" })
      const node = yield* server(() => new Response(body))
      expect(yield* ask(String(node.url), { maxResponseBytes: body.length })).toBe(1n)
      const short = yield* Effect.flip(ask(String(node.url), { maxResponseBytes: body.length - 1 }))
      expect(short.kind).toBe("malformed")
    })
  )
  liveEffect("silence ends at the deadline, retries included", () =>
    Effect.gen(function* () {
      const silent = yield* server(() => new Promise(() => undefined))
      const started = performance.now()
      yield* Effect.flip(ask(String(silent.url), { retries: 50, timeout: 300, deadline: 700 }))
      expect(performance.now() - started).toBeLessThan(15_000)
    })
  )
  liveEffect("a node has a bounded number of requests at a time", () =>
    Effect.gen(function* () {
      let open = 0
      let most = 0
      const busy = yield* server(async (request) => {
        open += 1
        most = Math.max(most, open)
        await Bun.sleep(20)
        open -= 1
        return echo(request, "0x1")
      })
      const node = makeRpcNode("test", String(busy.url), { ...limits, concurrency: 4, deadline: 5000 })
      const calls = Array.from({ length: 40 }, () => node.callUnchecked("eth_blockNumber", [], Quantity))
      yield* Effect.all(calls, { concurrency: "unbounded" })
      expect(most).toBe(4)
    })
  )
  liveEffect("a caller that waits for nodes is released when the pool closes", () =>
    Effect.gen(function* () {
      const silent = yield* server(() => new Promise(() => undefined))
      const waiting = yield* Effect.gen(function* () {
        const pool = yield* RpcPool
        const fiber = yield* Effect.forkDetach(Effect.flip(pool.agreedCall("test", { data: "0x" })))
        yield* Effect.sleep("50 millis")
        return fiber
      }).pipe(Effect.provide(RpcPool.layer({ urls: { test: [String(silent.url)] } })))
      const error = yield* Effect.timeout(Fiber.join(waiting), "2 seconds")
      expect(error.reason).toBe("rpc_unavailable")
    })
  )
})
