// A temporary Postgres cluster, so that a run may kill it at will.
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"

const installations = "/usr/lib/postgresql"

/** The programs' directory of the newest Postgres on this machine; undefined if there is none. */
export const postgresPrograms = (): string | undefined =>
  !existsSync(installations)
    ? undefined
    : readdirSync(installations)
        .sort((left, right) => Number(right) - Number(left))
        .map((version) => join(installations, version, "bin"))
        .find((directory) => existsSync(join(directory, "initdb")))

export interface Cluster {
  readonly urlOf: (database: string) => string
  readonly sql: SQL
  readonly restartImmediately: () => void
  readonly stop: () => Promise<void>
}

/** Starts a cluster; durable as in production, so that acknowledged writes survive. */
export const startCluster = async (programs: string): Promise<Cluster> => {
  const directory = mkdtempSync(join(tmpdir(), "quittance-crash-"))
  const port = await Effect.runPromise(freePort(0))
  const root = userInfo().uid === 0
  const run = (program: string, ...rest: ReadonlyArray<string>) => {
    const command = [join(programs, program), ...rest]
    const [first = "", ...args] = root ? ["runuser", "-u", "postgres", "--", ...command] : command
    const result = spawnSync(first, args, {
      cwd: directory,
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8"
    })
    if (result.status !== 0) throw new Error(`${program} failed: ${result.stderr || result.stdout}`)
  }
  if (root) spawnSync("chown", ["postgres", directory])
  const data = join(directory, "data")
  const log = join(directory, "log")
  run("initdb", "-D", data, "-A", "trust", "-U", "postgres")
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${directory} -c max_connections=200`
  const control = (action: string, ...rest: ReadonlyArray<string>) =>
    run("pg_ctl", "-D", data, "-l", log, "-w", "-o", options, action, ...rest)
  control("start")
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const sql = new SQL(urlOf("postgres"), { max: 2 })
  return {
    urlOf,
    sql,
    restartImmediately: () => control("restart", "-m", "immediate"),
    stop: async () => {
      await sql.close({ timeout: 0 }).catch(() => {})
      run("pg_ctl", "-D", data, "-w", "stop", "-m", "immediate")
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
