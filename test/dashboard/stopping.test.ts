// A stop does not wait for pages with open event streams.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { signUp } from "./person.ts"

describe("A service that stops", () => {
  for (const SHUTDOWN_DELAY of ["0s", "2s"])
    liveEffect(`ends the events of its pages, with a delay of ${SHUTDOWN_DELAY}`, () =>
      Effect.gen(function* () {
        const service = yield* spawnService({
          DATA_DIR: yield* temporaryDirectory,
          SHUTDOWN_DELAY,
          BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
          ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
        })
        yield* untilReady(service)
        const person = yield* Effect.promise(() => signUp(service.baseUrl))
        const heard = yield* Effect.promise(() =>
          fetch(`${service.baseUrl}/dashboard/api/merchants/${person.merchantId}/test/changes`, {
            headers: { cookie: person.cookie }
          })
        )
        expect(heard.status).toBe(200)
        const reading = heard.text().catch(() => "broken off")
        const started = performance.now()
        yield* service.kill("SIGTERM")
        expect(yield* service.exited).toBe(0)
        // Open requests are broken off after 12 s.
        expect(performance.now() - started).toBeLessThan(11_000)
        yield* Effect.promise(() => reading)
      })
    )
})
