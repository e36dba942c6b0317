// Secret settings may be read from a file, as containers mount them: NAME_FILE instead of NAME.
import { readFileSync } from "node:fs"
import type { RefusedSetting } from "./ConfigRefusal.ts"

/** Each of these has a `_FILE` variant. */
export const secretVariables = [
  "DATABASE_URL",
  "DATABASE_REPLICA_URL",
  "INTENT_TOKEN_SECRETS",
  "ENCRYPTION_KEYS",
  "AGENT_WALLET_MNEMONIC",
  "LIVE_WALLET_MNEMONIC",
  "FAUCET_PRIVATE_KEY",
  "REDIS_URL",
  "SMTP_URL",
  "OTEL_EXPORTER_OTLP_HEADERS"
] as const

/** The environment with each secret in its own variable, trimmed, without empty values; and the refused files. */
export const withSecretFiles = (env: Readonly<Record<string, string | undefined>>) => {
  const set: Record<string, string> = {}
  for (const [name, value = ""] of Object.entries(env)) if (value.trim() !== "") set[name] = value.trim()
  const refused: Array<RefusedSetting> = []
  for (const name of secretVariables) {
    const variable = `${name}_FILE`
    const path = set[variable]
    if (path === undefined) continue
    if (set[name] === undefined)
      try {
        set[name] = readFileSync(path, "utf8").trim()
      } catch {
        refused.push({ variable, message: `${variable} must be a file that the service can read` })
      }
    else refused.push({ variable, message: `${variable}: ${name} is set too; unset one of them` })
  }
  return { set, refused }
}
