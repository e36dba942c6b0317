// A throwaway Postgres with default settings, from the installed server.
import { chmodSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"
import { temporaryDirectory } from "../support/process.ts"

const root = "/usr/lib/postgresql"

const newestVersion = () => {
  const version = readdirSync(root)
    .sort((a, b) => Number(a) - Number(b))
    .at(-1)
  if (version === undefined) throw new Error("no Postgres is installed: apt-get install postgresql")
  return version
}

/** For example `Postgres 17`. */
export const postgresVersion = () => `Postgres ${newestVersion()}`

/** A new cluster with an empty database; stopped with the scope. As root it runs under the user postgres. */
export const startPostgres = Effect.fnUntraced(function* (settings: ReadonlyArray<string> = []) {
  const directory = yield* temporaryDirectory
  const port = yield* freePort(0)
  const bin = join(root, newestVersion(), "bin")
  const data = join(directory, "data")
  const as = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : []
  const run = (...args: ReadonlyArray<string>) => {
    const done = Bun.spawnSync([...as, ...args], { stdout: "ignore", stderr: "pipe" })
    if (done.exitCode !== 0) throw new Error(done.stderr.toString())
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      chmodSync(directory, 0o777)
      run(join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust")
      const given = [
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=''",
        "max_connections=200",
        ...settings
      ]
      const options = `-p ${port} ${given.map((one) => `-c ${one}`).join(" ")}`
      run(join(bin, "pg_ctl"), "-D", data, "-w", "-l", join(directory, "log"), "-o", options, "start")
    }),
    () => Effect.sync(() => run(join(bin, "pg_ctl"), "-D", data, "-m", "immediate", "stop"))
  )
  return `postgres://postgres@127.0.0.1:${port}/postgres`
})
