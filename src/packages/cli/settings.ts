// The service's URL and key: from flags, then the environment, then the owner-only file that `login` wrote.
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { envs } from "../../domain/networks.ts"
import { CommandRefused } from "./CommandRefused.ts"
import { program } from "./program.ts"

export interface Settings {
  readonly baseUrl: string
  readonly key: string
  /** Signs the requests of `listen` and `trigger`. `login` creates and stores it. */
  readonly webhookSecret: string
}

type Stored = { readonly [K in keyof Settings]?: string }

/** An empty variable counts as unset, because .env files often list variables without a value. */
export const envValue = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  env[name] === "" ? undefined : env[name]

export const settingsPath = (env: NodeJS.ProcessEnv = process.env): string =>
  envValue(env, "QUITTANCE_CONFIG") ??
  join(envValue(env, "XDG_CONFIG_HOME") ?? join(homedir(), ".config"), "quittance", "cli.json")

const isMissing = (error: unknown) =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT"

const readStored = (path: string): Stored => {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    if (isMissing(error)) return {}
    throw new CommandRefused(
      `${path} cannot be read. Correct its permissions, or delete it and log in again.`
    )
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).filter(([, entry]) => typeof entry === "string"))
  } catch {}
  throw new CommandRefused(`${path} is not valid. Delete it and log in again.`)
}

/** Replaces a whole file, readable by its owner only. A crash leaves the old file or the new one. */
export const writeOwn = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.next`, text, { mode: 0o600 })
  chmodSync(`${path}.next`, 0o600)
  renameSync(`${path}.next`, path)
}

const newSecret = () => `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`

const originOf = (url: string | undefined) => URL.parse(url ?? "")?.origin

/** The settings, with a new secret if none is stored. A stored key is valid only for its own service. */
export const readSettings = (
  flags: { readonly url?: string | undefined; readonly key?: string | undefined },
  env: NodeJS.ProcessEnv = process.env
): Settings => {
  const stored = readStored(settingsPath(env))
  const requestedUrl = flags["url"] ?? envValue(env, "QUITTANCE_URL")
  const baseUrl = requestedUrl ?? stored.baseUrl
  const isElsewhere = requestedUrl !== undefined && originOf(requestedUrl) !== originOf(stored.baseUrl)
  const key = flags["key"] ?? envValue(env, "QUITTANCE_KEY") ?? (isElsewhere ? undefined : stored.key)
  if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ""))
    throw new CommandRefused(
      `${baseUrl} is not a URL. Use the service's origin, such as https://pay.example.com.`
    )
  if (key === undefined && stored.key !== undefined)
    throw new CommandRefused(
      `The stored key is for ${stored.baseUrl}. For ${baseUrl}, pass a key with --key or QUITTANCE_KEY, or log in there.`
    )
  if (baseUrl === undefined || key === undefined)
    throw new CommandRefused(
      `Not logged in. Run \`${program} login --url https://pay.example.com\`, or set QUITTANCE_URL and QUITTANCE_KEY.`
    )
  const prefixes = envs.map((env) => `sk_${env}_`)
  if (!prefixes.some((prefix) => key.startsWith(prefix)))
    throw new CommandRefused(`The key must be a secret key, ${prefixes.join("… or ")}…, from the dashboard.`)
  return {
    baseUrl,
    key,
    webhookSecret: envValue(env, "WEBHOOK_SECRET") ?? stored.webhookSecret ?? newSecret()
  }
}

/** A secret from the environment may be the shop's own, and this output may be logged. */
export const signedWith = ({ webhookSecret }: Settings): string =>
  envValue(process.env, "WEBHOOK_SECRET") === undefined
    ? `Signed with WEBHOOK_SECRET=${webhookSecret}`
    : "Signed with the WEBHOOK_SECRET that is set."

export const storeSettings = (settings: Settings, env: NodeJS.ProcessEnv = process.env): string => {
  const path = settingsPath(env)
  writeOwn(path, `${JSON.stringify(settings, undefined, 2)}\n`)
  return path
}
