// `init --env`: writes a deployment's environment to one file, with new secrets, for systemd, `docker run
// --env-file` and `bun --env-file`.

import { writeFileSync } from "node:fs"
import { entropyToMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english"
import { Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64, Base64Url } from "effect/encoding"
import { networks } from "../../domain/networks.ts"
import { namedKey } from "../../platform/AppConfig/namedKey.ts"
import { loadAppConfig } from "../../platform/AppConfig.ts"
import { systemErrorCode } from "../../platform/systemErrorCode.ts"
import { CommandFailed } from "./CommandFailed.ts"

interface Line {
  readonly variable: string
  readonly value: string
  /** An explanation of the variable. */
  readonly what: string
  /** True if the line is written as a comment, because the service has a default. */
  readonly isOff?: true
}

const linesFor = Effect.fnUntraced(function* (baseUrl: string, databaseUrl: string) {
  const random = yield* SecureRandom.SecureRandom
  return [
    {
      variable: "ENVIRONMENT",
      value: "production",
      what: "The service refuses to start if a required setting is missing."
    },
    {
      variable: "BASE_URL",
      value: baseUrl,
      what: "The public https URL of the service. Tokens contain it, so do not change it later."
    },
    {
      variable: "DATABASE_URL",
      value: databaseUrl,
      what: "The Postgres database with all data. Back it up."
    },
    {
      variable: "INTENT_TOKEN_SECRETS",
      value: namedKey(Base64Url.encode(yield* random.randomBytes(32))),
      what: "Signs payment intents. To rotate it, see docs/runbook.md."
    },
    {
      variable: "ENCRYPTION_KEYS",
      value: namedKey(Base64.encode(yield* random.randomBytes(32))),
      what: "Encrypts the secrets in the database. Store a copy elsewhere: without it they are lost."
    },
    {
      variable: "AGENT_WALLET_MNEMONIC",
      value: entropyToMnemonic(yield* random.randomBytes(16), wordlist),
      what: "The wallets of test agents and of the relayer on Base Sepolia. Store a copy elsewhere: without it their money is lost."
    },
    {
      variable: networks.test.nodes.setting,
      value: networks.test.nodes.default.join(","),
      what: "The nodes that verify payments, comma-separated. With three, one node may fail or lie.",
      isOff: true
    },
    {
      variable: "TRUSTED_PROXY_HOPS",
      value: "1",
      what: "The number of your proxies in front of the service.",
      isOff: true
    },
    {
      variable: "SMTP_URL",
      value: "smtps://user:password@mail.example.com:465",
      what: "The mail server for members and buyers. Without it the service sends no mail.",
      isOff: true
    }
  ] satisfies ReadonlyArray<Line>
})

/** True if no reader of such files would parse the value as a quotation, a comment or a variable. */
const isPlain = (value: string) => !/["'`$#\\]|\p{Cc}/u.test(value)

/** Writes `file`, which must not exist, readable by its owner only. Returns the meaning of each line. */
export const writeEnvironment = Effect.fn("writeEnvironment")(function* (
  file: string,
  values: { readonly baseUrl: Option.Option<string>; readonly databaseUrl: Option.Option<string> }
) {
  const lines: ReadonlyArray<Line> = yield* linesFor(
    Option.getOrElse(values.baseUrl, () => ""),
    Option.getOrElse(values.databaseUrl, () => "")
  )
  const env = Object.fromEntries(
    lines.flatMap(({ isOff, value, variable }) => (isOff || value === "" ? [] : [[variable, value]]))
  )
  yield* loadAppConfig(env).pipe(
    Effect.mapError(({ message }) => new CommandFailed({ message: `Nothing was written.\n${message}` }))
  )
  const unusable = lines.find(({ value }) => !isPlain(value))
  if (unusable !== undefined)
    return yield* new CommandFailed({
      message: `Nothing was written.\n${unusable.variable} holds a quote, a backslash, $ or #, which readers of such files interpret. Percent-encode it.`
    })
  const text = lines.map(
    ({ isOff, value, variable, what }) => `# ${what}\n${isOff ? "# " : ""}${variable}=${value}\n`
  )
  yield* Effect.try({
    try: () => writeFileSync(file, text.join("\n"), { mode: 0o600, flag: "wx" }),
    catch: (error) =>
      new CommandFailed({
        message:
          systemErrorCode(error) === "EEXIST"
            ? `${file} already exists, and its secrets may be in use. Choose another file.`
            : `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`
      })
  })
  return lines
})
