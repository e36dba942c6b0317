// SIGTERM: readiness turns off while the service still answers, running work is finished, exit 0.

import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { send } from "../support/contractCheck.ts"
import { listening } from "../support/listening.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { until } from "./cluster.ts"

const receiver = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"

describe("A graceful stop", () => {
  liveEffect("turns readiness off first, still answers, finishes running work, and exits with 0", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const cli = yield* spawnProgram(
        ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
        { DATA_DIR: dataDir }
      )
      yield* cli.succeeded
      const { keys } = JSON.parse(cli.stdout())
      const answered = Promise.withResolvers<void>()
      let asked = false
      const hook = yield* listening(async () => {
        asked = true
        await answered.promise
        return new Response("noted")
      })
      const service = yield* spawnService({
        DATA_DIR: dataDir,
        SHUTDOWN_DELAY: "5s",
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hook.port}`,
        BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
      })
      yield* untilReady(service)
      const call = (method: string, path: string, body?: unknown) =>
        send(service.baseUrl, { method, path, key: keys.test.secret, body })
      yield* Effect.promise(() =>
        call("POST", "/api/v1/webhook-endpoint", { url: `http://127.0.0.1:${hook.port}/hooks` })
      )
      const running = call("POST", "/api/v1/webhook-endpoint/test")
      yield* until("the slow request runs", () => asked)

      const stopping = performance.now()
      yield* service.kill("SIGTERM")
      yield* until("readiness is off", async () => (await fetch(`${service.baseUrl}/readyz`)).status === 503)
      expect((yield* Effect.promise(() => fetch(`${service.baseUrl}/healthz`))).status).toBe(200)
      const meanwhile = yield* Effect.promise(() => call("GET", "/api/v1/payments"))
      expect(meanwhile.status).toBe(200)
      expect(meanwhile.headers.get("connection")).toBe("close")

      yield* until("the listener has closed", () =>
        fetch(`${service.baseUrl}/healthz`).then(
          () => false,
          () => true
        )
      )
      expect(performance.now() - stopping).toBeGreaterThan(4_000)
      answered.resolve()
      const finished = yield* Effect.promise(() => running)
      expect(finished.body.delivery.status).toBe("delivered")
      yield* service.succeeded
      expect(performance.now() - stopping).toBeLessThan(40_000)
    })
  )
})
