// A Postgres data directory and its server: created, secured, started and stopped.
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { basename, join, relative, resolve } from "node:path"
import { Redacted } from "effect"
import {
  makePassword,
  readPassword,
  requirePassword,
  requiresPassword,
  storePassword
} from "../EmbeddedPassword.ts"
import { whyNotEmbedded } from "../foreignCluster.ts"
import { findPostgresProgram, type PostgresProgram } from "../PostgresProgram.ts"
import { postgresAnswers } from "../postgresAnswers.ts"
import { isAlive, isPostgresIn } from "../ServerProcess.ts"
import { takeInheritedLock } from "../takeInheritedLock.ts"

/** The longest path of a socket's address, without its terminator (Linux 107 bytes, macOS 103). */
const maxSocketPathLength = 103
/** The time for which the start of a server that ends immediately is retried: a killed server may still be ending. */
const retryMillis = 10_000
const stopMillis = 15_000
const logLimitBytes = 10_000_000
/** The prefix of a data directory that is being created. */
const partialPrefix = "data.new."

/** For a small machine; features that the service does not use are off. */
const settings = {
  listen_addresses: "",
  port: "5432",
  unix_socket_directories: ".",
  unix_socket_permissions: "0700",
  shared_buffers: "64MB",
  max_connections: "100",
  min_wal_size: "32MB",
  max_wal_size: "256MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  io_method: "sync",
  jit: "off",
  max_logical_replication_workers: "0",
  autovacuum_max_workers: "2",
  log_checkpoints: "off",
  fsync: "on",
  timezone: "UTC"
}

const sleep = (millis: number) => new Promise<void>((done) => setTimeout(done, millis))

export class Cluster {
  readonly directory: string
  readonly data: string
  readonly log: string
  /** The shorter of its two paths, because a socket's address is short. */
  readonly socket: string
  private readonly flags: ReadonlyArray<string>
  private program: PostgresProgram | undefined
  /** The reason why the last child did not start. */
  private startError: string | undefined

  constructor(directory: string, overrides: Readonly<Record<string, string>>) {
    this.directory = resolve(directory)
    this.data = join(this.directory, "data")
    this.log = join(this.directory, "postgres.log")
    const absolutePath = join(this.data, `.s.PGSQL.${overrides["port"] ?? settings.port}`)
    const relativePath = relative(process.cwd(), absolutePath)
    this.socket = relativePath.length < absolutePath.length ? relativePath : absolutePath
    this.flags = Object.entries({ ...settings, ...overrides }).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`
    ])
  }

  /** Refuses a directory that this release did not create, and changes nothing in it. */
  check(): void {
    if (Buffer.byteLength(this.socket) > maxSocketPathLength)
      throw new Error(
        `DATA_DIR: ${this.directory} is too long a path for the socket of the embedded database. Set DATA_DIR to a shorter one.`
      )
    const why = whyNotEmbedded(this.directory)
    if (why !== undefined) throw new Error(why)
  }

  private getProgram(): PostgresProgram {
    this.program ??= findPostgresProgram(this.data, this.directory)
    return this.program
  }

  /** If the service is root on Linux, Postgres's user can reach the data only through its working directory. */
  private options(cwd: string) {
    const { directory, runAs } = this.getProgram()
    return {
      directory,
      dataPath: runAs !== undefined && process.platform === "linux" ? "/proc/self/cwd" : resolve(cwd),
      spawn: { ...runAs, cwd, env: { LC_ALL: "C", PATH: process.env["PATH"] ?? "/usr/bin:/bin" } }
    }
  }

  /** Creates the data directory, completely or not at all. */
  private initialise(): void {
    const { runAs } = this.getProgram()
    // Created under a unique name: the processes of a killed start delete their directory when they end.
    for (const name of readdirSync(this.directory))
      if (name.startsWith(partialPrefix)) rmSync(join(this.directory, name), { recursive: true, force: true })
    const partial = mkdtempSync(join(this.directory, partialPrefix))
    const { directory, dataPath, spawn: spawnOptions } = this.options(partial)
    if (runAs !== undefined) chownSync(partial, runAs.uid, runAs.gid)
    const { error, status, stderr, stdout } = spawnSync(
      join(directory, "bin", "initdb"),
      [
        ...["-D", dataPath, "-U", "postgres", "-A", "reject", "-E", "UTF8"],
        ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "-c", "jit=off"],
        // Syncs a thousand files in one call, on systems that support it.
        ...(process.platform === "linux" ? ["--sync-method=syncfs"] : [])
      ],
      { ...spawnOptions, encoding: "utf8" }
    )
    if (error !== undefined || status !== 0) {
      rmSync(partial, { recursive: true, force: true })
      const why = error?.message ?? (stderr.trim() === "" ? stdout : stderr).trim().split("\n").join(" ")
      throw new Error(`DATA_DIR: the embedded database could not be created in ${this.directory}: ${why}`)
    }
    renameSync(partial, this.data)
  }

  private pidFile(): { readonly pid: number; readonly isReady: boolean } | undefined {
    const path = join(this.data, "postmaster.pid")
    if (!existsSync(path)) return undefined
    const lines = readFileSync(path, "utf8").split("\n")
    const pid = Number.parseInt(lines[0] ?? "", 10)
    return Number.isNaN(pid) ? undefined : { pid, isReady: lines[7]?.trim() === "ready" }
  }

  /**
   * Empties the log at its size limit: each failing statement adds a line. It is truncated in place, because a running
   * server appends to it.
   */
  boundLog(): void {
    if (existsSync(this.log) && statSync(this.log).size > logLimitBytes) truncateSync(this.log)
  }

  /**
   * The running server's process, or undefined. After a failed start, the file may contain another program's number.
   */
  running(): number | undefined {
    const pid = this.pidFile()?.pid
    if (pid === undefined || !isAlive(pid)) return undefined
    return isPostgresIn(pid, this.data) === false ? undefined : pid
  }

  /**
   * Makes Postgres ignore stale pid files. Call it with the server's lock held. After a restart of the machine or its
   * container, the number in the files may belong to another program or another Postgres; a power cut may leave the
   * files empty. Postgres treats its own parent's number as stale, and still checks for its own shared memory.
   */
  private disownFiles(): void {
    const pid = this.pidFile()?.pid
    if (pid !== undefined && isAlive(pid) && isPostgresIn(pid, this.data) === true) return
    const path = join(this.data, "postmaster.pid")
    if (pid !== undefined)
      writeFileSync(path, readFileSync(path, "utf8").replace(/^\d+/, String(process.pid)))
    else rmSync(path, { force: true })
    rmSync(join(this.data, `${basename(this.socket)}.lock`), { force: true })
  }

  /** True if the process is this data's server. If the system does not say, the server's lock decides. */
  private serves(pid: number): boolean {
    const isServer = isPostgresIn(pid, this.data)
    if (isServer !== undefined) return isServer
    const lock = takeInheritedLock(join(this.directory, "postgres.lock"))
    if (lock !== undefined) closeSync(lock)
    return lock === undefined
  }

  /** Undefined if a server that does not respond holds the data already, perhaps in another container. */
  private spawn(): ChildProcess | undefined {
    const lock = takeInheritedLock(join(this.directory, "postgres.lock"))
    if (lock === undefined) return undefined
    try {
      this.disownFiles()
      return this.spawnLocked(lock)
    } finally {
      closeSync(lock)
    }
  }

  private spawnLocked(lock: number): ChildProcess {
    this.startError = undefined
    const { directory, dataPath, spawn: spawnOptions } = this.options(this.data)
    this.boundLog()
    const log = openSync(this.log, "a", 0o600)
    // In its own session: Ctrl-C goes to the service, which stops the server when no process needs it.
    const child = spawn(join(directory, "bin", "postgres"), ["-D", dataPath, ...this.flags], {
      ...spawnOptions,
      detached: true,
      stdio: ["ignore", log, log, lock]
    })
    closeSync(log)
    child.unref()
    // The program is gone, or the system accepts no more processes: such a child has no exit code.
    child.once("error", ({ message }) => {
      this.startError = message
      this.program = undefined
    })
    return child
  }

  /** Sets the password in single-user mode, which requires none. False if another server holds the data. */
  private setPassword(password: string): boolean {
    const lock = takeInheritedLock(join(this.directory, "postgres.lock"))
    if (lock === undefined) return false
    try {
      this.disownFiles()
      const { directory, dataPath, spawn: spawnOptions } = this.options(this.data)
      const { error, status, stderr } = spawnSync(
        join(directory, "bin", "postgres"),
        ["--single", "-D", dataPath, ...this.flags, "-c", "exit_on_error=on", "postgres"],
        {
          ...spawnOptions,
          encoding: "utf8",
          input: `ALTER ROLE postgres PASSWORD '${password}'\n`,
          stdio: ["pipe", "ignore", "pipe", lock]
        }
      )
      if (error !== undefined || status !== 0) throw error ?? new Error(stderr.trim().split("\n").join(" "))
      return true
    } finally {
      closeSync(lock)
    }
  }

  /**
   * Creates the cluster if there is none, and makes it require the password in the file, which clusters of an earlier
   * release did not. If others use the cluster, a later start does this. False while a silent server holds the data.
   */
  async secure(isUsed: boolean): Promise<boolean> {
    if (!existsSync(join(this.data, "PG_VERSION"))) this.initialise()
    const storedPassword = readPassword(this.directory)
    const isPasswordRequired = requiresPassword(this.data)
    if (isPasswordRequired && storedPassword !== undefined) return true
    if (isUsed) {
      if (!isPasswordRequired) return true
      throw new Error(
        `DATA_DIR: ${join(this.directory, "password")} is missing or damaged, and other processes use the embedded database. Stop them: the next start makes a new password.`
      )
    }
    await this.stop()
    const password = storedPassword ?? makePassword()
    // In this order, so that the file never contains a password that the server does not have.
    const end = Date.now() + retryMillis
    for (;;) {
      try {
        if (!this.setPassword(password)) return false
        break
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        if (Date.now() > end)
          throw new Error(
            `DATA_DIR: the password of the embedded database in ${this.directory} could not be set: ${why}. Its data was not changed.`
          )
        await sleep(200)
      }
    }
    storePassword(this.directory, password)
    requirePassword(this.data, this.getProgram().runAs)
    return true
  }

  password(): Redacted.Redacted {
    return Redacted.make(readPassword(this.directory) ?? "")
  }

  private logEnd(): string {
    if (!existsSync(this.log)) return ""
    return readFileSync(this.log, "utf8").trim().split("\n").slice(-3).join(" ")
  }

  /** True if a server runs and responds; starts one if there is none. False while a silent server holds the data. */
  async ensure(): Promise<boolean> {
    if (!existsSync(join(this.data, "PG_VERSION")))
      throw new Error(`DATA_DIR: the embedded database in ${this.directory} is gone. Restore a backup.`)
    let child: ChildProcess | undefined
    let endedAt: number | undefined
    for (;;) {
      const answers = await postgresAnswers(this.socket)
      if (answers && this.pidFile()?.isReady === true) return true
      const ended =
        child === undefined ||
        this.startError !== undefined ||
        child.exitCode !== null ||
        child.signalCode !== null
      if (ended && !answers) {
        if (child !== undefined) {
          endedAt ??= Date.now()
          if (Date.now() > endedAt + retryMillis)
            throw new Error(
              `DATA_DIR: the embedded database in ${this.directory} does not start: ${this.startError ?? this.logEnd()}`
            )
          await sleep(200)
        }
        child = this.spawn()
        if (child === undefined) return false
      }
      await sleep(5)
    }
  }

  /** Ends its sessions, writes its data and stops it. */
  async stop(): Promise<void> {
    const pid = this.running()
    if (pid === undefined || !this.serves(pid)) return
    process.kill(pid, "SIGINT")
    const end = Date.now() + stopMillis
    while (isAlive(pid) && Date.now() < end) await sleep(10)
    // Committed data is in the write-ahead log, which the next start replays.
    if (isAlive(pid)) process.kill(pid, "SIGQUIT")
  }
}
