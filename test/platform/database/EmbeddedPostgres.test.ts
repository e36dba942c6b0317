// The Postgres that comes with the service: which process starts it, joins it and stops it, and what is refused.
import { describe, expect, test } from "bun:test"
import { spawn } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { SQL } from "bun"
import { Effect, Fiber, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { AppConfig } from "../../../src/platform/AppConfig.ts"
import * as Database from "../../../src/platform/Database.ts"
import {
  type EmbeddedPostgres,
  joinEmbeddedPostgres
} from "../../../src/platform/database/EmbeddedPostgres.ts"
import { hold, holdAlone } from "../../../src/platform/database/FileLock.ts"
import { Migrations } from "../../../src/platform/database/migrations.ts"
import { isAlive } from "../../../src/platform/database/ServerProcess.ts"
import { send } from "../../support/contractCheck.ts"
import { noteFault } from "../../support/faultTable.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"
import { smallDisk } from "../../support/smallDisk.ts"

const noChain = { BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9", ARBITRUM_RPC_URLS: "http://127.0.0.1:9" }

const serverOf = (dataDir: string): number | undefined => {
  const file = join(dataDir, "postgres", "data", "postmaster.pid")
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : undefined
}
const until = (holds: () => boolean | Promise<boolean>, millis = 60_000) =>
  Effect.promise(async () => {
    const end = Date.now() + millis
    while (!(await holds())) {
      if (Date.now() > end) throw new Error("it did not come true in time")
      await Bun.sleep(20)
    }
  })
/** Empty if the process has ended. */
const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return ""
  }
}
/** Unfinished data directories. */
const partial = (dataDir: string) =>
  readdirSync(join(dataDir, "postgres")).filter((name) => name.startsWith("data."))
const clientOf = ({ database, password, path, username }: EmbeddedPostgres) =>
  new SQL({ adapter: "postgres", path, username, password: Redacted.value(password), database, max: 1 })
const service = (dataDir: string) =>
  spawnService({ DATA_DIR: dataDir, RATE_LIMIT_PER_KEY: "100000", ...noChain })
const cli = (dataDir: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const program = yield* spawnProgram(["src/app/cli/main.ts", ...args], { DATA_DIR: dataDir })
    const code = yield* program.exited
    return { code, output: program.output(), stdout: program.stdout() }
  })
let merchants = 0
const newMerchant = (dataDir: string) =>
  Effect.map(
    cli(
      dataDir,
      "merchant",
      "create",
      "--name",
      "Shop",
      "--receiver",
      `0x${(++merchants).toString(16).padStart(40, "a")}`,
      "--json"
    ),
    // Progress is on standard error.
    ({ stdout }) => JSON.parse(stdout).keys.test
  )
const openPayment = async (baseUrl: string, keys: { secret: string; publishable: string }) => {
  const intent = await send(baseUrl, {
    method: "POST",
    path: "/api/v1/payment-intents",
    key: keys.secret,
    body: { amount: "1.00", intentUrl: "https://shop.example.com/" }
  })
  const opened = await send(baseUrl, {
    method: "POST",
    path: "/api/v1/payments",
    key: keys.publishable,
    body: { intentToken: intent.body.intentToken }
  })
  return opened.status === 201 ? String(opened.body.payment.id) : undefined
}
const retrieve = (baseUrl: string, id: string, key: string) =>
  send(baseUrl, { method: "GET", path: `/api/v1/payments/${id}`, key })

describe("the embedded Postgres", () => {
  liveEffect(
    "serves the CLI and a second instance together with the service; the last one to leave stops it",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        const first = yield* service(dataDir)
        yield* untilReady(first)
        const keys = yield* newMerchant(dataDir)
        const second = yield* service(dataDir)
        yield* untilReady(second)
        const server = serverOf(dataDir) ?? 0
        const id = (yield* Effect.promise(() => openPayment(first.baseUrl, keys))) ?? ""
        expect((yield* Effect.promise(() => retrieve(second.baseUrl, id, keys.secret))).status).toBe(200)
        yield* first.kill("SIGTERM")
        yield* first.succeeded
        expect(isAlive(server)).toBeTrue()
        expect((yield* Effect.promise(() => retrieve(second.baseUrl, id, keys.secret))).status).toBe(200)
        yield* second.kill("SIGTERM")
        yield* second.succeeded
        expect(isAlive(server)).toBeFalse()
        expect(serverOf(dataDir)).toBeUndefined()
      })
  )

  liveEffect("four processes that start at once on an empty directory create one database", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const made = yield* Effect.all(
        Array.from({ length: 4 }, () => newMerchant(dataDir)),
        { concurrency: 4 }
      )
      expect(new Set(made.map(({ secret }) => secret)).size).toBe(4)
      const { stdout } = yield* cli(dataDir, "merchant", "list", "--json")
      expect(JSON.parse(stdout).merchants).toHaveLength(4)
    })
  )

  liveEffect(
    "kill -9 of Postgres, of the service and of both: it comes back with everything acknowledged",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        const keys = yield* newMerchant(dataDir)
        const acknowledged: Array<string> = []
        let running = yield* service(dataDir)
        yield* untilReady(running)
        const kinds = ["Postgres", "the service", "both"] as const
        const rounds = process.env["FAULTS"] === "all" ? 200 : 5
        for (let round = 0; round < rounds; round++) {
          const killed = kinds[round % kinds.length]
          const { baseUrl } = running
          const earlier = acknowledged.length
          let goes = true
          const writers = Array.from({ length: 4 }, async () => {
            while (goes) {
              const id = await openPayment(baseUrl, keys).catch(() => undefined)
              if (id !== undefined) acknowledged.push(id)
              else await Bun.sleep(20)
            }
          })
          yield* Effect.sleep("400 millis")
          yield* until(() => acknowledged.length >= earlier + 25)
          const server = serverOf(dataDir) ?? 0
          if (killed !== "the service") process.kill(server, "SIGKILL")
          if (killed === "Postgres") {
            // Sessions of the killed server continue until they notice.
            yield* until(() => ![server, undefined].includes(serverOf(dataDir)))
            const before = acknowledged.length
            yield* until(() => acknowledged.length > before + 20)
          } else {
            yield* running.kill("SIGKILL")
            yield* running.exited
          }
          goes = false
          yield* Effect.promise(() => Promise.all(writers))
          if (killed !== "Postgres") {
            running = yield* service(dataDir)
            yield* untilReady(running)
          }
          for (const id of acknowledged.slice(-50)) {
            const { status } = yield* Effect.promise(() => retrieve(running.baseUrl, id, keys.secret))
            expect([killed, status]).toEqual([killed, 200])
          }
        }
        // All of them, not only the newest.
        for (const id of acknowledged.slice(-5_000)) {
          const { status } = yield* Effect.promise(() => retrieve(running.baseUrl, id, keys.secret))
          expect([id, status]).toEqual([id, 200])
        }
        noteFault(
          `kill -9 of Postgres, the service, both: ${rounds} rounds`,
          `${acknowledged.length} payments acknowledged, the newest 5,000 found again`
        )
        expect(acknowledged.length).toBeGreaterThan(100)
        yield* running.kill("SIGTERM")
        yield* running.succeeded
        expect(serverOf(dataDir)).toBeUndefined()
      }),
    process.env["FAULTS"] === "all" ? 1_200_000 : 240_000
  )

  liveEffect(
    "files of a server that is gone block no start, whatever they contain and whichever process has its id",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        yield* newMerchant(dataDir)
        const data = join(dataDir, "postgres", "data")
        // As after a restart of the machine: the files exist, and the process id belongs to another of that user's
        // processes.
        const { gid, uid } = statSync(data)
        const programs = yield* temporaryDirectory
        chmodSync(programs, 0o755)
        copyFileSync("/bin/sleep", join(programs, "postgres"))
        const spawned = (program: string) =>
          Effect.acquireRelease(
            Effect.sync(() => spawn(program, ["60"], { uid, gid, cwd: programs })),
            (running) => Effect.sync(() => running.kill())
          )
        const other = yield* spawned("sleep")
        const foreign = yield* spawned(join(programs, "postgres"))
        const told = (pid: number | undefined) =>
          [pid, data, 1, 5432, ".", "", " 1 1", "ready   ", ""].join("\n")
        for (const [pidFile, socketLock] of [
          [told(other.pid), told(other.pid)],
          [told(foreign.pid), told(foreign.pid)],
          ["", ""]
        ] as const) {
          for (const [name, text] of [
            ["postmaster.pid", pidFile],
            [".s.PGSQL.5432.lock", socketLock]
          ] as const) {
            writeFileSync(join(data, name), text)
            chownSync(join(data, name), uid, gid)
          }
          // That process is not stopped either when this server must be.
          rmSync(join(dataDir, "postgres", "password"))
          const { code, output } = yield* cli(dataDir, "merchant", "list")
          expect([code, output]).toEqual([0, expect.stringContaining("Shop")])
        }
        for (const { pid } of [other, foreign]) expect(isAlive(pid ?? 0)).toBeTrue()
      })
  )

  liveEffect("a Postgres that ended but is still in the process table blocks no start", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      yield* newMerchant(dataDir)
      const data = join(dataDir, "postgres", "data")
      const { gid, uid } = statSync(data)
      const programs = yield* temporaryDirectory
      chmodSync(programs, 0o755)
      copyFileSync("/bin/sleep", join(programs, "postgres"))
      // The first process of a container may be like this one, which never waits for its children.
      const parent = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("sh", ["-c", `"${programs}/postgres" 0.1 & echo $!; exec sleep 60`], { uid, gid })
        ),
        (running) => Effect.sync(() => running.kill())
      )
      const pid = yield* Effect.promise(
        () => new Promise<number>((done) => parent.stdout.once("data", (text) => done(Number(text))))
      )
      yield* until(() => !isAlive(pid))
      const file = join(data, "postmaster.pid")
      writeFileSync(file, [pid, data, 1, 5432, ".", "", " 1 1", "ready   ", ""].join("\n"))
      chownSync(file, uid, gid)
      const { code, output } = yield* cli(dataDir, "merchant", "list")
      expect([code, output]).toEqual([0, expect.stringContaining("Shop")])
    })
  )

  liveEffect(
    "no second Postgres starts on the data of another container's, even while that one is suspended",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        yield* joinEmbeddedPostgres(directory)
        const data = join(directory, "data")
        const file = join(data, "postmaster.pid")
        const log = join(directory, "postgres.log")
        const told = readFileSync(file, "utf8")
        const server = Number.parseInt(told, 10)
        // As another container sees it: it does not answer, and no process has its id.
        process.kill(server, "SIGSTOP")
        yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(server, "SIGCONT")))
        renameSync(join(data, ".s.PGSQL.5432"), join(data, "away"))
        writeFileSync(file, told.replace(/^\d+/, "999999999"))
        const logged = readFileSync(log, "utf8")
        const second = yield* Effect.forkScoped(Effect.scoped(joinEmbeddedPostgres(directory)))
        yield* Effect.sleep("1500 millis")
        expect(readFileSync(log, "utf8")).toBe(logged)
        expect(second.pollUnsafe()).toBeUndefined()
        writeFileSync(file, told)
        renameSync(join(data, "away"), join(data, ".s.PGSQL.5432"))
        process.kill(server, "SIGCONT")
        yield* Fiber.join(second)
        expect(isAlive(server)).toBeTrue()
      })
  )

  liveEffect(
    "a server that accepts connections without answering is not joined; after its end another starts",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        const { path } = yield* joinEmbeddedPostgres(directory)
        const server = Number.parseInt(readFileSync(join(directory, "data", "postmaster.pid"), "utf8"), 10)
        // As while it is being killed, however long that takes.
        process.kill(server, "SIGSTOP")
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => isAlive(server) && process.kill(server, "SIGCONT"))
        )
        const taken = yield* Effect.promise(
          () => new Promise((done) => connect({ path }, () => done(true)).once("error", () => done(false)))
        )
        expect(taken).toBeTrue()
        const second = yield* Effect.forkScoped(joinEmbeddedPostgres(directory))
        yield* Effect.sleep("1500 millis")
        expect(second.pollUnsafe()).toBeUndefined()
        process.kill(server, "SIGKILL")
        const sql = clientOf(yield* Fiber.join(second))
        expect(yield* Effect.promise(() => sql`SELECT 1 AS one`)).toEqual([
          expect.objectContaining({ one: 1 })
        ])
        yield* Effect.promise(() => sql.close())
      })
  )

  liveEffect("its log is bounded, also while it runs", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporaryDirectory, "postgres")
      const joined = yield* joinEmbeddedPostgres(directory)
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => clientOf(joined)),
        (open) => Effect.promise(() => open.close())
      )
      const log = join(directory, "postgres.log")
      appendFileSync(log, Buffer.alloc(11_000_000, "x"))
      yield* until(() => statSync(log).size < 10_000_000)
      yield* Effect.promise(() => sql`SELECT 1 / 0`.catch(() => undefined))
      yield* until(() => readFileSync(log, "utf8").includes("division by zero"))
      expect(statSync(log).size).toBeLessThan(10_000_000)
    })
  )

  liveEffect("a server that fails to restart is tried again until the cause is repaired", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const embedded = yield* joinEmbeddedPostgres(directory)
      const settings = join(directory, "data", "postgresql.conf")
      const right = readFileSync(settings, "utf8")
      writeFileSync(settings, `${right}\nnonsense = 1\n`)
      process.kill(
        Number.parseInt(readFileSync(join(directory, "data", "postmaster.pid"), "utf8"), 10),
        "SIGKILL"
      )
      // Longer than one try.
      yield* Effect.sleep("13 seconds")
      writeFileSync(settings, right)
      yield* until(async () => {
        const answer = await Effect.runPromise(Effect.exit(ask(embedded, "SELECT 1")))
        return answer._tag === "Success"
      })
    })
  )

  liveEffect(
    "a server that is killed while the service migrates is started again, and the service continues",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        const made = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE kept (n int)`)
        let begun = 0
        const killing = {
          // Read when it is this migration's turn.
          get "0001_kept"() {
            begun += 1
            if (begun > 1) return { up: made }
            process.kill(serverOf(dataDir) ?? 0, "SIGKILL")
            // Its sessions live on until they notice.
            const noticed = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT pg_sleep(60)`)
            return { up: Effect.andThen(noticed, made) }
          }
        }
        const found = yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT n FROM kept`).pipe(
          Effect.provide(
            Database.layer.pipe(
              Layer.provide(Layer.succeed(Migrations, killing)),
              Layer.provide(AppConfig.layer({ DATA_DIR: dataDir }))
            )
          )
        )
        expect(found).toEqual([])
        expect(begun).toBeGreaterThan(1)
      })
  )

  liveEffect("a start that waits for a suspended server says so, and SIGTERM ends it", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      mkdirSync(join(dataDir, "postgres"))
      const path = join(dataDir, "postgres", "start.lock")
      const held = holdAlone(path)
      yield* Effect.addFinalizer(() => Effect.sync(() => held?.close()))
      const waiting = yield* service(dataDir)
      yield* until(() => waiting.output().includes(`Waiting for ${path}`))
      if (process.platform === "linux") expect(waiting.output()).toContain(`process ${process.pid} `)
      const since = performance.now()
      yield* waiting.kill("SIGTERM")
      yield* waiting.exited
      expect(performance.now() - since).toBeLessThan(15_000)
    })
  )

  /** Every name below it, with the properties that a write would change. */
  const treeOf = (directory: string) =>
    [".", ...new Bun.Glob("**/*").scanSync({ cwd: directory, onlyFiles: false, dot: true })]
      .toSorted()
      .map((name) => {
        const { ctimeMs, mode, mtimeMs, size } = statSync(join(directory, name))
        return [name, mode, size, mtimeMs, ctimeMs]
      })
  for (const [what, at, version, env, words] of [
    ["a PGlite database of an earlier release", "postgres/pgdata", "17", {}, ["PGlite", "earlier release"]],
    ["a database of another major version", "postgres/data", "17", {}, ["Postgres 17", "reads 18"]],
    ["a foreign cluster", ".", "18", {}, ["Postgres 18", "did not create"]],
    ["a foreign cluster, with a DATABASE_URL", ".", "18", { DATABASE_URL: "postgres://127.0.0.1:9/x" }, []],
    ["a foreign cluster with the name of the service's directory", "postgres", "18", {}, ["did not create"]],
    ["a foreign cluster in the service's place", "postgres/data", "18", {}, ["did not create"]],
    ["a directory in a foreign cluster", "..", "18", {}, ["did not create"]]
  ] as const) {
    liveEffect(`${what} is reported, and not touched`, () =>
      Effect.gen(function* () {
        const root = yield* temporaryDirectory
        const dataDir = join(root, "given")
        const cluster = join(dataDir, at)
        mkdirSync(cluster, { recursive: true })
        writeFileSync(join(cluster, "PG_VERSION"), `${version}\n`)
        if (version !== "18") {
          mkdirSync(join(dataDir, "postgres"), { recursive: true })
          writeFileSync(join(dataDir, "postgres", "start.lock"), "")
        }
        const before = treeOf(root)
        const refused = yield* spawnProgram(["src/app/main.ts"], {
          DATA_DIR: dataDir,
          PORT: String(yield* freePort(0)),
          ...noChain,
          ...env
        })
        expect(yield* refused.exited).toBe(1)
        expect(refused.output().trim().split("\n")).toHaveLength(1)
        for (const word of [...words, "DATA_DIR", cluster, "Nothing in it was changed"])
          expect(refused.output()).toContain(word)
        expect(treeOf(root)).toEqual(before)
      })
    )
  }

  liveEffect("a path too long for a socket is refused before anything is created", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* temporaryDirectory, "d".repeat(120))
      const { code, output } = yield* cli(dataDir, "merchant", "list")
      expect(code).toBe(1)
      expect(output).toContain("DATA_DIR")
      expect(existsSync(join(dataDir, "postgres"))).toBeFalse()
    })
  )

  liveEffect("acknowledged data are on the disk: fsync, full pages, no listener on the network", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const sql = clientOf(yield* joinEmbeddedPostgres(directory))
      const [row] = yield* Effect.promise(
        () => sql`
          SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
            current_setting('full_page_writes') AS pages, current_setting('listen_addresses') AS addresses`
      )
      yield* Effect.promise(() => sql.close())
      expect(row).toEqual({ fsync: "on", commit: "on", pages: "on", addresses: "" })
    })
  )

  const ask = (embedded: EmbeddedPostgres, statement: string) =>
    Effect.promise(async () => {
      const sql = clientOf(embedded)
      try {
        return await sql.unsafe(statement)
      } finally {
        await sql.close()
      }
    })
  const methods = (directory: string) =>
    readFileSync(join(directory, "data", "pg_hba.conf"), "utf8")
      .split("\n")
      .filter((line) => /^[^#\s]/.test(line))
      .map((line) => line.split(/\s+/).at(-1))
  const expectSecured = Effect.fnUntraced(function* (directory: string, embedded: EmbeddedPostgres) {
    expect(new Set(methods(directory))).toEqual(new Set(["scram-sha-256"]))
    const file = statSync(join(directory, "password"))
    expect([file.mode & 0o777, file.uid]).toEqual([0o600, process.getuid?.() ?? 0])
    expect(Redacted.value(embedded.password)).toMatch(/^[\w-]{43}$/)
    for (const password of ["", "postgres"]) {
      const refused = yield* Effect.exit(
        ask({ ...embedded, password: Redacted.make(password) }, "SELECT 1").pipe(Effect.timeout("5 seconds"))
      )
      expect(refused._tag).toBe("Failure")
    }
  })

  liveEffect("every client needs a generated password, in a file that only its owner can read", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const embedded = yield* joinEmbeddedPostgres(directory)
      yield* expectSecured(directory, embedded)
      const { username, ...second } = yield* joinEmbeddedPostgres(directory)
      expect(Redacted.value(second.password)).toBe(Redacted.value(embedded.password))
      if (isRoot) {
        const file = join(directory, "password")
        chmodSync(directory, 0o755)
        const other = Bun.spawnSync(["setpriv", "--reuid=nobody", "--clear-groups", "cat", file])
        expect(other.exitCode).not.toBe(0)
      }
    })
  )

  /** A cluster as an earlier release left it, with a row in it. */
  const trusting = Effect.fnUntraced(function* (directory: string) {
    yield* Effect.scoped(
      Effect.flatMap(joinEmbeddedPostgres(directory), (embedded) =>
        Effect.andThen(
          ask(embedded, "CREATE TABLE kept AS SELECT 42 AS n"),
          ask(embedded, "ALTER ROLE postgres PASSWORD NULL")
        )
      )
    )
    trust(directory)
    rmSync(join(directory, "password"))
  })
  const trust = (directory: string) =>
    writeFileSync(join(directory, "data", "pg_hba.conf"), "local all all trust\n")
  const kept = Effect.fnUntraced(function* (directory: string) {
    const embedded = yield* joinEmbeddedPostgres(directory)
    yield* expectSecured(directory, embedded)
    expect(yield* ask(embedded, "SELECT n FROM kept")).toEqual([expect.objectContaining({ n: 42 })])
  }, Effect.scoped)

  liveEffect(
    "a cluster of an earlier release gets a password at the next start, even if that is interrupted",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        yield* trusting(directory)
        yield* kept(directory)
        // The server has a password, but no file has it.
        rmSync(join(directory, "password"))
        trust(directory)
        yield* kept(directory)
        // The file has the password, but the server does not require it yet.
        trust(directory)
        yield* kept(directory)
        // A power cut has left the file empty.
        writeFileSync(join(directory, "password"), "")
        yield* kept(directory)
        rmSync(join(directory, "password"))
        yield* kept(directory)
      })
  )

  liveEffect("a server of an earlier release that others use stays as it is; an unused one is secured", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      yield* trusting(directory)
      // Like a process of that release, which has no password.
      const users = join(directory, "users.lock")
      const earlier = hold(users)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const embedded = yield* joinEmbeddedPostgres(directory)
          expect(methods(directory)).toEqual(["trust"])
          yield* ask({ ...embedded, password: Redacted.make("") }, "SELECT n FROM kept")
          const server = Number.parseInt(readFileSync(join(directory, "data", "postmaster.pid"), "utf8"), 10)
          process.kill(server, "SIGKILL")
          yield* until(async () => {
            const answer = await Effect.runPromise(Effect.exit(ask(embedded, "SELECT n FROM kept")))
            return answer._tag === "Success"
          })
        })
      )
      const pid = Number.parseInt(readFileSync(join(directory, "data", "postmaster.pid"), "utf8"), 10)
      expect(isAlive(pid)).toBeTrue()
      earlier?.close()
      yield* kept(directory)
    })
  )

  const isRoot = process.getuid?.() === 0 && process.platform === "linux"
  const asUser = isRoot ? "" : ": needs root"
  describe.skipIf(!isRoot)(`as root and as a user${asUser}`, () => {
    liveEffect("as root, with data and programs in directories that no other user can enter", () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryDirectory
        chmodSync(dataDir, 0o700)
        const { code } = yield* cli(dataDir, "merchant", "list")
        expect(code).toBe(0)
        const scope = yield* Scope.Scope
        yield* Scope.provide(joinEmbeddedPostgres(join(dataDir, "postgres")), scope)
        const status = readFileSync(`/proc/${serverOf(dataDir)}/status`, "utf8")
        expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).not.toBe("0")
      })
    )

    for (const [what, enter] of [
      ["without the capabilities to become another user", ["setpriv", "--bounding-set=-setuid,-setgid"]],
      ["that may not give files to another user", ["setpriv", "--bounding-set=-chown"]],
      ["in a user namespace without other users", ["unshare", "--map-root-user"]]
    ] as const)
      liveEffect(`as root ${what}: one sentence says what to do, and nothing is left behind`, () =>
        Effect.gen(function* () {
          // Some containers may not.
          if (Bun.spawnSync([...enter, "true"]).exitCode !== 0) return
          const [dataDir, temporary] = [yield* temporaryDirectory, yield* temporaryDirectory]
          const program = yield* spawnProgram(
            ["src/app/cli/main.ts", "merchant", "list"],
            { DATA_DIR: dataDir, TMPDIR: temporary },
            enter
          )
          expect(yield* program.exited).toBe(1)
          expect(program.output().trim().split("\n")).toHaveLength(1)
          for (const words of ["as an ordinary user", "SETUID", "set DATABASE_URL"])
            expect(program.output()).toContain(words)
          expect([...new Bun.Glob("**/*").scanSync({ cwd: temporary, onlyFiles: false })]).toEqual([])
          expect(partial(dataDir)).toEqual([])
        })
      )

    liveEffect("a full disk takes the instance out of rotation until there is space again", () =>
      Effect.gen(function* () {
        const disk = yield* smallDisk
        if (disk === undefined) return
        const running = yield* service(disk.directory)
        yield* untilReady(running)
        disk.fill()
        const told = async () => (await fetch(`${running.baseUrl}/readyz`)).status
        yield* until(async () => (await told()) === 503)
        disk.free()
        yield* until(async () => (await told()) === 200)
        disk.fill()
        // Its server stops with it, although nothing can be written.
        const pid = serverOf(disk.directory) ?? 0
        yield* running.kill("SIGTERM")
        yield* running.exited
        yield* until(() => !isAlive(pid))
      })
    )

    liveEffect("a start on a full disk names the disk and the remedy, and leaves nothing behind", () =>
      Effect.gen(function* () {
        const disk = yield* smallDisk
        if (disk === undefined) return
        const { directory } = disk
        const list = Effect.fnUntraced(function* () {
          const listed = yield* spawnProgram(["src/app/cli/main.ts", "merchant", "list"], {
            DATA_DIR: directory
          })
          return [yield* listed.exited, listed.output()] as const
        })
        disk.fill()
        expect(yield* list()).toEqual([
          1,
          expect.stringMatching(
            /secrets\.json \(ENOSPC.*\)\. Free space on its disk or set INTENT_TOKEN_SECRETS/
          )
        ])
        disk.free()
        expect((yield* list())[0]).toBe(0)
        disk.fill()
        expect(yield* list()).toEqual([
          1,
          expect.stringContaining(
            `The embedded database in ${directory}/postgres cannot be opened. The disk that holds ${directory}/postgres is full (0 MB are free). Free space on it`
          )
        ])
      })
    )

    const asNobody = ["setpriv", "--reuid=nobody", "--clear-groups"]
    // By its absolute path, because a relative one does not show that a parent directory is closed to others.
    const readable =
      isRoot && Bun.spawnSync([...asNobody, "test", "-r", resolve("src/app/cli/main.ts")]).exitCode === 0
    if (!readable) test.skip("as an ordinary user (others cannot read this checkout)", () => {})
    else
      liveEffect("as an ordinary user", () =>
        Effect.gen(function* () {
          const home = mkdtempSync(join(tmpdir(), "quittance-user-"))
          yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(home, { recursive: true, force: true })))
          Bun.spawnSync(["chown", "nobody", home])
          const program = ["src/app/cli/main.ts", "merchant", "list"]
          const child = Bun.spawnSync([...asNobody, process.execPath, ...program], {
            env: { PATH: process.env["PATH"], DATA_DIR: join(home, "data"), HOME: home }
          })
          expect([child.exitCode, child.stderr.toString()]).toEqual([0, ""])

          // Killed while it creates the data: the orphan neither stops nor harms the next start.
          const env = { PATH: process.env["PATH"], DATA_DIR: join(home, "killed"), HOME: home }
          const start = () => Bun.spawn([...asNobody, process.execPath, ...program], { env, stderr: "pipe" })
          const inits = () =>
            readdirSync("/proc").filter(
              (pid) => /^\d+$/.test(pid) && commandOf(pid).includes(`initdb\0-D\0${join(home, "killed")}`)
            )
          // Both are past the stage at which they remove what they have created.
          const postgres = join(home, "killed", "postgres")
          const isWritten = (name: string) => existsSync(join(postgres, name, "PG_VERSION"))
          const written = () => (existsSync(postgres) ? partial(join(home, "killed")).filter(isWritten) : [])
          let orphan: number | undefined
          while (orphan === undefined) {
            const killed = start()
            yield* until(() => written().length > 0 || killed.exitCode !== null, 60_000)
            orphan = inits().map(Number)[0]
            if (orphan !== undefined) process.kill(orphan, "SIGSTOP")
            killed.kill("SIGKILL")
            yield* Effect.promise(() => killed.exited)
            // It had ended before it was seen.
            if (orphan === undefined) rmSync(env.DATA_DIR, { recursive: true, force: true })
          }
          const isOrphan = (pid: number) => pid === orphan
          const next = start()
          yield* until(() => (inits().length > 1 && written().length > 0) || next.exitCode !== null, 60_000)
          const making = inits()
            .map(Number)
            .find((pid) => !isOrphan(pid))
          if (making !== undefined) process.kill(making, "SIGSTOP")
          process.kill(orphan, "SIGTERM")
          process.kill(orphan, "SIGCONT")
          yield* until(() => !inits().map(Number).some(isOrphan), 60_000)
          if (making !== undefined) process.kill(making, "SIGCONT")
          expect([
            yield* Effect.promise(() => next.exited),
            yield* Effect.promise(() => new Response(next.stderr).text())
          ]).toEqual([0, ""])
          expect(partial(join(home, "killed"))).toEqual([])
        })
      )
  })
})
