// A graphile-worker tuned for throughput as in its documentation: jobs fetched in batches into a local queue,
// completions batched. Each job sends one delivery and records it.
import { Logger, run } from "graphile-worker"
import { type DeliveryJob, makeRecorder, send } from "./deliver.ts"

const isJob = (value: unknown): value is DeliveryJob =>
  typeof value === "object" && value !== null && "id" in value && "url" in value && "body" in value

const connectionString = process.env["DATABASE_URL"] ?? ""
const record = makeRecorder(connectionString)
await run({
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  taskList: {
    deliver: async (payload) => {
      if (!isJob(payload)) throw new Error("not a delivery")
      const outcome = await send(payload)
      await record([outcome])
      if (!outcome.ok) throw new Error("not accepted")
    }
  },
  preset: {
    worker: {
      connectionString,
      concurrentJobs: 128,
      maxPoolSize: 10,
      localQueue: { size: 1000 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0
    }
  }
})
console.log("ready")
