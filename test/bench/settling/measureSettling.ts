// `bun run bench settling`: from a committed settlement to the first byte at the receiver, at several rates, alone
// and beside endpoints that hang.
import { Effect } from "effect"
import { freePort } from "../../../src/dev/freePort.ts"
import { spawnProgram, temporaryDirectory } from "../../support/process.ts"
import { startPostgres } from "../postgres.ts"
import { startReceiver } from "../receiving.ts"
import { serviceEnv } from "../servers.ts"
import { hangingEndpoints, settings } from "../settings.ts"
import { type Quantiles, quantiles } from "../statistics.ts"
import type { Settled } from "./settler.ts"

const rates = [50, 500, 1_000]

export interface SettlingResult {
  readonly seconds: number
  readonly at: ReadonlyArray<{
    readonly perSecond: number
    readonly alone: Quantiles
    readonly besideHanging: Quantiles
  }>
}

const measureOnce = Effect.fnUntraced(function* (endpoints: number) {
  const { url: databaseUrl } = yield* startPostgres()
  const directory = yield* temporaryDirectory
  const receiver = yield* startReceiver
  const port = receiver.port
  const child = yield* spawnProgram(
    [
      "test/bench/settling/settler.ts",
      ...[
        "--hook",
        receiver.hook,
        "--hanging",
        `http://127.0.0.1:${port}/hang`,
        "--endpoints",
        String(endpoints)
      ],
      ...["--rates", rates.join(","), "--seconds", String(settings.seconds)]
    ],
    {
      ...serviceEnv,
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      PORT: String(yield* freePort(0)),
      WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${port}`
    }
  )
  yield* child.succeeded
  const lines = child
    .output()
    .split("\n")
    .filter((line) => line.startsWith("SETTLED "))
  const { arrivals, twice } = yield* Effect.promise(receiver.state)
  if (twice > 0) return yield* Effect.die(new Error(`${twice} messages came twice`))
  return lines.map((line) => {
    const settled: Settled = JSON.parse(line.slice("SETTLED ".length))
    const delays = Object.entries(settled).map(([hash, at]) => (arrivals[hash] ?? Number.NaN) - at)
    const missing = delays.filter(Number.isNaN).length
    if (missing > 0) throw new Error(`${missing} of ${delays.length} settlements' webhooks did not come`)
    return quantiles(delays.map((delay) => Math.max(0, delay)))
  })
})

export const measureSettling = Effect.gen(function* () {
  const alone = yield* Effect.scoped(measureOnce(0))
  const beside = yield* Effect.scoped(measureOnce(hangingEndpoints))
  const nothing = { p50: Number.NaN, p99: Number.NaN }
  const result: SettlingResult = {
    seconds: settings.seconds,
    at: rates.map((perSecond, index) => ({
      perSecond,
      alone: alone[index] ?? nothing,
      besideHanging: beside[index] ?? nothing
    }))
  }
  for (const { perSecond, alone, besideHanging } of result.at)
    console.log(
      `settling  ${perSecond}/s  alone p50 ${alone.p50.toFixed(1)}, p99 ${alone.p99.toFixed(1)} ms; beside ${hangingEndpoints} that hang p50 ${besideHanging.p50.toFixed(1)}, p99 ${besideHanging.p99.toFixed(1)} ms`
    )
  return result
})
