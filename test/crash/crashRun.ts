// One run: payments settle while the service is killed, frozen and cut off from its database at random and at each
// crash point; then all work must end.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect } from "effect"
import { newShop } from "../webhooks/deliveries.ts"
import { startCluster } from "./cluster.ts"
import { judgeRun, type Verdict } from "./invariants.ts"
import { startReceiver } from "./merchants.ts"
import { crashInMigrations } from "./migrations.ts"
import { onDatabase, openSecrets, randomFrom, shops } from "./preparation.ts"
import { regenerateSecret, type Surroundings, startService, startSettler } from "./processes.ts"
import { endStall, installStalls, type StallPoint, stallAt, terminateStalled } from "./stalls.ts"

export interface CrashPlan {
  readonly kills: number
  readonly deliveries: number
  readonly perSecond: number
  /** Freezes longer than the lease, each half a minute. */
  readonly freezes: number
  readonly restarts: number
  readonly migrations: number
  /** Pauses of at most 35 seconds in which every interrupted delivery must be sent. */
  readonly calms: number
  /** True if webhook servers refuse a few at first, which are then due a minute later. */
  readonly refusals: boolean
  readonly seed: number
  readonly programs: string
  readonly log: (line: string) => void
}

export interface CrashSummary extends Verdict {
  readonly faults: Readonly<Record<string, number>>
  /** Processes ended by kill -9. */
  readonly killed: number
  /** The longest wait of an interrupted delivery for its next attempt after a crash, in milliseconds. */
  readonly slowestPickUp: number
}

/** Runs the plan and returns a summary. */
export const crashRun = async (plan: CrashPlan): Promise<CrashSummary> => {
  const random = randomFrom(plan.seed)
  const { log } = plan
  const cluster = await startCluster(plan.programs)
  const dataDir = mkdtempSync(join(tmpdir(), "quittance-crash-data-"))
  const receiver = startReceiver(plan.refusals)
  const faults: Record<string, number> = {}
  const violations: Array<string> = []
  const secrets = new Set<string>()
  let slowestPickUp = 0
  let killCount = 0
  const note = (fault: string) => {
    faults[fault] = (faults[fault] ?? 0) + 1
  }
  const count = (point: string) => {
    killCount++
    note(point)
  }
  const killed = () => killCount

  const surroundings: Surroundings = {
    databaseUrl: cluster.urlOf("quittance"),
    receiverPort: receiver.port,
    dataDir,
    encryptionKeys: `crash:${Buffer.alloc(32, 7).toString("base64")}`
  }
  await cluster.sql.unsafe("CREATE DATABASE quittance")
  const children = new Set<{ readonly kill: (signal?: NodeJS.Signals) => void }>()
  const start = async () => {
    const service = await startService(surroundings)
    children.add(service)
    return service
  }
  let service = await start()
  if (!(await service.ready())) throw new Error("the service does not start")
  let sql = new SQL(surroundings.databaseUrl, { max: 4 })
  const merchantIds = await onDatabase(
    surroundings,
    Effect.forEach([...Array(shops).keys()], (index) =>
      Effect.map(
        newShop(new Date(), `http://127.0.0.1:${receiver.port}/hook/${index}`),
        (shop) => shop.tenant.merchantId
      )
    )
  )
  await installStalls(sql)
  const noteSecrets = async () => {
    for (const secret of await onDatabase(surroundings, openSecrets)) secrets.add(secret)
  }
  await noteSecrets()

  const settlerFor = (amount: number) => {
    const settler = startSettler(surroundings, plan.perSecond, amount)
    children.add(settler)
    return settler
  }
  let settler = settlerFor(plan.deliveries)
  const queued = async () => {
    const [row] = await sql`SELECT count(*)::int AS queued FROM webhook_deliveries`
    return Number(row.queued)
  }
  const killService = async (point: string) => {
    service.kill()
    count(point)
    await service.process.exited
    children.delete(service)
    service = await start()
  }

  const inStatement = (point: StallPoint, rollBack: boolean) => async () => {
    const stalled = await stallAt(sql, point)
    if (stalled) await killService(rollBack ? `${point}, rolled back` : `${point}, committed`)
    if (rollBack) await terminateStalled(sql)
    await endStall(sql)
  }
  const whileAsked = async () => {
    const held = new Promise<boolean>((resolve) => {
      receiver.hold = async () => {
        resolve(true)
        await Bun.sleep(300)
      }
      setTimeout(() => resolve(false), 1_500)
    })
    if (await held) await killService("request sent, no answer")
    receiver.hold = undefined
  }
  const inSettlement = (rollBack: boolean) => async () => {
    if (await stallAt(sql, "settle")) {
      settler.kill()
      count(rollBack ? "before the settle commit" : "after the settle commit, before the wake-up")
    }
    if (rollBack) await terminateStalled(sql)
    await endStall(sql)
    children.delete(settler)
    settler = settlerFor(Math.max(0, plan.deliveries - (await queued())))
  }
  const inSecretChange = async () => {
    const cli = regenerateSecret(surroundings, merchantIds[Math.floor(random() * shops)] ?? "")
    children.add(cli)
    if (await stallAt(sql, "secret")) {
      cli.kill()
      count("secret change")
      if (random() < 0.5) await killService("service during a secret change")
    }
    await endStall(sql)
    await cli.process.exited
    await Bun.sleep(450)
    await noteSecrets()
  }
  const backendLost = async () => {
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'quittance' ORDER BY random() LIMIT 1`
    note("a Postgres backend")
    await Bun.sleep(100)
  }
  const atRandom = async () => {
    await Bun.sleep(random() * 400)
    await killService("at random")
  }
  const points = [
    atRandom,
    inStatement("claim", false),
    whileAsked,
    inStatement("record", false),
    atRandom,
    inStatement("claim", true),
    inStatement("record", true),
    inSettlement(true),
    backendLost,
    inSettlement(false),
    atRandom,
    inSecretChange
  ]

  const restartDatabase = async () => {
    await sql.close({ timeout: 0 }).catch(() => {})
    cluster.restartImmediately()
    sql = new SQL(surroundings.databaseUrl, { max: 4 })
    note("Postgres restarted immediately")
  }
  const freeze = async () => {
    const frozen = service
    frozen.kill("SIGSTOP")
    service = await start()
    await service.ready()
    log("frozen past its lease, another instance works meanwhile")
    await Bun.sleep(32_000)
    frozen.kill("SIGCONT")
    note("frozen past its lease")
    await Bun.sleep(2_000)
    frozen.kill()
    await frozen.process.exited
    children.delete(frozen)
  }
  /** Measures how long interrupted deliveries wait after a crash. */
  const calm = async () => {
    await killService("before a calm")
    const crashed = Date.now()
    for (;;) {
      const [row] = await sql`
        SELECT count(*)::int AS waiting FROM webhook_deliveries
        WHERE status = 'pending' AND created_at < ${new Date(crashed)} AND (claim_id IS NOT NULL OR attempts = 0)`
      if (row.waiting === 0) break
      if (Date.now() - crashed > 40_000) {
        violations.push(`${row.waiting} deliveries were not picked up within 35 s of a crash`)
        break
      }
      await Bun.sleep(50)
    }
    const took = Date.now() - crashed
    if (took > 35_000) violations.push(`pick-up took ${took} ms`)
    slowestPickUp = Math.max(slowestPickUp, took)
    log(`all that the crash interrupted was delivered ${(took / 1000).toFixed(1)} s later`)
  }

  try {
    const failures = await crashInMigrations(cluster, surroundings, plan.migrations, random)
    for (let round = 0; round < plan.migrations; round++) count("in a migration")
    if (failures > 0) violations.push(`${failures} services did not start after a crash in a migration`)

    const special = [
      ...Array.from({ length: plan.freezes }, () => freeze),
      ...Array.from({ length: plan.restarts }, () => restartDatabase)
    ]
    const every = Math.max(1, Math.floor(plan.kills / (special.length + plan.calms + 1)))
    let calms = plan.calms - 1
    for (let round = 0; killed() < plan.kills; round++) {
      const point = points[round < points.length ? round : Math.floor(random() * points.length)]
      await point?.()
      await service.ready()
      await Bun.sleep(random() * 600)
      if (round % every === every - 1) {
        const next = special.shift()
        if (next !== undefined) await next()
        else if (calms-- > 0) await calm()
        log(`${killed()} kills, ${await queued()} queued, ${receiver.requests.length} requests`)
      }
    }
    for (
      let missing = plan.deliveries - (await queued());
      missing > 0;
      missing = plan.deliveries - (await queued())
    ) {
      settler.kill()
      settler = settlerFor(missing)
      await settler.process.exited
    }
    await calm()
    // Refused deliveries are retried a minute later.
    const deadline = Date.now() + 360_000
    for (;;) {
      const [row] =
        await sql`SELECT count(*)::int AS waiting FROM webhook_deliveries WHERE status = 'pending'`
      if (row.waiting === 0 || Date.now() > deadline) break
      await Bun.sleep(250)
    }
    const verdict = await judgeRun(sql, receiver.requests, [...secrets])
    return {
      ...verdict,
      violations: [...violations, ...verdict.violations],
      faults,
      killed: killed(),
      slowestPickUp
    }
  } finally {
    for (const one of children) one.kill()
    receiver.stop()
    await sql.close({ timeout: 0 }).catch(() => {})
    await cluster.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
