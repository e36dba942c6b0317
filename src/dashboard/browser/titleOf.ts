// The title of the browser's tab.
import type { Env } from "../../domain/Chain.ts"
import { isTest } from "../../domain/networks.ts"

export const titleOf = (page: string, merchant: string | undefined, env: Env): string =>
  `${page} · ${merchant ?? "Quittance"}${isTest(env) ? " (test)" : ""}`
