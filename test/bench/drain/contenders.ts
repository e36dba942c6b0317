// The workers: the service's own, a graphile-worker, and a pg-boss. Each has its own database on one Postgres, with the
// service's tables.
import { SQL } from "bun"
import { Effect } from "effect"
import { PgBoss } from "pg-boss"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { receiver } from "../dataset.ts"
import type { Receiver } from "../receiver.ts"
import { built, serviceEnv } from "../servers.ts"
import { type DeliveryJob, webhookSecret } from "./deliver.ts"
import { queue } from "./pgBoss.ts"

export type ContenderName = "service" | "graphile-worker" | "pg-boss"

export interface Contender {
  readonly name: ContenderName
  readonly pid: number
  readonly sql: SQL
  readonly endpointId: string
  readonly merchantId: string
  /** The secret that signs its messages. */
  readonly secret: string
  /** Deletes everything of the previous round. */
  readonly tidy: () => Promise<void>
  /** Queues jobs for deliveries in the table. */
  readonly enqueue: (jobs: ReadonlyArray<DeliveryJob>) => Promise<void>
  /** True if none of them waits or runs. */
  readonly idle: (jobs: ReadonlyArray<DeliveryJob>) => Promise<boolean>
}

/** A database with the service's tables and a merchant. */
const makeDatabase = Effect.fnUntraced(function* (adminUrl: string, name: string) {
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  const sql = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const admin = new SQL(adminUrl, { max: 1 })
      await admin.unsafe(`CREATE DATABASE ${name}`)
      await admin.close()
      return new SQL(url.href, { max: 1 })
    }),
    (client) => Effect.promise(() => client.close())
  )
  const env = { ...serviceEnv, DATABASE_URL: url.href, DATA_DIR: yield* temporaryDirectory }
  const cli = yield* spawnProgram(
    ["src/app/cli/main.ts", "merchant", "create", "--name", "Bench", "--receiver", receiver, "--json"],
    env
  )
  yield* cli.exited
  const { keys, merchant } = JSON.parse(cli.output())
  return { url: url.href, sql, env, key: String(keys.test.secret), merchantId: String(merchant.id) }
})

/** True if one of these still waits; queried by key, because an index of waiting rows may be full of dead entries. */
const open = async (sql: SQL, jobs: ReadonlyArray<DeliveryJob>) => {
  const ids = JSON.stringify(jobs.map(({ id }) => id).toReversed())
  const [row] = await sql`
    SELECT EXISTS (SELECT 1 FROM json_array_elements_text(${ids}::text::json) AS job (id)
      WHERE (SELECT d.due_at IS NOT NULL FROM webhook_deliveries d WHERE d.id = job.id::uuid)) AS open`
  return Boolean(row.open)
}

const truncate = async (sql: SQL, tables: string) => {
  await sql.unsafe(`TRUNCATE webhook_attempts, webhook_deliveries${tables} CASCADE`)
  await sql.unsafe("CHECKPOINT")
}

/** The service's own worker. */
const makeService = Effect.fnUntraced(function* (adminUrl: string, to: Receiver) {
  const { sql, env, key, merchantId } = yield* makeDatabase(adminUrl, "service")
  const service = yield* spawnService({ ...env, WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${to.port}` }, built)
  yield* untilReady(service)
  const { endpointId, secret } = yield* Effect.promise(async () => {
    const response = await fetch(`${service.baseUrl}/api/v1/webhook-endpoint`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ url: to.hook })
    })
    if (response.status !== 201) throw new Error(await response.text())
    const [row] = await sql`SELECT id FROM webhook_endpoints`
    return { endpointId: String(row.id), secret: String((await response.json()).secret) }
  })
  const contender: Contender = {
    name: "service",
    pid: service.pid,
    sql,
    endpointId,
    merchantId,
    secret,
    tidy: () => truncate(sql, ""),
    enqueue: async () => {},
    idle: async (jobs) => !(await open(sql, jobs))
  }
  return contender
})

interface Queue {
  readonly name: Exclude<ContenderName, "service">
  readonly program: string
  readonly table: string
  /** The condition for rows of jobs that wait or run. */
  readonly unfinished: string
  readonly enqueue: Contender["enqueue"]
}

/**
 * A job queue's worker in a process of its own. Jobs contain url and secret; deliveries refer to the endpoint's row.
 */
const makeQueue = Effect.fnUntraced(function* (
  { sql, url, merchantId }: Effect.Success<ReturnType<typeof makeDatabase>>,
  to: Receiver,
  { name, program, table, unfinished, enqueue }: Queue
) {
  const child = yield* spawnProgram([`test/bench/drain/${program}`], { DATABASE_URL: url })
  const endpointId = yield* Effect.promise(async () => {
    for (let tries = 0; tries < 1_000 && !child.output().includes("ready"); tries++) await Bun.sleep(20)
    if (!child.output().includes("ready")) throw new Error(child.output())
    const [row] = await sql`
      INSERT INTO webhook_endpoints
        (id, merchant_id, env, url, secret_kid, secret_ciphertext, secret_last_four, created_at, updated_at)
      VALUES (gen_random_uuid(), ${merchantId}, 'test', ${to.hook}, 'bench', '', 'last', now(), now()) RETURNING id`
    return String(row.id)
  })
  const contender: Contender = {
    name,
    pid: child.pid,
    sql,
    endpointId,
    merchantId,
    secret: webhookSecret,
    tidy: () => truncate(sql, `, ${table}`),
    enqueue,
    idle: async (jobs) => {
      const [row] = await sql.unsafe(`SELECT EXISTS (SELECT 1 FROM ${table} WHERE ${unfinished}) AS jobs`)
      return !row.jobs && !(await open(sql, jobs))
    }
  }
  return contender
})

const makeGraphile = Effect.fnUntraced(function* (adminUrl: string, to: Receiver) {
  const database = yield* makeDatabase(adminUrl, "graphile")
  return yield* makeQueue(database, to, {
    name: "graphile-worker",
    program: "graphileWorker.ts",
    table: "graphile_worker._private_jobs",
    unfinished: "true",
    enqueue: async (jobs) => {
      await database.sql`
        SELECT count(*) FROM graphile_worker.add_jobs((
          SELECT array_agg(('deliver', payload, NULL, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec)
          FROM json_array_elements(${JSON.stringify(jobs)}::text::json) AS payload))`
    }
  })
})

const makePgBoss = Effect.fnUntraced(function* (adminUrl: string, to: Receiver) {
  const database = yield* makeDatabase(adminUrl, "pgboss")
  const boss = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const options = { connectionString: database.url, max: 1, supervise: false, schedule: false }
      const made = new PgBoss(options)
      made.on("error", (error) => console.error(error))
      await made.start()
      return made
    }),
    (made) => Effect.promise(() => made.stop({ graceful: false }))
  )
  return yield* makeQueue(database, to, {
    name: "pg-boss",
    program: "pgBoss.ts",
    table: "pgboss.job",
    unfinished: "state < 'completed'",
    enqueue: async (jobs) => {
      await boss.insert(
        queue,
        jobs.map((data) => ({ data }))
      )
    }
  })
})

export const makeContenders = (adminUrl: string, to: Receiver) =>
  Effect.all([makeService(adminUrl, to), makeGraphile(adminUrl, to), makePgBoss(adminUrl, to)])
