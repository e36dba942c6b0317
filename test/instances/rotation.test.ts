// Intent secrets and encryption keys are rotated while two instances serve: each step replaces one instance at a time,
// and both understand each other at all times.

import { describe, expect } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { verifyWebhook } from "../../src/packages/client/verifyWebhook.ts"
import { send } from "../support/contractCheck.ts"
import { listening } from "../support/listening.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { until } from "./cluster.ts"

const receiver = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"

const intentSecret = { old: `old:${"o".repeat(40)}`, next: `next:${"n".repeat(40)}` }
const encryptionKey = {
  old: `old:${Buffer.alloc(32, 1).toString("base64")}`,
  next: `next:${Buffer.alloc(32, 2).toString("base64")}`
}
type Kid = keyof typeof intentSecret
const keysOf = (...kids: ReadonlyArray<Kid>) => ({
  INTENT_TOKEN_SECRETS: kids.map((kid) => intentSecret[kid]).join(","),
  ENCRYPTION_KEYS: kids.map((kid) => encryptionKey[kid]).join(",")
})

describe(`Rotation of secrets`, () => {
  liveEffect("intent secrets and encryption keys rotate without downtime", () =>
    Effect.gen(function* () {
      const databaseUrl = yield* ownDatabase()
      const dataDir = yield* temporaryDirectory
      const bodies: Array<{ readonly body: ArrayBuffer; readonly headers: Headers }> = []
      const hook = yield* listening(async (request) => {
        bodies.push({ body: await request.arrayBuffer(), headers: request.headers })
        return new Response("noted")
      })
      const env = {
        DATABASE_URL: databaseUrl,
        DATA_DIR: dataDir,
        BASE_URL: "http://localhost:8787",
        BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hook.port}`
      }
      const start = (...kids: ReadonlyArray<Kid>) =>
        Effect.gen(function* () {
          const service = yield* spawnService({ ...env, ...keysOf(...kids) })
          yield* untilReady(service)
          return service
        })
      const cli = (kids: ReadonlyArray<Kid>, ...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const child = yield* spawnProgram(["src/app/cli/main.ts", ...args], { ...env, ...keysOf(...kids) })
          return { code: yield* child.exited, output: child.output(), stdout: child.stdout() }
        })
      type Service = Effect.Success<ReturnType<typeof start>>
      const call = (service: Service, method: string, path: string, key: string, body?: unknown) =>
        Effect.promise(() => send(service.baseUrl, { method, path, key, body }))

      let first = yield* start("old")
      let second = yield* start("old")
      const created = yield* cli(
        ["old"],
        "merchant",
        "create",
        "--name",
        "S",
        "--receiver",
        receiver,
        "--json"
      )
      const { keys } = JSON.parse(created.stdout)
      const endpoint = yield* call(first, "POST", "/api/v1/webhook-endpoint", keys.test.secret, {
        url: `http://127.0.0.1:${hook.port}/hooks`
      })
      const signingSecret: string = endpoint.body.secret

      /** Each opens the other's tokens, and both sign webhooks with the merchant's one secret. */
      const understandEachOther = Effect.gen(function* () {
        for (const [one, other] of [
          [first, second],
          [second, first]
        ] as const) {
          const intent = yield* call(one, "POST", "/api/v1/payment-intents", keys.test.secret, {
            amount: "1.00",
            intentUrl: "https://shop.example.com/orders/1"
          })
          const opened = yield* call(other, "POST", "/api/v1/payments", keys.test.publishable, {
            intentToken: intent.body.intentToken
          })
          expect(opened.status).toBe(201)
          const tested = yield* call(one, "POST", "/api/v1/webhook-endpoint/test", keys.test.secret)
          expect(tested.body.delivery.status).toBe("delivered")
          const last = bodies.at(-1)
          if (last === undefined) throw new Error("no webhook came")
          yield* Effect.promise(() => verifyWebhook(last.body, last.headers, signingSecret))
        }
      })
      const replace = (service: Service, ...kids: ReadonlyArray<Kid>) =>
        Effect.gen(function* () {
          const next = yield* start(...kids)
          yield* service.kill("SIGTERM")
          yield* service.succeeded
          return next
        })

      // First every instance learns the new keys, at the end of the list; then they come first.
      first = yield* replace(first, "old", "next")
      yield* understandEachOther
      second = yield* replace(second, "old", "next")
      first = yield* replace(first, "next", "old")
      yield* understandEachOther

      // A new key is not enough while some secrets are under the old one, and the command says so.
      const early = yield* cli(["next"], "webhook", "reencrypt")
      expect(early.code).toBe(1)
      expect(early.output).toContain("ENCRYPTION_KEYS lacks the key `old`")

      second = yield* replace(second, "next", "old")
      const sealed = yield* cli(["next", "old"], "webhook", "reencrypt", "--json")
      expect(JSON.parse(sealed.stdout)).toEqual({ count: 1, kid: "next", retiredReceiptKeys: 0 })
      const again = yield* cli(["next", "old"], "webhook", "reencrypt", "--json")
      expect(JSON.parse(again.stdout)).toEqual({ count: 0, kid: "next", retiredReceiptKeys: 0 })

      first = yield* replace(first, "next")
      second = yield* replace(second, "next")
      yield* understandEachOther

      // A permanently failed delivery is sent again on demand, with its id, once.
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => new SQL(databaseUrl, { max: 1 })),
        (open) => Effect.promise(() => open.close())
      )
      const failed: ReadonlyArray<{ id: string }> = yield* Effect.promise(
        () => sql`UPDATE webhook_deliveries SET status = 'failed', due_at = NULL RETURNING id`
      )
      const before = bodies.length
      const merchant = JSON.parse(created.stdout).merchant.id
      const replayed = yield* cli(
        ["next"],
        "webhook",
        "replay",
        "--merchant",
        merchant,
        "--env",
        "test",
        "--json"
      )
      expect(JSON.parse(replayed.stdout)).toEqual({
        count: failed.length,
        failed: failed.length,
        unsent: 0
      })
      expect(replayed.output).toContain("INTENT_TOKEN_SECRETS lacks `old`")
      yield* until("the replayed have come", () => bodies.length >= before + failed.length)
      const ids = bodies.slice(before).map(({ headers }) => headers.get("webhook-id"))
      expect(ids.sort()).toEqual(failed.map(({ id }) => id).sort())
    })
  )
})
