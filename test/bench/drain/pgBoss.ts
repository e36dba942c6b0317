// A pg-boss worker as its documentation tunes it for throughput: batches, several of them at
// once, the next fetched at once while they are full. Each batch is sent side by side and
// recorded in one statement; jobs fail one by one.
import { type JobResult, PgBoss } from "pg-boss"
import { type DeliveryJob, makeRecorder, send } from "./deliver.ts"

export const queue = "deliver"

export interface PgBossSettings {
  readonly batchSize: number
  readonly localConcurrency: number
}

export const candidates: ReadonlyArray<PgBossSettings> = [
  { batchSize: 32, localConcurrency: 2 },
  { batchSize: 64, localConcurrency: 2 },
  { batchSize: 100, localConcurrency: 4 },
  { batchSize: 250, localConcurrency: 2 }
]

const start = async (settings: PgBossSettings) => {
  const connectionString = process.env["DATABASE_URL"] ?? ""
  const record = makeRecorder(connectionString)
  const boss = new PgBoss({ connectionString, max: 10 })
  boss.on("error", (error) => console.error(error))
  await boss.start()
  await boss.createQueue(queue)
  await boss.work<DeliveryJob>(
    queue,
    { ...settings, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true, perJobResults: true },
    async (jobs): Promise<Array<JobResult>> => {
      const outcomes = await Promise.all(jobs.map(({ data }) => send(data)))
      await record(outcomes)
      return jobs.map(({ id }, index) => ({
        id,
        status: outcomes[index]?.ok === true ? "completed" : "failed"
      }))
    }
  )
  console.log("ready")
}

if (import.meta.main) await start(JSON.parse(process.argv[2] ?? ""))
