// Resident memory of processes, from Linux's /proc.
import { readFileSync } from "node:fs"

/** The present resident memory in megabytes; NaN once the process is gone. */
export const megabytesOf = (pid: number): number => {
  try {
    return (
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024
    )
  } catch {
    return Number.NaN
  }
}

/** Samples a process every 100 ms; the returned function stops, and returns the peak. */
export const watchMemory = (pid: number): (() => number) => {
  let peak = megabytesOf(pid)
  const timer = setInterval(() => {
    peak = Math.max(peak, megabytesOf(pid))
  }, 100)
  return () => {
    clearInterval(timer)
    return Math.max(peak, megabytesOf(pid))
  }
}
