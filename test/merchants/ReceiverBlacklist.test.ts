// A merchant is notified that its address is blacklisted before a buyer notices.
import { expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import * as ReceiverBlacklist from "../../src/merchants/ReceiverBlacklist.ts"
import { ReceiverBlacklistRepo } from "../../src/merchants/ReceiverBlacklistRepo.ts"
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
        ReceiverBlacklist.layer.pipe(
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

liveEffect("between the daily checks, only new receivers and those of pending payments are checked", () =>
  Effect.gen(function* () {
    const context = yield* Layer.build(
      ReceiverBlacklistRepo.layer.pipe(Layer.provideMerge(testDatabase.layer))
    )
    const sql = Context.get(context, SqlClient.SqlClient)
    const { awaited } = Context.get(context, ReceiverBlacklistRepo)
    const merchants = [1, 2, 3].map((index) => `00000000-0000-7000-8000-0000000001${index}0`)
    for (const [index, merchant] of merchants.entries()) {
      const address = Buffer.alloc(20, index + 1)
      yield* sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
        VALUES (${merchant}, 'Shop', ${address}, ${address}, now())`
      yield* sql`INSERT INTO merchant_receivers (env, address, merchant_id, since)
        VALUES ('test', ${address}, ${merchant}, now() - ${index === 0 ? "1 minute" : "1 day"}::interval)`
    }
    const [isNew, isIdle = "", isPaid = ""] = merchants
    yield* sql`
      INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
      VALUES (gen_random_uuid(), ${isPaid}, 'test', 'pending', 1, 'PAY-0000000A', 'u', ${Buffer.alloc(20, 3)}, 'human', now())`
    const found = yield* awaited(["test"], new Date(Date.now() - 600_000))
    const asked = found.map(({ merchant_id }): string => merchant_id)
    expect(asked.filter((one) => merchants.includes(one)).toSorted()).toEqual([isNew, isPaid].map(String))
    expect(asked).not.toContain(isIdle)
  })
)
