// The servers under the same load: the service, the limit and the peer. Each is a process of its own.
import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"
import { spawnProgram, temporaryDirectory, untilReady } from "../support/process.ts"

export const serverNames = ["service", "limit", "peer"] as const
export type ServerName = (typeof serverNames)[number]

/** The service as the image runs it. */
export const built = "dist/main.js"

const programs: Readonly<Record<ServerName, string>> = {
  service: built,
  limit: "test/bench/limit.ts",
  peer: "test/bench/peer.ts"
}

export interface Server {
  readonly name: ServerName
  readonly url: string
  readonly pid: number
}

/** The origin in intent tokens and DID tokens, the same for all. */
export const baseUrl = "http://localhost:8787"
export const tokenSecret = "b".repeat(40)

/** The image's limits for the service's heap and its allocator. */
const heap = Object.fromEntries(
  [...readFileSync("Dockerfile", "utf8").matchAll(/\b((?:BUN_JSC|MIMALLOC)_\w+)=(\S+)/g)].map(
    ([, name = "", value = ""]) => [name, value]
  )
)

/** Nothing in the dataset expires, no limit is reached, no chain answers. */
const commonEnv = {
  BASE_URL: baseUrl,
  INTENT_TOKEN_SECRETS: `bench:${tokenSecret}`,
  ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 1).toString("base64")}`,
  BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
  ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
  RATE_LIMIT_PER_KEY: "1000000",
  PAYMENT_EXPIRY: "9999d"
}

/** Only for the service. */
export const serviceEnv = { ...commonEnv, ...heap }

/** Starts one on a filled database; it answers once this returns. */
export const startServer = Effect.fnUntraced(function* (name: ServerName, databaseUrl: string) {
  const port = yield* freePort(0)
  const child = yield* spawnProgram([programs[name]], {
    ...(name === "service" ? serviceEnv : commonEnv),
    DATABASE_URL: databaseUrl,
    DATA_DIR: yield* temporaryDirectory,
    PORT: String(port),
    HOST: "127.0.0.1"
  })
  const server: Server = { name, url: `http://127.0.0.1:${port}`, pid: child.pid }
  yield* untilReady({ baseUrl: server.url, output: child.output })
  return server
})
