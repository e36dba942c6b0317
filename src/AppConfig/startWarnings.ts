// What the start warns of: settings that work and leave a door open.
import type { AppConfig } from "../AppConfig.ts"
import { isLoopback } from "../http/isLoopback.ts"
import { reachableFrom } from "../http/reachableFrom.ts"

export const startWarnings = (
  config: Pick<typeof AppConfig.Service, "baseUrl" | "environment" | "host">
): ReadonlyArray<string> => {
  const { baseUrl, environment } = config
  if (environment === "development") {
    const reachable = reachableFrom(config)
    return reachable === undefined
      ? []
      : [
          `ENVIRONMENT is development, and this service can be reached at ${reachable}: anyone may sign up, and secrets are stored in DATA_DIR. Set ENVIRONMENT=production, or HOST=127.0.0.1.`
        ]
  }
  const { hostname, protocol } = new URL(baseUrl)
  return protocol === "https:" || isLoopback(hostname)
    ? []
    : [
        `BASE_URL is ${baseUrl}: without TLS the dashboard's cookies are not Secure, HSTS is not sent, and anyone on the network path can read passwords and keys. Put a proxy with TLS before the service and set BASE_URL to its https:// origin.`
      ]
}
