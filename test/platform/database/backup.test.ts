// Backup, restore and move, while a service writes.
import { describe, expect } from "bun:test"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { SQL } from "bun"
import { Effect } from "effect"
import { send } from "../../support/contractCheck.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect, longFault } from "../../support/run.ts"
import { tcpProxy } from "../../support/tcpProxy.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

const noChain = { BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9", ARBITRUM_RPC_URLS: "http://127.0.0.1:9" }
const secrets = {
  INTENT_TOKEN_SECRETS: `own:${"s".repeat(40)}`,
  ENCRYPTION_KEYS: `own:${Buffer.alloc(32, 7).toString("base64")}`
}
type Environment = Readonly<Record<string, string>>

const cli = (env: Environment, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const program = yield* spawnProgram(["src/app/cli/main.ts", ...args], { ...secrets, ...env })
    const code = yield* program.exited
    return { code, output: program.output(), stdout: program.stdout() }
  })

interface Keys {
  readonly secret: string
  readonly publishable: string
}
interface Write {
  readonly id: string
  /** The time at which the answer arrived. */
  readonly at: number
}

/** The number of writes before a backup begins. */
const leastWritten = 20

/** A service with a merchant, and payments that are opened continuously. */
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
    const keys: Keys = JSON.parse(made.stdout).keys.test
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
    while (acknowledged.length <= leastWritten) yield* Effect.sleep("50 millis")
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
  liveEffect("a backup during writes restores everything that was acknowledged before it began", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const { acknowledged, keys, refused, stop } = yield* writing({ DATA_DIR: dataDir })
      const file = join(dataDir, "shop.backup.gz")
      const began = Date.now()
      const written = yield* cli({ DATA_DIR: dataDir }, "backup", "--to", file)
      expect([written.code, written.output]).toEqual([
        0,
        expect.stringContaining("bun src/app/cli/main.ts restore --from")
      ])
      // The settings that docs/runbook.md says to keep.
      for (const kept of [
        "ENCRYPTION_KEYS",
        "AGENT_WALLET_MNEMONIC",
        "LIVE_WALLET_MNEMONIC",
        "FAUCET_PRIVATE_KEY"
      ])
        expect(written.output).toContain(kept)
      const before = acknowledged.filter(({ at }) => at < began)
      expect(before.length).toBeGreaterThan(leastWritten)
      expect(acknowledged.length).toBeGreaterThan(before.length)
      // A busy machine may be too slow for some of them.
      expect(refused.filter((status) => status !== 503)).toEqual([])
      expect(refused.length).toBeLessThan(acknowledged.length / 10)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(readdirSync(dirname(file)).filter((name) => name.endsWith(".partial"))).toEqual([])

      const url = yield* ownDatabase()
      const restored = yield* cli({ DATABASE_URL: url, DATA_DIR: dataDir }, "restore", "--from", file)
      expect([restored.code, restored.output]).toEqual([0, expect.stringContaining("bun run start")])
      yield* stop
      const ids = yield* idsIn(url)
      expect(before.filter(({ id }) => !ids.has(id))).toEqual([])

      // The same shop continues, with the same keys.
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
    })
  )

  liveEffect("text with Unicode's line separators is restored unchanged", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const own = yield* ownDatabase()
      const name = "Shop\u2028of \u2029Ada\u0085"
      const made = yield* cli(
        { DATABASE_URL: own, DATA_DIR: dataDir },
        ...["merchant", "create", "--name", name, "--json"],
        ...["--receiver", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
      )
      expect(made.code).toBe(0)
      const file = join(dataDir, "shop.backup.gz")
      yield* cli({ DATABASE_URL: own, DATA_DIR: dataDir }, "backup", "--to", file)
      const url = yield* ownDatabase()
      const restored = yield* cli({ DATABASE_URL: url, DATA_DIR: dataDir }, "restore", "--from", file)
      expect([restored.code, restored.output]).toEqual([0, expect.stringContaining("bun run start")])
      const sql = new SQL(url, { max: 1 })
      const merchants = yield* Effect.promise(() => sql`SELECT name FROM merchants`)
      yield* Effect.promise(() => sql.close())
      expect([...merchants]).toEqual([{ name }])
    })
  )

  liveEffect("a backup that cannot be written says why", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const own = yield* ownDatabase()
      yield* cli({ DATABASE_URL: own, DATA_DIR: dataDir }, "merchant", "list")
      const file = join(dataDir, "unmounted", "shop.backup.gz")
      const { code, output } = yield* cli(
        { DATABASE_URL: own, DATA_DIR: dataDir },
        ...["backup", "--to", file]
      )
      expect([code, output]).toEqual([
        1,
        expect.stringContaining(`${file} cannot be written: ENOENT: no such file or directory`)
      ])
    })
  )

  liveEffect("a damaged, truncated or unrelated file leaves the database empty", () =>
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
        ["without its end", gzipSync(text.replace(/#end .*\n/, "")), "is incomplete"],
        ["changed", gzipSync(text.replace('"Shop"', '"Sh0p"')), "The copy was rolled back"],
        ["of a later release", gzipSync(text.replace("0001_initial", "9999_later")), "later release"],
        ["something else", "hello", "cannot be read"],
        ["another gzip", gzipSync("hello\n"), "is not a backup"]
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
    })
  )
})

describe("database move", () => {
  liveEffect(
    "from the embedded database to a server during writes loses nothing acknowledged, and accepts nothing later",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        const { acknowledged, keys, refused, service, stop } = yield* writing({ DATA_DIR: dataDir })
        const url = yield* ownDatabase()
        const moved = yield* cli({ DATA_DIR: dataDir }, "database", "move", "--to", url, "--json")
        expect([moved.code, moved.output]).toEqual([0, expect.stringContaining('"checksum"')])
        yield* Effect.sleep("2 seconds")
        const readyz = yield* Effect.promise(() => fetch(`${service.baseUrl}/readyz`)).pipe(
          Effect.delay("100 millis"),
          Effect.repeat({ until: ({ status }) => status === 503, times: 300 })
        )
        expect(readyz.status).toBe(503)
        yield* stop
        const ids = yield* idsIn(url)
        expect(acknowledged.length).toBeGreaterThan(20)
        expect(acknowledged.filter(({ id }) => !ids.has(id))).toEqual([])
        expect(new Set(refused)).toEqual(new Set([503]))
        yield* service.kill("SIGTERM")
        yield* service.succeeded

        const stale = yield* spawnService({ DATA_DIR: dataDir, ...noChain, ...secrets })
        expect(yield* stale.exited).toBe(1)
        expect(stale.output()).toContain("closed to writing, as `database move` leaves it")
        expect(
          yield* cli({ DATA_DIR: dataDir }, "database", "move", "--to", yield* ownDatabase())
        ).toMatchObject({
          code: 1,
          output: expect.stringContaining("closed to writing by an earlier move")
        })

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
        for (const said of ["accepts writes again", "Nothing was changed"])
          expect(yield* cli({ DATA_DIR: dataDir }, "database", "reopen")).toMatchObject({
            code: 0,
            output: expect.stringContaining(said)
          })
      })
  )

  liveEffect(
    "a transaction that has locked one table and wants another may finish, and the move continues",
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
          // By now the move has locked this table, and waits for the other.
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
      })
  )

  liveEffect("the move waits for a table that another transaction locks for ten seconds", () =>
    Effect.gen(function* () {
      const [from, to] = [yield* ownDatabase(), yield* ownDatabase()]
      const env = { DATABASE_URL: from, DATA_DIR: yield* temporaryDirectory }
      expect((yield* cli(env, "merchant", "list")).code).toBe(0)
      const writer = new SQL(from, { max: 1 })
      const held = Promise.withResolvers<void>()
      const wrote = writer.begin(async (sql) => {
        await sql`LOCK TABLE merchants`
        held.resolve()
        const waiting = () =>
          sql`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'merchants'::regclass`
        while ((await waiting()).length === 0) await Bun.sleep(20)
        await Bun.sleep(10_500)
      })
      yield* Effect.promise(() => held.promise)
      const moved = yield* cli(env, "database", "move", "--to", to, "--json")
      yield* Effect.promise(() => wrote)
      yield* Effect.promise(() => writer.close())
      expect([moved.code, moved.output]).toEqual([0, expect.stringContaining('"checksum"')])
    })
  )

  const ask = (url: string, text: string) =>
    Effect.promise(async () => {
      const sql = new SQL(url, { max: 1 })
      try {
        return [...(await sql.unsafe(text))]
      } finally {
        await sql.close()
      }
    })
  const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
  /** A shop that takes a second to copy. */
  const shop = Effect.gen(function* () {
    const url = yield* ownDatabase()
    const env = { DATABASE_URL: url, DATA_DIR: yield* temporaryDirectory }
    const { code } = yield* cli(env, "merchant", "list")
    expect(code).toBe(0)
    yield* ask(
      url,
      `INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
      SELECT gen_random_uuid(), repeat('x', 200), decode(lpad(to_hex(n), 40, '0'), 'hex'), decode(lpad(to_hex(n), 40, '0'), 'hex'), now()
      FROM generate_series(1, 60000) n`
    )
    return { env, url }
  })
  const copying = (env: Environment, ...args: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const program = yield* spawnProgram(["src/app/cli/main.ts", ...args], { ...secrets, ...env })
      yield* Effect.promise(async () => {
        const end = Date.now() + 60_000
        while (!program.output().includes("… merchants") && Date.now() < end) await Bun.sleep(5)
      })
      expect(program.output()).toContain("… merchants")
      return program
    })
  const silentPath = (url: string) =>
    Effect.gen(function* () {
      const proxy = yield* tcpProxy(Number(new URL(url).port || 5432))
      const through = new URL(url)
      through.port = String(proxy.port)
      return { proxy, url: through.toString() }
    })

  const freed = (url: string) =>
    Effect.gen(function* () {
      yield* ask(url, "UPDATE merchants SET name = 'written again' WHERE id IS NULL")
      expect((yield* ask(url, "SHOW default_transaction_read_only"))[0]).toMatchObject({
        default_transaction_read_only: "off"
      })
    })
  const silent = Effect.gen(function* () {
    const { env, url } = yield* shop
    const [to, from] = [yield* silentPath(yield* ownDatabase()), yield* silentPath(url)]
    const file = join(env.DATA_DIR, "shop.backup.gz")
    const backup = yield* copying({ ...env, DATABASE_URL: from.url }, "backup", "--to", file)
    from.proxy.stall()
    const move = yield* copying(env, "database", "move", "--to", to.url)
    to.proxy.stall()
    const began = performance.now()
    const codes = yield* Effect.all([move.exited, backup.exited], { concurrency: 2 })
    expect(codes).toEqual([1, 1])
    expect(performance.now() - began).toBeLessThan(35_000)
    expect(move.output()).toContain("accepts writes as before; nothing was stored in")
    for (const { output } of [move, backup]) expect(output()).toMatch(/silen/i)
    expect(existsSync(file)).toBeFalse()
    yield* freed(url)
  })
  const suspended = Effect.gen(function* () {
    const { env, url } = yield* shop
    const move = yield* copying(env, "database", "move", "--to", yield* ownDatabase())
    yield* move.kill("SIGSTOP")
    const began = performance.now()
    yield* freed(url)
    expect(performance.now() - began).toBeLessThan(45_000)
    yield* move.kill("SIGCONT")
    expect(yield* move.exited).toBe(1)
    expect(move.output()).toContain("accepts writes as before; nothing was stored in")
  })

  longFault(
    "a copy over a silent path ends in time, a suspended one loses its locks, and the shop continues",
    () => Effect.all([silent, suspended], { concurrency: 2 })
  )

  longFault(
    "if a session may not be ended, the move fails, before or after its start, and changes neither database",
    () =>
      Effect.gen(function* () {
        const { env, url } = yield* shop
        const to = yield* ownDatabase()
        const owner = `owner_${process.pid}`
        const database = new URL(url).pathname.slice(1)
        yield* Effect.addFinalizer(() => Effect.ignore(ask(postgresUrl, `DROP ROLE IF EXISTS ${owner}`)))
        yield* ask(
          url,
          `CREATE ROLE ${owner} LOGIN PASSWORD '${decodeURIComponent(new URL(url).password)}'; ALTER DATABASE ${database} OWNER TO ${owner};
          DO $$ DECLARE t text; BEGIN FOR t IN ${tables} LOOP EXECUTE format('ALTER TABLE %I OWNER TO ${owner}', t); END LOOP; END $$`
        )
        yield* Effect.addFinalizer(() =>
          Effect.andThen(
            ask(postgresUrl, `ALTER DATABASE ${database} RESET default_transaction_read_only`),
            ask(url, `REASSIGN OWNED BY ${owner} TO CURRENT_USER`)
          )
        )
        const own = new URL(url)
        own.username = owner
        const as = { ...env, DATABASE_URL: own.toString() }
        const unchanged = Effect.gen(function* () {
          expect(yield* ask(to, tables)).toEqual([])
          expect((yield* ask(url, "SHOW default_transaction_read_only"))[0]).toMatchObject({
            default_transaction_read_only: "off"
          })
        })
        const stranger = () => new SQL(url, { max: 1 })

        const monitor = stranger()
        yield* Effect.promise(() => monitor`SELECT 1`)
        const refused = yield* cli(as, "database", "move", "--to", to)
        expect([refused.code, refused.output]).toEqual([1, expect.stringMatching(/process \d+ of role/)])
        expect(refused.output).not.toContain("… merchants")
        yield* unchanged
        yield* Effect.promise(() => monitor.close())

        const late = yield* copying(as, "database", "move", "--to", to)
        const another = stranger()
        yield* Effect.promise(() => another`SELECT 1`)
        expect(yield* late.exited).toBe(1)
        expect(late.output()).toContain("accepts writes as before; nothing was stored in")
        yield* unchanged
        yield* Effect.promise(() => another.close())
        expect((yield* cli(as, "database", "move", "--to", to)).code).toBe(0)
      })
  )
})

const withDeadFirst = (url: string) => url.replace(/@([^/]+)\//, "@127.0.0.1:9,$1/")

liveEffect(
  "of several servers, every command uses the one that serves; if none does, the error has the address",
  () =>
    Effect.gen(function* () {
      const template = yield* Effect.promise(() => templateDatabase(postgresUrl))
      const shop = yield* ownDatabase({ template })
      const [copy, target] = [yield* ownDatabase(), yield* ownDatabase()]
      const dataDir = yield* temporaryDirectory
      const file = join(dataDir, "shop.backup.gz")
      const run = (url: string, ...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const env = { DATABASE_URL: withDeadFirst(url), DATA_DIR: dataDir }
          const { code, output } = yield* cli(env, ...args)
          expect([args, code, output]).toEqual([args, 0, expect.any(String)])
        })
      const refused = Effect.gen(function* () {
        const dead = { DATABASE_URL: "postgres://shop:hidden@127.0.0.1:9/orders", DATA_DIR: dataDir }
        const { code, output } = yield* cli(dead, "database", "reopen")
        expect([code, output]).toEqual([1, expect.stringContaining("orders at 127.0.0.1:9")])
        expect(output).not.toContain("hidden")
      })
      yield* Effect.all([run(shop, "backup", "--to", file), run(shop, "database", "reopen"), refused], {
        concurrency: 3
      })
      yield* Effect.all(
        [run(copy, "restore", "--from", file), run(shop, "database", "move", "--to", withDeadFirst(target))],
        { concurrency: 2 }
      )
    })
)
