// Settings of the proxy and the MCP server, from the environment.
import { Effect, Redacted, Schema } from "effect"
import { envs } from "../../domain/networks.ts"

/** A setting that prevents the start; `message` is the whole sentence for the operator. */
export class ProxyRefusal extends Schema.TaggedError<ProxyRefusal>()("ProxyRefusal", {
  message: Schema.String
}) {}

export interface ProxySettings {
  readonly serviceUrl: string
  readonly agentKey: Redacted.Redacted<string>
  readonly port: number
}

export const readSettings = (env: Readonly<Record<string, string | undefined>>) =>
  Effect.gen(function* () {
    const key = env["SERVICE_AGENT_KEY"]?.trim() ?? ""
    if (!envs.some((env) => new RegExp(`^ak_${env}_[0-9A-Za-z]+$`).test(key))) {
      return yield* new ProxyRefusal({
        message:
          "SERVICE_AGENT_KEY must be the agent's key, ak_test_… or ak_live_…, shown when the agent was created."
      })
    }
    const address = env["SERVICE_BASE_URL"]?.trim() ?? ""
    const url = URL.canParse(address) ? new URL(address) : null
    if (url === null || !/^https?:$/.test(url.protocol)) {
      return yield* new ProxyRefusal({
        message: "SERVICE_BASE_URL must be the service's origin, such as https://pay.example.com."
      })
    }
    const port = Number(env["AGENT_PROXY_PORT"] ?? 4020)
    if (!Number.isInteger(port) || port < 0 || port > 65_535) {
      return yield* new ProxyRefusal({
        message: "AGENT_PROXY_PORT must be a port from 0 (any free port) to 65535."
      })
    }
    const settings: ProxySettings = { serviceUrl: url.origin, agentKey: Redacted.make(key), port }
    return settings
  })
