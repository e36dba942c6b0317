// A merchant hears that its address is blacklisted before a buyer does.
import { expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import * as ReceiverStanding from "../../src/merchants/ReceiverStanding.ts"
import type { Alert } from "../../src/platform/alerts/Alert.ts"
import { Alerts } from "../../src/platform/alerts/Alerts.ts"
import { testDatabase } from "../support/database.ts"
import { type Reply, rpcProxy } from "../support/rpcProxy.ts"
import { liveEffect } from "../support/run.ts"

const id = "00000000-0000-7000-8000-000000000001"
const word = (value: number): Reply => ({ result: `0x${String(value).padStart(64, "0")}` })

for (const [what, answer, told] of [
  ["blacklisted", word(1), "raised"],
  ["not blacklisted", word(0), "resolved"],
  ["unknown to the nodes", { error: { code: -32_000, message: "away" } }, "nothing"],
  ["of a token without a blacklist", { error: { code: 3, message: "execution reverted" } }, "nothing"]
] as const satisfies ReadonlyArray<readonly [string, Reply, string]>)
  liveEffect(`a receiver that is ${what}: ${told}`, () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(testDatabase.layer)
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
        VALUES (${id}, 'Shop', decode(repeat('ab', 20), 'hex'), decode(repeat('ab', 20), 'hex'), now())`
      yield* sql`INSERT INTO merchant_receivers (env, address, merchant_id, since)
        SELECT env, decode(repeat('ab', 20), 'hex'), ${id}, now() FROM unnest(ARRAY['test', 'live']) env`
      const node = yield* rpcProxy(undefined, (method) =>
        method === "eth_chainId" ? { result: "0x14a34" } : answer
      )
      const raised: Array<Alert> = []
      const resolved: Array<string> = []
      yield* Layer.build(
        ReceiverStanding.layer.pipe(
          Layer.provide(
            Layer.succeed(Alerts, {
              raise: (alert) => Effect.sync(() => void raised.push(alert)),
              resolve: (_, subject) => Effect.sync(() => void resolved.push(subject))
            })
          ),
          Layer.provide(RpcPool.layer({ urls: { test: [node.url] }, retries: 0 })),
          Layer.provide(Layer.succeedContext(context))
        )
      )
      const isAsked = () => node.calls.includes("eth_call")
      const isTold = () => (told === "nothing" ? isAsked() : raised.length + resolved.length > 0)
      while (!isTold()) yield* Effect.sleep("20 millis")
      if (told === "nothing") yield* Effect.sleep("500 millis")
      expect(raised.map(({ kind, tenant }) => [kind, JSON.stringify(tenant)])).toEqual(
        told === "raised"
          ? [["receiver_blacklisted", expect.stringContaining(`"merchantId":"${id}","env":"test"`)]]
          : []
      )
      expect(resolved).toHaveLength(told === "resolved" ? 1 : 0)
      expect(node.calls.filter((method) => method === "eth_call").length).toBeLessThanOrEqual(1)
    })
  )
