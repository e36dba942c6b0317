// `bun run bench torture`: the service's drain beside endpoints that hang, and beside a transaction that stays
// open, which keeps every dead row from vacuum.
import { SQL } from "bun"
import { Effect } from "effect"
import { spawnProgram } from "../../support/process.ts"
import { startPostgres } from "../postgres.ts"
import { startReceiver } from "../receiving.ts"
import { hangingEndpoints, settings } from "../settings.ts"
import { makeService } from "./contenders.ts"
import { drainOnce } from "./drainOnce.ts"

interface Pair {
  readonly alone: number
  readonly beside: number
}

export interface TortureResult {
  readonly deliveries: number
  /** How long the transaction is open, in seconds. */
  readonly openSeconds: number
  /** Deliveries a second of each drain, and of another instance's on a database of its own. */
  readonly besideHanging: ReadonlyArray<Pair>
  /** Those of the transaction's last third. */
  readonly besideTransaction: ReadonlyArray<Pair>
}

/** Of each hanging endpoint. */
const dueEach = 200

export const measureTorture = Effect.gen(function* () {
  const { url } = yield* startPostgres()
  const to = yield* startReceiver
  const alone = yield* makeService(url, to, "alone")
  const service = yield* makeService(url, to)
  const { sql } = service
  const hanging = `http://127.0.0.1:${to.port}/hang`
  const shops = yield* spawnProgram(
    ["test/bench/hangingShops.ts", hanging, String(hangingEndpoints)],
    service.env
  )
  yield* shops.succeeded
  yield* alone.start({})
  yield* service.start({})

  /** Rows stay from drain to drain; vacuum takes what it may. */
  const drain = (one: typeof service) =>
    drainOnce(one, to, async () => {
      await one.sql.unsafe("VACUUM webhook_deliveries, webhook_attempts")
      await one.sql.unsafe("CHECKPOINT")
    })
  let pairs = 0
  const drainPair = async (what: string): Promise<Pair> => {
    const drainAlone = () => drain(alone)
    const first = pairs++ % 2 === 0 ? await drainAlone() : undefined
    const beside = await drain(service)
    const pair = { alone: first ?? (await drainAlone()), beside }
    console.log(
      `torture  ${what.padEnd(22)} ${pair.beside.toFixed(0).padStart(6)}/s, alone ${pair.alone.toFixed(0)}/s`
    )
    return pair
  }
  return yield* Effect.promise(async () => {
    await drainPair("warm-up")
    const besideHanging: Array<Pair> = []
    for (let round = 0; round < settings.rounds; round++) {
      await sql`
        INSERT INTO webhook_deliveries (id, merchant_id, env, endpoint_id, type, body, status, due_at, created_at)
        SELECT gen_random_uuid(), e.merchant_id, e.env, e.id, 'test', '{}'::bytea, 'pending', now(), now()
        FROM webhook_endpoints e, generate_series(1, ${dueEach}::integer) WHERE e.url = ${hanging}`
      besideHanging.push(await drainPair("beside hanging"))
    }
    await sql`
      DELETE FROM webhook_attempts a USING webhook_deliveries d WHERE d.id = a.delivery_id AND d.body = '{}'::bytea`
    await sql`DELETE FROM webhook_deliveries WHERE body = '{}'::bytea`
    const besideTransaction: Array<Pair> = []
    const other = new SQL(service.url, { max: 1 })
    await other.begin("ISOLATION LEVEL REPEATABLE READ", async (held) => {
      await held`SELECT count(*) FROM webhook_endpoints`
      const begun = performance.now()
      const open = () => (performance.now() - begun) / 1000
      while (open() < settings.openSeconds) {
        const pair = await drainPair(`transaction of ${open().toFixed(0)} s`)
        if (open() > (settings.openSeconds * 2) / 3) besideTransaction.push(pair)
      }
    })
    await other.close()
    const result: TortureResult = {
      deliveries: settings.drain,
      openSeconds: settings.openSeconds,
      besideHanging,
      besideTransaction
    }
    return result
  })
})
