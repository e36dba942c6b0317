// Payments and deliveries divided by time under a service that takes payments meanwhile.
import { describe, expect } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { send } from "../support/contractCheck.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"

/** `bun run test:long` has a million. */
const payments = Number(process.env["PARTITION_PAYMENTS"] ?? 20_000)
const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
const noChain = { BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9", ARBITRUM_RPC_URLS: "http://127.0.0.1:9" }

/** Settled payments of the last two years, each with its delivery and an attempt. */
const fill = (sql: SQL, merchantId: string) =>
  sql.begin(async (tx) => {
    await tx.unsafe(`
      CREATE TEMP TABLE made ON COMMIT DROP AS
      SELECT n, at, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
        || '8' || lpad(to_hex(n), 15, '0'))::uuid AS id
      FROM (SELECT n, now() - interval '730 days' * n / ${payments} - interval '1 hour' AS at
        FROM generate_series(1, ${payments}) n) times`)
    await tx.unsafe(`
      INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at,
        reported_at, settled_at, transaction_id, payer_address, token_changes)
      SELECT id, '${merchantId}', 'test', 'settled', 1000000, 'PAY-' || lpad(upper(to_hex(n)), 8, '0'), 'https://shop.example.com/',
        decode('${receiver.slice(2)}', 'hex'), 'human', at, at, at, sha256(n::text::bytea),
        decode('${receiver.slice(2)}', 'hex'), '[]' FROM made`)
    await tx.unsafe(`
      INSERT INTO webhook_deliveries (id, merchant_id, env, payment_id, type, body, status, created_at, finished_at)
      SELECT gen_random_uuid(), '${merchantId}', 'test', id, 'payment.settled', '\\x7b7d', 'cancelled', at, at FROM made`)
    await tx.unsafe(
      "INSERT INTO webhook_attempts (delivery_id, number, started_at) SELECT id, 1, created_at FROM webhook_deliveries"
    )
  })

const world = Effect.gen(function* () {
  const databaseUrl = yield* ownDatabase()
  const env = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: yield* temporaryDirectory,
    RATE_LIMIT_PER_KEY: "100000",
    ...noChain
  }
  const service = yield* spawnService(env)
  yield* untilReady(service)
  const cli = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const child = yield* spawnProgram(["src/cli/main.ts", ...args], env)
    yield* child.succeeded
    return child.output()
  })
  const made = yield* cli("merchant", "create", "--name", "Shop", "--json", "--receiver", receiver)
  const { keys, merchant } = JSON.parse(made)
  const sql = new SQL(databaseUrl, { max: 2 })
  yield* Effect.addFinalizer(() => Effect.promise(() => sql.close({ timeout: 0 })))
  yield* Effect.promise(() => fill(sql, merchant.id))
  yield* Effect.promise(() => sql.unsafe("VACUUM ANALYZE"))
  return { cli, databaseUrl, env, keys: keys.test, service, sql }
})
type World = Effect.Success<typeof world>

/** Opens payments and reads them, one page of the list for each, until it is stopped; milliseconds of each. */
const load = ({ keys, service }: World) => {
  const all: Array<{ readonly phase: string; readonly what: string; readonly millis: number }> = []
  const failures: Array<string> = []
  const opened: Array<string> = []
  let phase = "before"
  let goes = true
  const timed = async (what: string, request: Parameters<typeof send>[1], wanted: number) => {
    const began = performance.now()
    const answer = await send(service.baseUrl, request)
    all.push({ phase, what, millis: performance.now() - began })
    if (answer.status !== wanted)
      failures.push(`${phase} ${what} ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const clients = Array.from({ length: 4 }, async () => {
    while (goes) {
      const intent = await timed(
        "create",
        {
          method: "POST",
          path: "/api/v1/payment-intents",
          key: keys.secret,
          body: { amount: "1.00", intentUrl: "https://shop.example.com/" }
        },
        201
      )
      const { intentToken } = intent
      const body = await timed(
        "open",
        { method: "POST", path: "/api/v1/payments", key: keys.publishable, body: { intentToken } },
        201
      )
      opened.push(body.payment.id)
      await timed(
        "retrieve",
        { method: "GET", path: `/api/v1/payments/${body.payment.id}`, key: keys.secret },
        200
      )
      await timed("list", { method: "GET", path: "/api/v1/payments?limit=20", key: keys.secret }, 200)
      await Bun.sleep(5)
    }
  })
  return {
    all,
    failures,
    opened,
    enter: (next: string) => {
      phase = next
    },
    stop: async () => {
      goes = false
      await Promise.all(clients)
    }
  }
}

const quantile = (values: ReadonlyArray<number>, at: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * at)] ?? 0

describe("partitions by time", () => {
  liveEffect(
    `${payments} payments are divided under load: nobody is refused, nobody waits long, nothing is lost`,
    () =>
      Effect.gen(function* () {
        const at = yield* world
        const { cli, sql } = at
        const running = load(at)
        yield* Effect.sleep("2 seconds")
        running.enter("during")
        const [took, said] = yield* Effect.timed(cli("database", "partition"))
        running.enter("after")
        yield* Effect.sleep("2 seconds")
        yield* Effect.promise(running.stop)

        const table = ["before", "during", "after"].map((phase) => {
          const of = (what: string) =>
            running.all.filter((one) => one.phase === phase && one.what === what).map(({ millis }) => millis)
          const shown = ["create", "open", "retrieve", "list"].map(
            (what) => `${what} ${quantile(of(what), 0.5).toFixed(1)} / ${quantile(of(what), 0.99).toFixed(1)}`
          )
          return `${phase.padEnd(7)} ms at p50 / p99: ${shown.join(", ")}`
        })
        console.log(`${payments} payments, divided in ${String(took)}\n${table.join("\n")}\n${said}`)
        expect(running.failures).toEqual([])
        // A lock is asked for two seconds at most.
        expect(Math.max(...running.all.map(({ millis }) => millis))).toBeLessThan(5_000)

        const [counted] = yield* Effect.promise(
          () => sql`
            SELECT (SELECT count(*)::int FROM payments) AS payments, (SELECT relkind::text FROM pg_class
              WHERE oid = 'payments'::regclass) AS kind, (SELECT count(*)::int FROM payments_later) AS later,
              (SELECT count(*)::int FROM pg_constraint WHERE contype = 'f' AND NOT convalidated) AS unproven,
              (SELECT count(*)::int FROM pg_constraint WHERE contype = 'f' AND confrelid = 'payments'::regclass) > 5 AS linked`
        )
        expect(counted).toEqual({
          payments: payments + running.opened.length,
          kind: "p",
          later: 0,
          unproven: 0,
          linked: true
        })
        expect(yield* cli("database", "partition")).toContain("has its partitions until")
        // A service starts on them, and goes on.
        yield* at.service.kill("SIGTERM")
        yield* at.service.exited
        const again = yield* spawnService(at.env)
        yield* untilReady(again)
        const path = `/api/v1/payments/${running.opened[0]}`
        expect(
          (yield* Effect.promise(() => send(again.baseUrl, { method: "GET", path, key: at.keys.secret })))
            .status
        ).toBe(200)
      }).pipe(Effect.scoped),
    600_000
  )
})
