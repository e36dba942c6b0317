// Who drains: the service's own worker, a graphile-worker, a pg-boss. Each has a database of
// its own on one Postgres, with the service's tables.
import { SQL } from "bun"
import { Effect, type Scope } from "effect"
import { PgBoss } from "pg-boss"
import {
  type RunningProcess,
  spawnProgram,
  spawnService,
  temporaryDirectory,
  untilReady
} from "../../support/process.ts"
import { receiver } from "../dataset.ts"
import type { Receiver } from "../receiving.ts"
import { built, serviceEnv } from "../servers.ts"
import { type DeliveryJob, webhookSecret } from "./deliver.ts"
import { candidates as graphileCandidates } from "./graphileWorker.ts"
import { candidates as pgBossCandidates, queue } from "./pgBoss.ts"

export type ContenderName = "service" | "graphile-worker" | "pg-boss"

export interface Contender {
  readonly name: ContenderName
  readonly sql: SQL
  readonly endpointId: string
  readonly merchantId: string
  /** What its messages are signed with. */
  readonly secret: string
  /** What it is tried with before the best is measured. */
  readonly candidates: ReadonlyArray<object>
  /** A worker in a process of its own, ready, gone with the scope. */
  readonly start: (settings: object) => Effect.Effect<{ readonly pid: number }, never, Scope.Scope>
  /** Leaves nothing of the round before. */
  readonly tidy: () => Promise<void>
  /** Queues jobs for deliveries that are in the table. */
  readonly enqueue: (jobs: ReadonlyArray<DeliveryJob>) => Promise<void>
  /** Whether none of them waits or runs. */
  readonly idle: (jobs: ReadonlyArray<DeliveryJob>) => Promise<boolean>
}

const untilSaid = (child: RunningProcess, word: string) =>
  Effect.promise(async () => {
    for (let tries = 0; tries < 1_000 && !child.output().includes(word); tries++) await Bun.sleep(20)
    if (!child.output().includes(word)) throw new Error(child.output())
    return { pid: child.pid }
  })

/** A database with the service's tables and a merchant. */
const makeDatabase = Effect.fnUntraced(function* (adminUrl: string, name: string) {
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  const directory = yield* temporaryDirectory
  const sql = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const admin = new SQL(adminUrl, { max: 1 })
      await admin.unsafe(`CREATE DATABASE ${name}`)
      await admin.close()
      return new SQL(url.href, { max: 1 })
    }),
    (client) => Effect.promise(() => client.close())
  )
  const env = { ...serviceEnv, DATABASE_URL: url.href, DATA_DIR: directory }
  const cli = yield* spawnProgram(
    ["src/app/cli/main.ts", "merchant", "create", "--name", "Bench", "--receiver", receiver, "--json"],
    env
  )
  yield* cli.exited
  const { keys, merchant } = JSON.parse(cli.output())
  return { url: url.href, sql, env, key: String(keys.test.secret), merchantId: String(merchant.id) }
})

/** Whether one of these still waits; by their keys, as an index of what waits may be full of dead entries. */
const open = async (sql: SQL, jobs: ReadonlyArray<DeliveryJob>) => {
  const ids = JSON.stringify(jobs.map(({ id }) => id).toReversed())
  const [row] = await sql`
    SELECT EXISTS (SELECT 1 FROM json_array_elements_text(${ids}::text::json) AS job (id)
      WHERE (SELECT d.due_at IS NOT NULL FROM webhook_deliveries d WHERE d.id = job.id::uuid)) AS open`
  return Boolean(row.open)
}

const truncate = async (sql: SQL, jobs?: string) => {
  await sql.unsafe("TRUNCATE webhook_attempts, webhook_deliveries")
  if (jobs !== undefined) await sql.unsafe(`TRUNCATE ${jobs} CASCADE`)
  await sql.unsafe("CHECKPOINT")
}

/** The service's own worker. */
const makeService = Effect.fnUntraced(function* (adminUrl: string, to: Receiver) {
  const { sql, env, key, merchantId } = yield* makeDatabase(adminUrl, "service")
  const settings = { ...env, WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${to.port}` }
  const start = Effect.gen(function* () {
    const service = yield* spawnService(settings, built)
    yield* untilReady(service)
    return service
  })
  const { endpointId, secret } = yield* Effect.scoped(
    Effect.flatMap(start, ({ baseUrl }) =>
      Effect.promise(async () => {
        const response = await fetch(`${baseUrl}/api/v1/webhook-endpoint`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ url: to.hook })
        })
        if (response.status !== 201) throw new Error(await response.text())
        const [row] = await sql`SELECT id FROM webhook_endpoints`
        const created = await response.json()
        return { endpointId: String(row.id), secret: String(created.secret) }
      })
    )
  )
  const contender: Contender = {
    name: "service",
    sql,
    endpointId,
    merchantId,
    secret,
    candidates: [{}],
    start: () => start,
    tidy: () => truncate(sql),
    enqueue: async () => {},
    idle: async (jobs) => !(await open(sql, jobs))
  }
  return contender
})

/** The endpoint's row, for deliveries to refer to; the url and the secret are in the jobs. */
const insertEndpoint = async (sql: SQL, merchantId: string, url: string) => {
  const [row] = await sql`
    INSERT INTO webhook_endpoints
      (id, merchant_id, env, url, secret_kid, secret_ciphertext, secret_last_four, created_at, updated_at)
    VALUES (gen_random_uuid(), ${merchantId}, 'test', ${url}, 'bench', '', 'last', now(), now()) RETURNING id`
  return String(row.id)
}

interface QueueOptions {
  readonly name: ContenderName
  readonly database: string
  readonly candidates: ReadonlyArray<object>
}

const makeGraphile = Effect.fnUntraced(function* (adminUrl: string, to: Receiver, options: QueueOptions) {
  const { sql, url, merchantId } = yield* makeDatabase(adminUrl, options.database)
  const endpointId = yield* Effect.promise(() => insertEndpoint(sql, merchantId, to.hook))
  const contender: Contender = {
    name: options.name,
    sql,
    endpointId,
    merchantId,
    secret: webhookSecret,
    candidates: options.candidates,
    start: (settings) =>
      Effect.flatMap(
        spawnProgram(["test/bench/drain/graphileWorker.ts", JSON.stringify(settings)], { DATABASE_URL: url }),
        (child) => untilSaid(child, "ready")
      ),
    tidy: () => truncate(sql, "graphile_worker._private_jobs"),
    enqueue: async (jobs) => {
      await sql`
        SELECT count(*) FROM graphile_worker.add_jobs((
          SELECT array_agg(('deliver', payload, NULL, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec)
          FROM json_array_elements(${JSON.stringify(jobs)}::text::json) AS payload))`
    },
    idle: async (jobs) => {
      const [row] = await sql`SELECT EXISTS (SELECT 1 FROM graphile_worker._private_jobs) AS jobs`
      return !row.jobs && !(await open(sql, jobs))
    }
  }
  return contender
})

const makePgBoss = Effect.fnUntraced(function* (adminUrl: string, to: Receiver, options: QueueOptions) {
  const { sql, url, merchantId } = yield* makeDatabase(adminUrl, options.database)
  const endpointId = yield* Effect.promise(() => insertEndpoint(sql, merchantId, to.hook))
  const boss = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const made = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false })
      made.on("error", (error) => console.error(error))
      await made.start()
      await made.createQueue(queue)
      return made
    }),
    (made) => Effect.promise(() => made.stop({ graceful: false }))
  )
  const contender: Contender = {
    name: options.name,
    sql,
    endpointId,
    merchantId,
    secret: webhookSecret,
    candidates: options.candidates,
    start: (settings) =>
      Effect.flatMap(
        spawnProgram(["test/bench/drain/pgBoss.ts", JSON.stringify(settings)], { DATABASE_URL: url }),
        (child) => untilSaid(child, "ready")
      ),
    tidy: () => truncate(sql, "pgboss.job"),
    enqueue: async (jobs) => {
      await boss.insert(
        queue,
        jobs.map((data) => ({ data }))
      )
    },
    idle: async (jobs) => {
      const [row] = await sql`SELECT EXISTS (SELECT 1 FROM pgboss.job WHERE state < 'completed') AS jobs`
      return !row.jobs && !(await open(sql, jobs))
    }
  }
  return contender
})

export const makeContenders = (adminUrl: string, to: Receiver) =>
  Effect.all([
    makeService(adminUrl, to),
    makeGraphile(adminUrl, to, {
      name: "graphile-worker",
      database: "graphile",
      candidates: graphileCandidates
    }),
    makePgBoss(adminUrl, to, { name: "pg-boss", database: "pgboss", candidates: pgBossCandidates })
  ])
