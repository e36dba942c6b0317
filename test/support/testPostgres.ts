// The Postgres of the tests: the one that comes with the service, in a directory that all runs of a checkout share.
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { SQL } from "bun"
import { Effect, Exit, Redacted, Scope } from "effect"
import { buildIndexes } from "../../src/platform/database/buildIndexes.ts"
import { joinEmbeddedPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { migrate } from "../../src/platform/database/migrate.ts"
import { migrations } from "../../src/platform/database/migrations.ts"

/** Another checkout has its own server, directory and port. */
const checkout = createHash("sha256")
  .update(join(import.meta.dir, "../.."))
  .digest()
const port = String(21_000 + (checkout.readUInt16BE(0) % 8_000))
/** No test's data need to survive a power cut. Some tests put a TCP proxy in front of it. */
const settings = {
  listen_addresses: "127.0.0.1",
  port,
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_connections: "300"
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Drops databases of killed tests; the process's number is in each name. */
const sweep = async (admin: SQL) => {
  const rows = await admin`SELECT datname FROM pg_database WHERE datname ~ '^quittance_[0-9]+_'`
  for (const { datname } of rows) {
    const pid = Number(/_([0-9]+)_/.exec(datname)?.[1])
    if (!isAlive(pid)) await admin.unsafe(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
  }
}

/** Starts or joins it; `leave` stops it if nobody else uses it. */
export const joinTestPostgres = async (): Promise<{
  readonly url: string
  readonly leave: () => Promise<void>
}> => {
  const scope = Effect.runSync(Scope.make())
  const directory = join(
    tmpdir(),
    `quittance-tests-${process.getuid?.() ?? 0}-${checkout.toString("hex", 0, 4)}`
  )
  const { password } = await Effect.runPromise(
    Scope.provide(joinEmbeddedPostgres(directory, settings), scope)
  )
  const url = `postgres://postgres:${Redacted.value(password)}@127.0.0.1:${port}/postgres`
  const admin = new SQL(url, { max: 1 })
  await sweep(admin)
  await admin.close()
  return { url, leave: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** The same server, another database. */
export const databaseUrl = (server: string, name: string): string => {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}

const migrationsDirectory = join(import.meta.dir, "../../migrations")
const templateName = () => {
  const hash = createHash("sha256")
  for (const name of readdirSync(migrationsDirectory).toSorted())
    hash.update(readFileSync(join(migrationsDirectory, name)))
  return `quittance_template_${hash.digest("hex").slice(0, 16)}`
}

/** A database to copy, filled by the first caller for that name; its writers wait for each other. */
const makeTemplate = async (
  server: string,
  name: string,
  { from = "template1", fill }: { readonly from?: string; readonly fill: (url: string) => Promise<unknown> }
): Promise<string> => {
  const admin = new SQL(server, { max: 1 })
  try {
    await admin`SELECT pg_advisory_lock(5107)`
    const [known] = await admin`SELECT 1 FROM pg_database WHERE datname = ${name}`
    if (known !== undefined) return name
    await admin.unsafe(`DROP DATABASE IF EXISTS ${name}_new WITH (FORCE)`)
    await admin.unsafe(`CREATE DATABASE ${name}_new TEMPLATE ${from}`)
    await fill(databaseUrl(server, `${name}_new`))
    await admin.unsafe(`ALTER DATABASE ${name}_new RENAME TO ${name}`)
    return name
  } finally {
    await admin.close()
  }
}

let template: Promise<string> | undefined

/** A migrated database to copy, created once for these migrations. */
export const templateDatabase = (server: string): Promise<string> => {
  template ??= makeTemplate(server, templateName(), {
    fill: (url) =>
      Effect.runPromise(
        Effect.andThen(migrate(migrations, "of the tests"), buildIndexes(migrations, "of the tests")).pipe(
          Effect.provide(PgClient.layer({ url: Redacted.make(url) })),
          Effect.orDie
        )
      )
  })
  return template
}
