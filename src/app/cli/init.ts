// `init`: creates a deployment's secrets, once. Values that the operator sets are stored instead.
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { entropyToMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english"
import { ConfigProvider, Effect, Option, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { Base64, Base64Url } from "effect/encoding"
import type { ConfigRefusal } from "../../platform/AppConfig/ConfigRefusal.ts"
import { namedKey } from "../../platform/AppConfig/namedKey.ts"
import { settings } from "../../platform/AppConfig/settings.ts"
import { systemErrorCode } from "../../platform/systemErrorCode.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, print } from "./flags.ts"
import { writeEnvironment } from "./writeEnvironment.ts"

interface Secret {
  readonly file: string
  /** The environment variable whose value, if set, is stored instead of a generated one. */
  readonly variable: string
  readonly generated: string
  readonly what: string
}

interface Planned extends Secret {
  readonly path: string
  /** The file's current content. */
  readonly present: string | undefined
  /** The file's new content. */
  readonly next: string
  /** True if the value comes from the environment. */
  readonly isOwn: boolean
}

const secretsWith = Effect.fnUntraced(function* (password: string) {
  const random = yield* SecureRandom.SecureRandom
  const bytes = (length: number) => random.randomBytes(length)
  return [
    {
      file: "postgres-password",
      variable: "POSTGRES_PASSWORD",
      generated: password,
      what: "the database's password"
    },
    {
      file: "database-url",
      variable: "DATABASE_URL",
      generated: `postgres://quittance:${encodeURIComponent(password)}@postgres:5432/quittance`,
      what: "for DATABASE_URL_FILE"
    },
    {
      file: "intent-token-secrets",
      variable: "INTENT_TOKEN_SECRETS",
      generated: namedKey(Base64Url.encode(yield* bytes(32))),
      what: "for INTENT_TOKEN_SECRETS_FILE"
    },
    {
      file: "encryption-keys",
      variable: "ENCRYPTION_KEYS",
      generated: namedKey(Base64.encode(yield* bytes(32))),
      what: "for ENCRYPTION_KEYS_FILE"
    },
    {
      file: "agent-wallet-mnemonic",
      variable: "AGENT_WALLET_MNEMONIC",
      generated: entropyToMnemonic(yield* bytes(16), wordlist),
      what: "for AGENT_WALLET_MNEMONIC_FILE: without it agents' money is lost"
    }
  ] satisfies ReadonlyArray<Secret>
})

const fromEnvironment = (variable: string) =>
  Option.fromUndefinedOr(process.env[variable]).pipe(
    Option.map((text) => text.trim()),
    Option.filter((text) => text !== "")
  )

/** The settings that would prevent the start, one sentence each, with the path if a file has the value. */
const refusals = Effect.fnUntraced(function* (secrets: ReadonlyArray<Planned>) {
  const env = Object.fromEntries(secrets.map(({ next, variable }) => [variable, next]))
  const results: ReadonlyArray<Result.Result<unknown, ConfigRefusal>> = yield* Effect.all(
    [settings.databaseUrl, settings.intentTokenSecrets, settings.encryptionKeys, settings.testnetMnemonic],
    { mode: "result" }
  ).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })))
  const refused = results.flatMap((result) => (Result.isFailure(result) ? result.failure.settings : []))
  // Postgres and the URL use the password unchanged.
  if (/\p{Cc}/u.test(env["POSTGRES_PASSWORD"] ?? ""))
    refused.push({ variable: "POSTGRES_PASSWORD", message: "POSTGRES_PASSWORD must be one line of text" })
  return [
    ...secrets.flatMap(({ next, path }) =>
      next === "" ? [`${path} is empty: restore its copy, or remove it to create a new one`] : []
    ),
    ...refused.flatMap(({ message, variable }) => {
      const from = secrets.find((secret) => secret.variable === variable)
      if (from?.next === "") return []
      return [from === undefined || from.isOwn ? message : `${message} (in ${from.path})`]
    })
  ]
})

const decodedComponent = Option.liftThrowable(decodeURIComponent)

const passwordIn = (address: string) =>
  Option.getOrUndefined(decodedComponent(URL.parse(address)?.password ?? ""))

const otherPassword =
  "POSTGRES_PASSWORD: the database keeps the password that it was created with, and a different password is stored. Unset POSTGRES_PASSWORD. To change the password: ALTER ROLE quittance PASSWORD '…' in the database, then start with DATABASE_URL and POSTGRES_PASSWORD that both hold the new one (docs/databases.md)."

/** Renames an existing file to a free name, so that no secret is lost on which keys depend. */
const setAside = (path: string) => {
  for (let number = 1; ; number++) {
    const aside = `${path}.${number}`
    try {
      linkSync(path, aside)
      return aside
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST") throw error
    }
  }
}

const readIfThere = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : undefined)

/** Writes the whole file or nothing. The service's user and the database's user can read it. */
const write = (path: string, text: string) => {
  const fresh = `${path}.new`
  rmSync(fresh, { force: true })
  writeFileSync(fresh, text, { mode: 0o444, flag: "wx" })
  renameSync(fresh, path)
}

export const init = Command.make(
  "init",
  {
    secrets: Flag.String("secrets").pipe(
      Flag.optional,
      Flag.withDescription(
        "A directory with one file per secret. If a secret's variable is set, its value is stored instead of a generated one, and an existing file is kept beside it. Set DATABASE_URL unless the database is docker-compose.yml's"
      )
    ),
    env: Flag.String("env").pipe(
      Flag.optional,
      Flag.withDescription("A new file for the whole environment, with fresh secrets")
    ),
    baseUrl: Flag.String("base-url").pipe(
      Flag.optional,
      Flag.withDescription("With --env: the public origin of the service")
    ),
    databaseUrl: Flag.String("database-url").pipe(
      Flag.optional,
      Flag.withDescription("With --env: a Postgres address")
    ),
    json
  },
  Effect.fn("init")(function* (input) {
    if (Option.isSome(input.env)) {
      const lines = yield* writeEnvironment(input.env.value, {
        baseUrl: Option.orElse(input.baseUrl, () => fromEnvironment("BASE_URL")),
        databaseUrl: Option.orElse(input.databaseUrl, () => fromEnvironment("DATABASE_URL"))
      })
      return yield* print(
        input.json,
        { path: input.env.value, variables: lines.map(({ variable, what }) => ({ variable, what })) },
        [
          `created  ${input.env.value}`,
          ...lines.map(({ isOff, variable, what }) => `${isOff ? "#" : " "} ${variable.padEnd(22)} ${what}`),
          `Next: bun --env-file=${input.env.value} run cli doctor`
        ]
      )
    }
    if (Option.isNone(input.secrets))
      return yield* new CommandFailed({
        message: "Pass --env FILE to write one file, or --secrets DIR to write a file for each secret."
      })
    const directory = input.secrets.value
    const random = yield* SecureRandom.SecureRandom
    const password = Option.getOrElse(fromEnvironment("POSTGRES_PASSWORD"), () => "")
    const secrets = yield* secretsWith(
      password === "" ? Base64Url.encode(yield* random.randomBytes(24)) : password
    )
    const unusable = (what: string) => (error: unknown) =>
      new CommandFailed({
        message: `${directory} cannot be ${what}: ${error instanceof Error ? error.message : String(error)}`
      })
    const planned = yield* Effect.try({
      try: () =>
        secrets.map((secret): Planned => {
          const path = join(directory, secret.file)
          const present = readIfThere(path)
          const own = fromEnvironment(secret.variable)
          const next = Option.getOrElse(own, () => present ?? secret.generated).trim()
          return { ...secret, path, present, next, isOwn: Option.isSome(own) }
        }),
      catch: unusable("read")
    })
    const secretNamed = (file: string) => planned.find((secret) => secret.file === file)
    const stored = secretNamed("postgres-password")?.present
    if ((stored === undefined) !== (secretNamed("database-url")?.present === undefined))
      return yield* new CommandFailed({
        message: `${directory} has only one of postgres-password and database-url. Restore the missing file, or remove both for a new database.`
      })
    const refused = yield* refusals(planned)
    // A database keeps its first password, whatever is stored here afterwards.
    if (password !== "" && stored !== undefined && stored.trim() !== password)
      if (passwordIn(secretNamed("database-url")?.next ?? "") !== password) refused.push(otherPassword)
    if (refused.length > 0)
      return yield* new CommandFailed({ message: ["Nothing was changed.", ...refused].join("\n") })
    const secretFiles = yield* Effect.try({
      try: () => {
        // Only this user can enter a new directory. A volume's directory belongs to its containers.
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        return planned.map(({ isOwn, next, path, present, variable, what }) => {
          if (present?.trim() === next) return { path, fresh: false, how: "unchanged", what }
          const aside = present === undefined ? "" : `; the old value is in ${setAside(path)}`
          write(path, next)
          return isOwn
            ? { path, fresh: true, how: "stored", what: `${what}, from ${variable}${aside}` }
            : { path, fresh: true, how: "created", what: `${what}${aside}` }
        })
      },
      catch: unusable("written")
    })
    yield* print(input.json, { secrets: secretFiles.map(({ fresh, how, path }) => ({ path, fresh, how })) }, [
      ...secretFiles.map(({ how, path, what }) => `${how.padEnd(9)} ${path}  ${what}`),
      "Store copies of all secrets elsewhere. Without the encryption keys and the mnemonic, webhook secrets and agents' wallets are lost."
    ])
  })
).pipe(
  Command.withDescription("Generate the secrets of a deployment"),
  Command.withExamples([
    {
      command:
        "bun run cli init --env quittance.env --base-url https://pay.example.com --database-url postgres://…",
      description: "Writes one checked file with all variables"
    },
    {
      command: "bun run cli init --secrets /secrets",
      description: "Writes a file for each secret, as docker-compose.yml does at its first start"
    }
  ])
)
