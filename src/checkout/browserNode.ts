// Decides which node's URL a browser may see.
import type { Env } from "../domain/Chain.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import { isLoopback } from "../platform/http/isLoopback.ts"

/**
 * The node of a local chain that a developer's browser may query directly: one on its own machine. Any other URL may
 * contain the operator's access key.
 */
export const browserNode = (
  { environment, rpcUrls }: Pick<typeof AppConfig.Service, "environment" | "rpcUrls">,
  env: Env
): string | undefined =>
  environment === "development"
    ? rpcUrls[env].find((url) => isLoopback(URL.parse(url)?.hostname ?? ""))
    : undefined
