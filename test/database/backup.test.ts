// Backup, restore and move, while a service writes.
import { describe, expect } from "bun:test"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { SQL } from "bun"
import { Effect } from "effect"
import { send } from "../support/contractCheck.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"

const noChain = { BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9", ARBITRUM_RPC_URLS: "http://127.0.0.1:9" }
const secrets = {
  INTENT_TOKEN_SECRETS: `own:${"s".repeat(40)}`,
  ENCRYPTION_KEYS: `own:${Buffer.alloc(32, 7).toString("base64")}`
}
type Environment = Readonly<Record<string, string>>

const cli = (env: Environment, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const program = yield* spawnProgram(["src/cli/main.ts", ...args], { ...secrets, ...env })
    const code = yield* program.exited
    return { code, output: program.output() }
  })

interface Keys {
  readonly secret: string
  readonly publishable: string
}
interface Write {
  readonly id: string
  /** When the answer came. */
  readonly at: number
}

/** A service with a merchant, and payments that are opened all the time. */
const writing = (env: Environment) =>
  Effect.gen(function* () {
    const service = yield* spawnService({
      RATE_LIMIT_PER_KEY: "100000",
      ...noChain,
      ...secrets,
      ...env
    })
    yield* untilReady(service)
    const made = yield* cli(
      env,
      ...["merchant", "create", "--name", 'Ünïcode \\ "Shop"', "--json"],
      ...["--receiver", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
    )
    const keys: Keys = JSON.parse(made.output).keys.test
    const acknowledged: Array<Write> = []
    const refused: Array<number> = []
    let goes = true
    const writers = Array.from({ length: 4 }, async () => {
      while (goes) {
        const intent = await send(service.baseUrl, {
          method: "POST",
          path: "/api/v1/payment-intents",
          key: keys.secret,
          body: { amount: "12345678901234.567891", intentUrl: "https://shop.example.com/%C3%BC?q=%22" }
        }).catch(() => undefined)
        const opened =
          intent?.status === 201
            ? await send(service.baseUrl, {
                method: "POST",
                path: "/api/v1/payments",
                key: keys.publishable,
                body: { intentToken: intent.body.intentToken }
              }).catch(() => undefined)
            : intent
        if (opened?.status === 201) acknowledged.push({ id: opened.body.payment.id, at: Date.now() })
        else {
          refused.push(opened?.status ?? 0)
          await Bun.sleep(50)
        }
      }
    })
    const stop = Effect.promise(async () => {
      goes = false
      await Promise.all(writers)
    })
    yield* Effect.addFinalizer(() => stop)
    yield* Effect.sleep("700 millis")
    return { service, keys, acknowledged, refused, stop }
  })

const idsIn = (url: string) =>
  Effect.promise(async () => {
    const sql = new SQL(url, { max: 1 })
    const rows = await sql`SELECT id FROM payments`
    await sql.close()
    return new Set(rows.map((row: { readonly id: string }) => row.id))
  })

describe("the database as a file", () => {
  liveEffect(
    "a backup beside a service that writes restores to all that was acknowledged before it began",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        const { acknowledged, keys, refused, stop } = yield* writing({ DATA_DIR: dataDir })
        const file = join(dataDir, "shop.backup.gz")
        const began = Date.now()
        const written = yield* cli({ DATA_DIR: dataDir }, "backup", "--to", file)
        expect([written.code, written.output]).toEqual([
          0,
          expect.stringContaining("bun run cli restore --from")
        ])
        const before = acknowledged.filter(({ at }) => at < began)
        expect(before.length).toBeGreaterThan(20)
        expect(acknowledged.length).toBeGreaterThan(before.length)
        expect(refused).toEqual([])
        expect(statSync(file).mode & 0o777).toBe(0o600)
        expect(existsSync(`${file}.partial`)).toBeFalse()

        const url = yield* ownDatabase()
        const restored = yield* cli({ DATABASE_URL: url, DATA_DIR: dataDir }, "restore", "--from", file)
        expect([restored.code, restored.output]).toEqual([0, expect.stringContaining("bun run start")])
        yield* stop
        const ids = yield* idsIn(url)
        expect(before.filter(({ id }) => !ids.has(id))).toEqual([])

        // The same shop, with the same keys, goes on.
        const copy = yield* spawnService({ DATABASE_URL: url, DATA_DIR: dataDir, ...noChain, ...secrets })
        yield* untilReady(copy)
        const found = yield* Effect.promise(() =>
          send(copy.baseUrl, { method: "GET", path: `/api/v1/payments/${before[0]?.id}`, key: keys.secret })
        )
        expect(found.body.payment).toMatchObject({
          amount: "12345678901234.567891",
          intentUrl: "https://shop.example.com/%C3%BC?q=%22"
        })

        const again = yield* cli({ DATABASE_URL: url, DATA_DIR: dataDir }, "restore", "--from", file)
        expect([again.code, again.output]).toEqual([1, expect.stringContaining("not empty")])
      }),
    90_000
  )

  liveEffect(
    "a file that is damaged, cut or none leaves the database empty",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        const own = yield* ownDatabase()
        const made = yield* cli(
          { DATABASE_URL: own, DATA_DIR: dataDir },
          ...["merchant", "create", "--name", "Shop", "--json"],
          ...["--receiver", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
        )
        expect(made.code).toBe(0)
        const file = join(dataDir, "shop.backup.gz")
        yield* cli({ DATABASE_URL: own, DATA_DIR: dataDir }, "backup", "--to", file)
        const text = gunzipSync(readFileSync(file)).toString()
        const cases: ReadonlyArray<readonly [string, Uint8Array | string, string]> = [
          ["cut", readFileSync(file).subarray(0, -40), "cannot be read"],
          ["without its end", gzipSync(text.replace(/#end .*\n/, "")), "not whole"],
          ["changed", gzipSync(text.replace('"Shop"', '"Sh0p"')), "Nothing is kept"],
          ["of a later release", gzipSync(text.replace("0001_initial", "9999_later")), "later release"],
          ["something else", "hello", "cannot be read"],
          ["another gzip", gzipSync("hello\n"), "is no backup"]
        ]
        for (const [name, bytes, words] of cases) {
          const broken = join(dataDir, "broken.gz")
          writeFileSync(broken, bytes)
          const url = yield* ownDatabase()
          const { code, output } = yield* cli(
            { DATABASE_URL: url, DATA_DIR: dataDir },
            ...["restore", "--from", broken]
          )
          expect([name, code, output]).toEqual([name, 1, expect.stringContaining(words)])
          const sql = new SQL(url, { max: 1 })
          const tables = yield* Effect.promise(
            () => sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
          )
          yield* Effect.promise(() => sql.close())
          expect([name, tables.length]).toEqual([name, 0])
        }
        const none = yield* cli({ DATABASE_URL: own, DATA_DIR: dataDir }, "restore", "--from", "/absent.gz")
        expect(none.code).toBe(1)
      }),
    60_000
  )
})

describe("database move", () => {
  liveEffect(
    "from the embedded database to a server under writes: everything acknowledged is there, and nothing is acknowledged here afterwards",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        const { acknowledged, keys, refused, service, stop } = yield* writing({ DATA_DIR: dataDir })
        const url = yield* ownDatabase()
        const moved = yield* cli({ DATA_DIR: dataDir }, "database", "move", "--to", url, "--json")
        expect([moved.code, moved.output]).toEqual([0, expect.stringContaining('"checksum"')])
        yield* Effect.sleep("2 seconds")
        const readyz = yield* Effect.promise(() => fetch(`${service.baseUrl}/readyz`))
        expect(readyz.status).toBe(503)
        yield* stop
        const ids = yield* idsIn(url)
        expect(acknowledged.length).toBeGreaterThan(20)
        expect(acknowledged.filter(({ id }) => !ids.has(id))).toEqual([])
        expect(new Set(refused)).toEqual(new Set([503]))
        yield* service.kill("SIGTERM")
        expect(yield* service.exited).toBe(0)

        const there = yield* spawnService({ DATABASE_URL: url, DATA_DIR: dataDir, ...noChain, ...secrets })
        yield* untilReady(there)
        const found = yield* Effect.promise(() =>
          send(there.baseUrl, {
            method: "GET",
            path: `/api/v1/payments/${acknowledged.at(-1)?.id}`,
            key: keys.secret
          })
        )
        expect(found.status).toBe(200)
      }),
    90_000
  )

  liveEffect(
    "a transaction that holds one table and wants another is let through, and the move goes on",
    () =>
      Effect.gen(function* () {
        const [from, to] = [yield* ownDatabase(), yield* ownDatabase()]
        const dataDir = yield* temporaryDirectory
        const made = yield* cli(
          { DATABASE_URL: from, DATA_DIR: dataDir },
          ...["merchant", "create", "--name", "Shop", "--json"],
          ...["--receiver", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
        )
        expect(made.code).toBe(0)
        const writer = new SQL(from, { max: 1 })
        const held = Promise.withResolvers<void>()
        const wrote = writer.begin(async (sql) => {
          await sql`UPDATE webhook_deliveries SET due_at = due_at WHERE false`
          held.resolve()
          const waiting = () => sql`
            SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'webhook_deliveries'::regclass`
          while ((await waiting()).length === 0) await Bun.sleep(20)
          // The move holds this table by now, and waits for the other.
          await sql`UPDATE merchants SET name = 'Written before the move'`
        })
        yield* Effect.promise(() => held.promise)
        const moved = yield* cli(
          { DATABASE_URL: from, DATA_DIR: dataDir },
          ...["database", "move", "--to", to, "--json"]
        )
        yield* Effect.promise(() => wrote)
        yield* Effect.promise(() => writer.close())
        expect([moved.code, moved.output]).toEqual([0, expect.stringContaining('"checksum"')])
        const there = new SQL(to, { max: 1 })
        const names = yield* Effect.promise(() => there`SELECT name FROM merchants`)
        yield* Effect.promise(() => there.close())
        expect([...names]).toEqual([{ name: "Written before the move" }])
      }),
    60_000
  )
})
