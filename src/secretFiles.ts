// Settings that hold a secret may name a file that does, as containers' secrets are mounted: NAME_FILE in
// place of NAME.
import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { ConfigRefusal } from "./ConfigRefusal.ts"

/** Each has a `_FILE` of its own. */
const secretVariables = [
  "DATABASE_URL",
  "DATABASE_REPLICA_URL",
  "INTENT_TOKEN_SECRETS",
  "ENCRYPTION_KEYS",
  "AGENT_WALLET_MNEMONIC",
  "FAUCET_PRIVATE_KEY",
  "REDIS_URL",
  "SMTP_URL",
  "OTEL_EXPORTER_OTLP_HEADERS"
] as const

const isSet = (value: string | undefined): value is string => value !== undefined && value.trim() !== ""

/** The environment with each secret in its place. */
export const withSecretFiles = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string | undefined>>
) {
  const read: Record<string, string> = {}
  for (const name of secretVariables) {
    const variable = `${name}_FILE`
    const path = env[variable]
    if (!isSet(path)) continue
    if (isSet(env[name]))
      return yield* new ConfigRefusal({
        variable,
        message: `${variable}: ${name} is set too; unset one of them`
      })
    read[name] = yield* Effect.try({
      try: () => readFileSync(path.trim(), "utf8"),
      catch: () =>
        new ConfigRefusal({ variable, message: `${variable}: wants a file that the service can read` })
    })
  }
  return { ...env, ...read }
})
