// `init`: what a deployment keeps secret, made once.
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { entropyToMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { Base64, Base64Url } from "effect/encoding"
import { CommandFailed } from "./CommandFailed.ts"
import { json, print } from "./flags.ts"

const make = Effect.fnUntraced(function* (password: string) {
  const random = yield* SecureRandom.SecureRandom
  const bytes = (length: number) => random.randomBytes(length)
  return [
    ["postgres-password", password, "the database's password"],
    [
      "database-url",
      `postgres://quittance:${encodeURIComponent(password)}@postgres:5432/quittance`,
      "DATABASE_URL_FILE"
    ],
    ["intent-token-secrets", `one:${Base64Url.encode(yield* bytes(32))}`, "INTENT_TOKEN_SECRETS_FILE"],
    ["encryption-keys", `one:${Base64.encode(yield* bytes(32))}`, "ENCRYPTION_KEYS_FILE"],
    [
      "agent-wallet-mnemonic",
      entropyToMnemonic(yield* bytes(16), wordlist),
      "AGENT_WALLET_MNEMONIC_FILE: agents' money hangs on it"
    ]
  ] as const
})

export const init = Command.make(
  "init",
  {
    secrets: Flag.String("secrets").pipe(
      Flag.withDescription("The directory that the secrets go into; those that are there are kept")
    ),
    json
  },
  Effect.fn("init")(function* (input) {
    const random = yield* SecureRandom.SecureRandom
    const given = Option.fromUndefinedOr(process.env["POSTGRES_PASSWORD"]).pipe(
      Option.filter((text) => text !== "")
    )
    const password = Option.isSome(given) ? given.value : Base64Url.encode(yield* random.randomBytes(24))
    const files = yield* make(password)
    const [paired, url] = [files[0], files[1]].map(([name]) => join(input.secrets, name))
    if (existsSync(paired ?? "") !== existsSync(url ?? ""))
      return yield* new CommandFailed({
        message: `${input.secrets} holds one of postgres-password and database-url without the other. Put it back, or remove both for a new database.`
      })
    const made = yield* Effect.try({
      try: () => {
        // Nobody else enters a directory that is made here; a volume's is its containers' alone.
        mkdirSync(input.secrets, { recursive: true, mode: 0o700 })
        return files.map(([name, text, what]) => {
          const path = join(input.secrets, name)
          const fresh = !existsSync(path)
          // Read by the service's user and by the database's.
          if (fresh) writeFileSync(path, text, { mode: 0o444, flag: "wx" })
          return { path, fresh, what }
        })
      },
      catch: (error) =>
        new CommandFailed({
          message: `${input.secrets} cannot be written: ${error instanceof Error ? error.message : String(error)}`
        })
    })
    yield* print(input.json, { secrets: made.map(({ fresh, path }) => ({ path, fresh })) }, [
      ...made.map(({ fresh, path, what }) => `${fresh ? "made" : "kept"}  ${path}  ${what}`),
      "Keep copies of all of them elsewhere: without the encryption keys and the mnemonic, webhook secrets and agents' wallets are lost."
    ])
  })
).pipe(
  Command.withDescription("Make the secrets of a deployment, once"),
  Command.withExamples([
    {
      command: "bun run cli init --secrets /secrets",
      description: "As docker-compose.yml does at its first start"
    }
  ])
)
