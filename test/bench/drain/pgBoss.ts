// A pg-boss worker tuned for throughput as in its documentation: several batches at a time, the next fetched at once
// while they are full. Each batch is sent concurrently and recorded in one statement; jobs fail one by one.
import { type JobResult, PgBoss } from "pg-boss"
import { type DeliveryJob, makeRecorder, send } from "./deliver.ts"

export const queue = "deliver"

const start = async () => {
  const connectionString = process.env["DATABASE_URL"] ?? ""
  const record = makeRecorder(connectionString)
  const boss = new PgBoss({ connectionString, max: 10 })
  boss.on("error", (error) => console.error(error))
  await boss.start()
  await boss.createQueue(queue)
  await boss.work<DeliveryJob>(
    queue,
    {
      batchSize: 250,
      localConcurrency: 2,
      pollingIntervalSeconds: 0.5,
      burstWhenBatchFull: true,
      perJobResults: true
    },
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

if (import.meta.main) await start()
