// Detects a database in DATA_DIR that this service did not create or cannot read, and must not touch.
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { postgresMajor } from "./PostgresProgram.ts"

const unchanged = "Nothing in it was changed. Set DATA_DIR to another directory"

/** The major version of the cluster in this directory. */
const majorIn = (directory: string): string | undefined => {
  const path = join(directory, "PG_VERSION")
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined
}

const notOurs = (directory: string, major: string) =>
  `DATA_DIR: ${directory} is a Postgres ${major} or PGlite database that this service did not create. ${unchanged}; to use that database, start its own server and set DATABASE_URL.`

/** The reason why nothing may be written in this directory: it is a cluster, or within one. */
export const whyNotWithin = (dataDir: string): string | undefined => {
  let directory = resolve(dataDir)
  for (;;) {
    const major = majorIn(directory)
    if (major !== undefined) return notOurs(directory, major)
    const parent = dirname(directory)
    if (parent === directory) return undefined
    directory = parent
  }
}

/** The reason why the embedded database cannot be in this directory. */
export const whyNotEmbedded = (directory: string): string | undefined => {
  const within = whyNotWithin(directory)
  if (within !== undefined) return within
  const lite = join(directory, "pgdata")
  if (majorIn(lite) !== undefined)
    return `DATA_DIR: ${lite} is a PGlite database of an earlier release, which this one does not read. ${unchanged}, or start the earlier release to read it.`
  const data = join(directory, "data")
  const major = majorIn(data)
  if (major === undefined) return undefined
  if (!existsSync(join(directory, "start.lock"))) return notOurs(data, major)
  return major === postgresMajor
    ? undefined
    : `DATA_DIR: ${data} is a database of Postgres ${major}; this release reads ${postgresMajor}. ${unchanged}, or start the release that made it and move the database with "bun run cli backup".`
}
