// Starts the receiver and asks it what came.
import { Effect } from "effect"
import { spawnProgram } from "../support/process.ts"
import type { Received } from "./receiver.ts"

/** A receiver at `127.0.0.1:port`, gone with the scope. */
export const startReceiver = Effect.gen(function* () {
  const child = yield* spawnProgram(["test/bench/receiver.ts"], {})
  while (!child.output().includes("\n")) yield* Effect.sleep("10 millis")
  const port = Number(child.output().trim())
  const url = `http://127.0.0.1:${port}`
  return {
    port,
    hook: `${url}/hook`,
    state: async (): Promise<Received> => (await fetch(`${url}/state`)).json(),
    reset: async () => {
      await fetch(`${url}/reset`, { method: "POST" })
    },
    /** Returns once so many messages came. */
    untilReceived: async (count: number, timeoutMillis: number) => {
      const deadline = performance.now() + timeoutMillis
      while (Number(await (await fetch(`${url}/count`)).json()) < count) {
        if (performance.now() > deadline) throw new Error(`fewer than ${count} messages came in time`)
        await Bun.sleep(20)
      }
    }
  }
})

export type Receiver = Effect.Success<typeof startReceiver>
