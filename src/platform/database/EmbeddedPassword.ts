// The password of the embedded Postgres: generated once, in a file that only the service's own user can read, and
// required by each line of pg_hba.conf.
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
import type { RunAs } from "./PostgresProgram.ts"

const hostBased = `# Written by Quittance. The password is in the file beside the data directory.
local all         all     scram-sha-256
host  all         all all scram-sha-256
local replication all     scram-sha-256
host  replication all all scram-sha-256
`

const passwordFile = (directory: string) => join(directory, "password")
const hostBasedFile = (data: string) => join(data, "pg_hba.conf")
const passwordPattern = /^[\w-]{43}$/

/** Replaces a file, completely or not at all. An existing symbolic link is not followed. */
const replace = (path: string, text: string, owner: RunAs | undefined): void => {
  const partial = `${path}.new`
  rmSync(partial, { force: true })
  const file = openSync(partial, "wx", 0o600)
  try {
    writeSync(file, text)
    if (owner !== undefined) fchownSync(file, owner.uid, owner.gid)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(partial, path)
}

export const makePassword = (): string => randomBytes(32).toString("base64url")

/** Undefined if there is none, or if it is damaged. */
export const readPassword = (directory: string): string | undefined => {
  const path = passwordFile(directory)
  if (!existsSync(path)) return undefined
  chmodSync(path, 0o600)
  const text = readFileSync(path, "utf8").trim()
  return passwordPattern.test(text) ? text : undefined
}

/** Owned by the directory's owner, even if root creates it. */
export const storePassword = (directory: string, password: string): void => {
  const owner = process.getuid?.() === 0 ? statSync(directory) : undefined
  replace(passwordFile(directory), `${password}\n`, owner)
}

/** True if a server on this data requires the password from everyone. */
export const requiresPassword = (data: string): boolean => {
  const path = hostBasedFile(data)
  return existsSync(path) && readFileSync(path, "utf8") === hostBased
}

/** Takes effect at the server's next start. */
export const requirePassword = (data: string, server: RunAs | undefined): void =>
  replace(hostBasedFile(data), hostBased, server)
