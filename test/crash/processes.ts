// The service and the settling process as real children, to be killed at any moment.

import { join } from "node:path"
import type { Subprocess } from "bun"
import { Effect } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"
import { programOf } from "../support/process.ts"

const root = join(import.meta.dir, "../..")

/** The configuration of every child process. */
export interface Surroundings {
  readonly databaseUrl: string
  readonly receiverPort: number
  readonly dataDir: string
  readonly encryptionKeys: string
}

const environment = ({ databaseUrl, receiverPort, dataDir, encryptionKeys }: Surroundings, port: number) => ({
  PATH: process.env["PATH"] ?? "",
  PORT: String(port),
  HOST: "127.0.0.1",
  DATABASE_URL: databaseUrl,
  DATA_DIR: dataDir,
  INTENT_TOKEN_SECRETS: `crash:${"s".repeat(40)}`,
  ENCRYPTION_KEYS: encryptionKeys,
  WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiverPort}`,
  BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
  ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
})

const spawn = (surroundings: Surroundings, port: number, script: string, ...args: ReadonlyArray<string>) =>
  Bun.spawn([process.execPath, join(root, programOf(script)), ...args], {
    cwd: root,
    env: environment(surroundings, port),
    stdout: "ignore",
    stderr: "ignore"
  })

export interface Child {
  readonly process: Subprocess
  readonly kill: (signal?: NodeJS.Signals) => void
}

const child = (running: Subprocess): Child => ({
  process: running,
  kill: (signal = "SIGKILL") => running.kill(signal)
})

/** Starts the service; `ready` completes once it answers, or times out after 20 seconds. */
export const startService = async (surroundings: Surroundings) => {
  const port = await Effect.runPromise(freePort(0))
  const running = spawn(surroundings, port, "src/app/main.ts")
  const ready = async (): Promise<boolean> => {
    const deadline = Date.now() + 60_000
    while (Date.now() < deadline && running.exitCode === null && running.signalCode === null) {
      const up = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
        (answer) => answer.ok,
        () => false
      )
      if (up) return true
      await Bun.sleep(20)
    }
    return false
  }
  return { ...child(running), ready }
}

/** Settles payments at `perSecond` until it is killed or has settled `count`. */
export const startSettler = (surroundings: Surroundings, perSecond: number, count: number): Child =>
  child(spawn(surroundings, 1, "test/crash/settler.ts", String(perSecond), String(count)))

export const regenerateSecret = (surroundings: Surroundings, merchantId: string): Child =>
  child(
    spawn(
      surroundings,
      1,
      "src/app/cli/main.ts",
      "webhook",
      "regenerate-secret",
      "--merchant",
      merchantId,
      "--env",
      "test"
    )
  )
