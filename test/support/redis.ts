// A real Redis for one test file, from Debian's package, on a free port.
import { existsSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"

const binary = "/usr/bin/redis-server"

/** The reason that tests on Redis cannot run here, or undefined. */
export const redisMissing = existsSync(binary) ? undefined : "redis-server is not installed"

/** Starts Redis on a port and returns its URL; it ends with the scope. */
export const startRedisAt = Effect.fnUntraced(function* (port: number) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn([binary, "--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], {
        stdout: "ignore",
        stderr: "ignore"
      })
    ),
    (running) =>
      Effect.promise(async () => {
        running.kill("SIGKILL")
        await running.exited
      })
  )
  const url = `redis://127.0.0.1:${port}`
  yield* Effect.tryPromise(() => Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } })).pipe(
    Effect.retry(Schedule.upTo(Schedule.spaced("50 millis"), { times: 100 })),
    Effect.orDie
  )
  const signal = (name: NodeJS.Signals) => Effect.sync(() => child.kill(name))
  return { url, kill: signal("SIGKILL"), freeze: signal("SIGSTOP"), thaw: signal("SIGCONT") }
})

export const startRedis = Effect.flatMap(freePort(0), startRedisAt)
