// A run's summary for people.
import type { CrashSummary } from "./crashRun.ts"

/** The summary for people. */
export const describeRun = (summary: CrashSummary): ReadonlyArray<string> => [
  `${summary.killed} kills (kill -9), among these faults:`,
  ...Object.entries(summary.faults).map(([point, times]) => `  ${String(times).padStart(4)}  ${point}`),
  `${summary.deliveries} deliveries of ${summary.settled} settlements, ${summary.requests} requests`,
  `${summary.interrupted} interrupted, ${summary.retried} tried again after a refusal, ${summary.failedByInterruption} failed after five interruptions`,
  `slowest pick-up after a crash ${(summary.slowestPickUp / 1000).toFixed(1)} s`,
  summary.violations.length === 0
    ? "every invariant holds"
    : `${summary.violations.length} VIOLATIONS\n${summary.violations.slice(0, 20).join("\n")}`
]
