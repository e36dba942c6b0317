// One node at a time: what goes over the wire, and how long and how much is waited for.
import { describe, expect } from "bun:test"
import { Effect, Fiber, Redacted, Schema } from "effect"
import { defaultRpcLimits, makeRpcNode, type RpcLimits } from "../../../src/chain/RpcPool/RpcNode.ts"
import { RpcPool } from "../../../src/chain/RpcPool.ts"
import { Quantity } from "../../../src/chain/RpcSchemas.ts"
import { row } from "../../support/attackRows.ts"
import { rpcProxy } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"

const limits: RpcLimits = { ...defaultRpcLimits, timeout: 300, deadline: 1500, retries: 2 }

/** A server of raw responses that keeps the requests. */
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
  "a request is JSON-RPC 2.0; credentials of the URL become a header, and the host names neither",
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
  for (const [code, message, kind] of [
    [-32_005, "daily request count exceeded, request rate limited", "transport"],
    [-32_000, "too many requests", "transport"],
    [-32_005, "query returned more than 10000 results", "refused"],
    [-32_602, "up to a 10 block range", "refused"],
    [-32_000, "too many blocks", "refused"]
  ] as const)
    liveEffect(`"${message}" counts as ${kind}: only a rate limit is worth another try`, () =>
      Effect.gen(function* () {
        const node = yield* rpcProxy(undefined, () => ({ error: { code, message } }))
        expect((yield* Effect.flip(ask(node.url))).kind).toBe(kind)
        expect(node.calls).toHaveLength(kind === "transport" ? 3 : 1)
      })
    )

  liveEffect("transport failures are tried again twice, refusals never", () =>
    Effect.gen(function* () {
      const broken = yield* server(() => new Response("", { status: 500 }))
      expect((yield* Effect.flip(ask(String(broken.url)))).kind).toBe("transport")
      expect(broken.requests).toHaveLength(3)
      const refusing = yield* rpcProxy(undefined, () => ({ error: { code: -32601, message: "no method" } }))
      expect((yield* Effect.flip(ask(refusing.url))).kind).toBe("refused")
      expect(refusing.calls).toHaveLength(1)
      const reverting = yield* rpcProxy(undefined, () => ({
        error: { code: 3, message: "execution reverted" }
      }))
      expect((yield* Effect.flip(ask(reverting.url))).kind).toBe("reverted")
    })
  )
  liveEffect("the answer to another request, and a node that sends elsewhere, are not believed", () =>
    Effect.gen(function* () {
      const confused = yield* server(() => Response.json({ jsonrpc: "2.0", id: 7, result: "0x1" }))
      expect((yield* Effect.flip(ask(String(confused.url)))).kind).toBe("malformed")
      const elsewhere = yield* server((request) => echo(request, "0x1"))
      const redirecting = yield* server(() => Response.redirect(String(elsewhere.url), 307))
      expect((yield* Effect.flip(ask(String(redirecting.url)))).kind).toBe("transport")
      expect(elsewhere.requests).toHaveLength(0)
    })
  )
  liveEffect("an answer that drips is given up in time", () =>
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
      expect(performance.now() - started).toBeLessThan(3_000)
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
  liveEffect("silence ends with the deadline, retries included", () =>
    Effect.gen(function* () {
      const silent = yield* server(() => new Promise(() => undefined))
      const started = performance.now()
      yield* Effect.flip(ask(String(silent.url), { retries: 50, deadline: 700 }))
      expect(performance.now() - started).toBeLessThan(3_000)
    })
  )
  liveEffect("a node gets a bounded number of requests at a time", () =>
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
  liveEffect("who waits for nodes while the pool closes is released", () =>
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
