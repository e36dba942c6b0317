// `init`: what a deployment keeps secret, made once. What the operator gives in the environment is stored instead.
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { entropyToMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { Base64, Base64Url } from "effect/encoding"
import { CommandFailed } from "./CommandFailed.ts"
import { json, print } from "./flags.ts"

interface Secret {
  readonly file: string
  /** The operator's own value of it, from here, is stored in place of a generated one. */
  readonly variable: string
  readonly made: string
  readonly what: string
}

const secretsWith = Effect.fnUntraced(function* (password: string) {
  const random = yield* SecureRandom.SecureRandom
  const bytes = (length: number) => random.randomBytes(length)
  return [
    {
      file: "postgres-password",
      variable: "POSTGRES_PASSWORD",
      made: password,
      what: "the database's password"
    },
    {
      file: "database-url",
      variable: "DATABASE_URL",
      made: `postgres://quittance:${encodeURIComponent(password)}@postgres:5432/quittance`,
      what: "DATABASE_URL_FILE"
    },
    {
      file: "intent-token-secrets",
      variable: "INTENT_TOKEN_SECRETS",
      made: `one:${Base64Url.encode(yield* bytes(32))}`,
      what: "INTENT_TOKEN_SECRETS_FILE"
    },
    {
      file: "encryption-keys",
      variable: "ENCRYPTION_KEYS",
      made: `one:${Base64.encode(yield* bytes(32))}`,
      what: "ENCRYPTION_KEYS_FILE"
    },
    {
      file: "agent-wallet-mnemonic",
      variable: "AGENT_WALLET_MNEMONIC",
      made: entropyToMnemonic(yield* bytes(16), wordlist),
      what: "AGENT_WALLET_MNEMONIC_FILE: agents' money hangs on it"
    }
  ] satisfies ReadonlyArray<Secret>
})

const given = (variable: string) =>
  Option.fromUndefinedOr(process.env[variable]).pipe(Option.filter((text) => text.trim() !== ""))

const decodedComponent = Option.liftThrowable(decodeURIComponent)

const passwordIn = (address: string) =>
  Option.getOrUndefined(decodedComponent(URL.parse(address)?.password ?? ""))

const otherPassword =
  "POSTGRES_PASSWORD: a database keeps the password it was made with, and another one is stored for it; nothing was changed. Unset POSTGRES_PASSWORD. To change the password: ALTER ROLE quittance PASSWORD '…' in the database, then start with DATABASE_URL and POSTGRES_PASSWORD that both hold the new one (docs/databases.md)."

/** What stands there, under a name that is free: nothing that keys were made for is lost. */
const setAside = (path: string) => {
  for (let number = 1; ; number++) {
    const aside = `${path}.${number}`
    try {
      linkSync(path, aside)
      return aside
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
    }
  }
}

const readIfThere = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : undefined)

/** Whole or not at all. Read by the service's user and by the database's. */
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
      Flag.withDescription("The directory for the secrets; existing ones are kept")
    ),
    json
  },
  Effect.fn("init")(function* (input) {
    const random = yield* SecureRandom.SecureRandom
    const password = Option.getOrElse(given("POSTGRES_PASSWORD"), () => "")
    const secrets = yield* secretsWith(
      password === "" ? Base64Url.encode(yield* random.randomBytes(24)) : password
    )
    const at = (file: string) => join(input.secrets, file)
    const stored = readIfThere(at("postgres-password"))
    const address = readIfThere(at("database-url"))
    if ((stored === undefined) !== (address === undefined))
      return yield* new CommandFailed({
        message: `${input.secrets} holds one of postgres-password and database-url without the other. Put it back, or remove both for a new database.`
      })
    // A database keeps the password it was made with, whatever is stored here afterwards.
    const next = Option.getOrElse(given("DATABASE_URL"), () => address ?? "")
    if (password !== "" && stored !== undefined && stored !== password && passwordIn(next) !== password)
      return yield* new CommandFailed({ message: otherPassword })
    const made = yield* Effect.try({
      try: () => {
        // Nobody else enters a directory that is made here; a volume's is its containers' alone.
        mkdirSync(input.secrets, { recursive: true, mode: 0o700 })
        return secrets.map(({ file, made, variable, what }) => {
          const path = at(file)
          const present = readIfThere(path)
          const own = given(variable)
          if (present !== undefined && Option.getOrElse(own, () => present) === present)
            return { path, fresh: false, how: "kept", what }
          const aside = present === undefined ? "" : `; the one before is in ${setAside(path)}`
          write(
            path,
            Option.getOrElse(own, () => made)
          )
          return Option.isSome(own)
            ? { path, fresh: true, how: "given", what: `${what}, from ${variable}${aside}` }
            : { path, fresh: true, how: "made", what: `${what}${aside}` }
        })
      },
      catch: (error) =>
        new CommandFailed({
          message: `${input.secrets} cannot be written: ${error instanceof Error ? error.message : String(error)}`
        })
    })
    yield* print(input.json, { secrets: made.map(({ fresh, how, path }) => ({ path, fresh, how })) }, [
      ...made.map(({ how, path, what }) => `${how.padEnd(5)} ${path}  ${what}`),
      "Keep copies of all of them elsewhere: without the encryption keys and the mnemonic, webhook secrets and agents' wallets are lost."
    ])
  })
).pipe(
  Command.withDescription("Generate the secrets of a deployment, once"),
  Command.withExamples([
    {
      command: "bun run cli init --secrets /secrets",
      description: "As docker-compose.yml does at its first start"
    }
  ])
)
