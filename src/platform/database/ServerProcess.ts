// The state of a process id, as the operating system reports it.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { systemErrorCode } from "../systemErrorCode.ts"

/**
 * True for a process that has ended but stays in the table until its parent waits for it, which some containers' first
 * process never does.
 */
const hasEndedUnreaped = (pid: number): boolean => {
  const path = `/proc/${pid}/stat`
  return existsSync(path) && /^\d+ \(.*\) Z /s.test(readFileSync(path, "utf8"))
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (systemErrorCode(error) !== "EPERM") return false
  }
  return !hasEndedUnreaped(pid)
}

const isPostgres = (pid: number): boolean => {
  const linux = `/proc/${pid}/comm`
  const name = existsSync(linux)
    ? readFileSync(linux, "utf8")
    : spawnSync("ps", ["-p", String(pid), "-o", "comm="], { encoding: "utf8" }).stdout
  return /postgres/.test(name)
}

/** True if a Postgres runs in this directory, as each does in its data; undefined if the system does not report it. */
export const isPostgresIn = (pid: number, data: string): boolean | undefined => {
  if (!isPostgres(pid)) return false
  try {
    const [its, dataDirectory] = [statSync(`/proc/${pid}/cwd`), statSync(data)]
    return its.dev === dataDirectory.dev && its.ino === dataDirectory.ino
  } catch {
    return undefined
  }
}
