// A primary with a synchronous standby, on ports of their own.
import { spawnSync } from "node:child_process"
import { appendFileSync, chmodSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"
import { postgresPrograms } from "../crash/cluster.ts"
import { temporaryDirectory } from "./process.ts"

const programs = postgresPrograms() ?? ""
/** The reason that its tests are skipped; empty if they run. */
export const whyNoPair = programs === "" ? ": no Postgres is installed on this machine" : ""

/** Two servers, the second a synchronous standby of the first. */
export const postgresPair = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  chmodSync(directory, 0o777)
  const [first, second] = [yield* freePort(0), yield* freePort(0)]
  const as = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : []
  const run = (name: string, ...args: ReadonlyArray<string>) => {
    const [command = "", ...rest] = [...as, join(programs, name), ...args]
    const { status, stderr } = spawnSync(command, rest, {
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"]
    })
    if (status !== 0) throw new Error(`${name}: ${stderr}`)
  }
  const control = (name: string, port: number, action: string, ...rest: ReadonlyArray<string>) => {
    const log = join(directory, `${name}.log`)
    try {
      run(
        "pg_ctl",
        ...["-D", join(directory, name), "-w", "-l", log],
        ...["-o", `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`],
        ...[action, ...rest]
      )
    } catch (cause) {
      throw new Error(
        `${action} of ${name}: ${existsSync(log) ? readFileSync(log, "utf8").slice(-2_000) : ""}`,
        {
          cause
        }
      )
    }
  }
  const stopped = (name: string, port: number) =>
    Effect.sync(() => {
      try {
        control(name, port, "stop", "-m", "immediate")
      } catch {
        // It was killed already.
      }
    })
  const copy = (from: number, name: string) =>
    run(
      "pg_basebackup",
      ...["-D", join(directory, name), "-R", "-X", "stream", "-c", "fast"],
      ...["-d", `host=127.0.0.1 port=${from} user=postgres application_name=${name}`]
    )
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      run("initdb", "-D", join(directory, "one"), "-U", "postgres", "-A", "trust")
      appendFileSync(join(directory, "one", "postgresql.conf"), "synchronous_standby_names = '*'\n")
      appendFileSync(join(directory, "one", "pg_hba.conf"), "host replication all 127.0.0.1/32 trust\n")
      control("one", first, "start")
      copy(first, "two")
      // Once promoted, it has no standby to wait for.
      appendFileSync(join(directory, "two", "postgresql.conf"), "synchronous_standby_names = ''\n")
      control("two", second, "start")
    }),
    () => Effect.andThen(stopped("one", first), stopped("two", second))
  )
  const pid = (name: string) =>
    Number.parseInt(readFileSync(join(directory, name, "postmaster.pid"), "utf8"), 10)
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    /** The address of another server, which follows the first or the second. */
    follower: Effect.fnUntraced(function* (name: string, of: "one" | "two") {
      const port = yield* freePort(0)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          copy(of === "one" ? first : second, name)
          control(name, port, "start")
        }),
        () => stopped(name, port)
      )
      return urlOf(port)
    }),
    url: (order: "primary first" | "standby first") => {
      const hosts = [`127.0.0.1:${first}`, `127.0.0.1:${second}`]
      return `postgres://postgres@${(order === "primary first" ? hosts : hosts.toReversed()).join(",")}/postgres?target_session_attrs=read-write`
    },
    primaryUrl: urlOf(first),
    standbyUrl: urlOf(second),
    killPrimary: Effect.sync(() => process.kill(pid("one"), "SIGKILL")),
    killStandby: Effect.sync(() => process.kill(pid("two"), "SIGKILL")),
    promote: Effect.sync(() => control("two", second, "promote"))
  }
})
