// A command on a machine whose clock is wrong goes by the database's time, as the service does.
import { expect } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnProgram, temporaryDirectory } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

liveEffect(
  "a replay requested on a machine whose clock is ten minutes ahead is due now, not in ten minutes",
  () =>
    Effect.gen(function* () {
      const url = yield* ownDatabase()
      const env = { DATABASE_URL: url, DATA_DIR: yield* temporaryDirectory, AHEAD_SECONDS: "600" }
      const cli = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const child = yield* spawnProgram(
          ["--preload=./test/support/aheadOfTime.ts", "src/app/cli/main.ts", ...args, "--json"],
          env
        )
        yield* child.succeeded
        // The result is the last line; the log comes before it, because this machine lacks the key of the endpoint's
        // secret.
        return JSON.parse(child.stdout().trimEnd().split("\n").at(-1) ?? "")
      })
      const { merchant } = yield* cli("merchant", "create", "--name", "Shop", "--receiver", receiver)
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => new SQL(url, { max: 1 })),
        (open) => Effect.promise(() => open.close())
      )
      yield* Effect.promise(
        () => sql`
        WITH endpoint AS (
          INSERT INTO webhook_endpoints (id, merchant_id, env, url, secret_kid, secret_ciphertext, secret_last_four,
            created_at, updated_at)
          VALUES (gen_random_uuid(), ${merchant.id}, 'test', 'https://shop.example.com/', 'x', '', 'xxxx', now(), now())
          RETURNING id
        )
        INSERT INTO webhook_deliveries (id, merchant_id, env, endpoint_id, type, body, status, attempts, created_at)
        SELECT gen_random_uuid(), ${merchant.id}, 'test', id, 'test', '', 'failed', 3, now() - interval '55 minutes'
        FROM endpoint`
      )
      expect(
        yield* cli("webhook", "replay", "--merchant", merchant.id, "--env", "test", "--hours", "1")
      ).toMatchObject({
        count: 1
      })
      const [delivery] = yield* Effect.promise(
        () => sql`SELECT due_at <= clock_timestamp() AS due FROM webhook_deliveries`
      )
      expect(delivery).toEqual({ due: true })

      yield* cli("key", "create", "--merchant", merchant.id, "--env", "test")
      const { entries } = yield* cli("audit", "list")
      expect(Math.abs(Date.parse(entries[0].at) - Date.now())).toBeLessThan(60_000)
    })
)
