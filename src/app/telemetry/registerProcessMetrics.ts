// Figures of the process itself, under the names that Prometheus clients share, read when they are exported.
import { Context, Metric } from "effect"
import { version } from "../../../package.json"

const started = Date.now() / 1000 - process.uptime()

const read = (name: string, description: string, value: () => number) =>
  Metric.registerUnsafe(Metric.gauge(name, { description }), Context.empty(), {
    get: () => ({ value: value() }),
    update: () => {},
    modify: () => {}
  })

/** Registers the process's figures for export. */
export const registerProcessMetrics = (): void => {
  read("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss())
  read("process_start_time_seconds", "Start of the process, Unix time", () => started)
  Metric.registerUnsafe(
    Metric.counter("process_cpu_seconds_total", {
      description: "CPU time, user and system",
      incremental: true
    }),
    Context.empty(),
    {
      get: () => {
        const { user, system } = process.cpuUsage()
        return { count: (user + system) / 1e6, incremental: true }
      },
      update: () => {},
      modify: () => {}
    }
  )
  Metric.gauge("quittance_build_info", { description: "Always 1", attributes: { version } }).updateUnsafe(
    1,
    Context.empty()
  )
}
