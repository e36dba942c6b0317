// How the time of a request grows with the table: 1,000, 100,000 and 1,000,000 payments over
// 200 merchants, the same request at each size. Plans are checked for their index.
import { SQL } from "bun"
import { Effect } from "effect"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"

export interface GrowthRow {
  readonly payments: number
  /** Median milliseconds of one request at a time. */
  readonly retrieve: number
  readonly list: number
  /** Page 50, of ten a page, by cursor. */
  readonly page50: number
}

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
const merchants = 200
const sizes = [1_000, 100_000, 1_000_000] as const

const median = (values: ReadonlyArray<number>) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Fills the table up to `until` payments over all merchants, oldest first; the first 500 are the measured one's. */
const fill = (sql: SQL, merchant: string, from: number, until: number) =>
  sql.unsafe(`
    INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
    SELECT gen_random_uuid(),
      CASE WHEN n <= 500 THEN '${merchant}'::uuid ELSE all_merchants.ids[1 + n % ${merchants}] END, 'test', 'pending',
      1000000 + n, 'PAY-' || upper(lpad(to_hex(n), 8, '0')), 'https://shop.example.com/' || n,
      '\\x70997970c51812dc3a010c7d01b50e0d17dc79c8', 'human', now() - interval '1 year' + n * interval '10 seconds'
    FROM generate_series(${from + 1}, ${until}) AS n,
      (SELECT array_agg(id ORDER BY id) AS ids FROM merchants) AS all_merchants`)

const indexOf = async (sql: SQL, statement: string): Promise<string> => {
  const rows = await sql.unsafe(`EXPLAIN (FORMAT TEXT) ${statement}`)
  return rows.map((row: Readonly<Record<string, string>>) => row["QUERY PLAN"]).join("\n")
}

export const measureGrowth = (databaseUrl: string, samples: number) =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    const env = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
      ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
      RATE_LIMIT_PER_KEY: "1000000",
      // Nothing that is filled in may expire while it is measured.
      PAYMENT_EXPIRY: "9999d"
    }
    const cli = yield* spawnProgram(
      ["src/cli/main.ts", "merchant", "create", "--name", "Grows", "--receiver", receiver, "--json"],
      env
    )
    yield* cli.exited
    const { keys, merchant } = JSON.parse(cli.output())
    const sql = new SQL(databaseUrl, { max: 1 })
    yield* Effect.addFinalizer(() => Effect.promise(() => sql.close()))
    yield* Effect.promise(() =>
      sql.unsafe(`
        INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
        SELECT gen_random_uuid(), 'M' || n, receiver_test, receiver_live, now()
        FROM generate_series(1, ${merchants - 1}) AS n, merchants WHERE merchants.id = '${merchant.id}'`)
    )
    const service = yield* spawnService(env)
    yield* untilReady(service)
    const get = async (path: string) => {
      const response = await fetch(`${service.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${keys.test.secret}` }
      })
      if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
      return response.json()
    }
    const timed = async (path: string) => {
      for (let count = 0; count < samples; count++) await get(path)
      const times: Array<number> = []
      for (let count = 0; count < samples; count++) {
        const start = performance.now()
        await get(path)
        times.push(performance.now() - start)
      }
      return median(times)
    }

    const rows: Array<GrowthRow> = []
    let filled = 0
    for (const size of sizes) {
      const row = yield* Effect.promise(async () => {
        await fill(sql, merchant.id, filled, size)
        filled = size
        await sql.unsafe("VACUUM ANALYZE payments")
        const page = await get("/api/v1/payments")
        let cursor: string | undefined
        for (let turn = 0; turn < 49; turn++) {
          const next = await get(
            `/api/v1/payments?limit=10${cursor === undefined ? "" : `&startingAfter=${cursor}`}`
          )
          cursor = next.payments.at(-1).id
        }
        const retrieve = await timed(`/api/v1/payments/${page.payments[0].id}`)
        const list = await timed("/api/v1/payments")
        const page50 = await timed(`/api/v1/payments?limit=10&startingAfter=${cursor}`)
        return { payments: size, retrieve, list, page50 }
      })
      rows.push(row)
    }
    const plan = yield* Effect.promise(() =>
      indexOf(
        sql,
        `SELECT * FROM payments WHERE merchant_id = '${merchant.id}' AND env = 'test' ORDER BY created_at DESC, id DESC LIMIT 21`
      )
    )
    if (!plan.includes("payments_newest")) throw new Error(`the list does not use its index:\n${plan}`)
    return rows
  })
