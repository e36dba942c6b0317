// A service under load whose path to the database can fail.
import { expect } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { send } from "./contractCheck.ts"
import { ownDatabase, postgresUrl } from "./ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "./process.ts"
import { tcpProxy } from "./tcpProxy.ts"

export const noChain = {
  BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
  ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
}

export interface Answered {
  readonly at: number
  readonly tookMillis: number
  readonly status: number
  readonly code: string | undefined
  readonly retryAfter: string | null
}

/** The addresses of the service and of the proxy. */
export interface Place {
  /** The addresses of the proxy and of the service. */
  readonly proxyHost: string
  readonly serviceHost: string
  /** The command that starts a program there. */
  readonly enter: ReadonlyArray<string>
}
const here: Place = { proxyHost: "127.0.0.1", serviceHost: "127.0.0.1", enter: [] }

/** A service whose path to the database is a proxy, with a merchant and a steady load of openings. */
export const databaseWorld = Effect.fnUntraced(function* ({ enter, proxyHost, serviceHost }: Place = here) {
  const databaseUrl = yield* ownDatabase()
  const proxy = yield* tcpProxy(Number(new URL(postgresUrl).port || 5432), { host: proxyHost })
  const through = new URL(databaseUrl)
  through.hostname = proxyHost
  through.port = String(proxy.port)
  const env = { DATA_DIR: yield* temporaryDirectory, RATE_LIMIT_PER_KEY: "100000", ...noChain }
  const service = yield* spawnService({ DATABASE_URL: through.toString(), ...env }, "src/app/main.ts", {
    enter,
    host: serviceHost
  })
  yield* untilReady(service)
  const cli = yield* spawnProgram(
    [
      ...["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--json"],
      ...["--receiver", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
    ],
    { DATABASE_URL: databaseUrl, ...env }
  )
  yield* cli.succeeded
  const { publishable, secret } = JSON.parse(cli.stdout()).keys.test
  const answers: Array<Answered> = []
  let goes = true
  /** An intent, and the payment that it opens. */
  const request = async () => {
    const ask = async (request: Parameters<typeof send>[1]) => {
      const began = performance.now()
      const answer = await send(service.baseUrl, request).catch(() => undefined)
      answers.push({
        at: performance.now(),
        tookMillis: performance.now() - began,
        status: answer?.status ?? 0,
        code: answer?.body?.error?.code,
        retryAfter: answer?.headers.get("retry-after") ?? null
      })
      return answer
    }
    const intent = await ask({
      method: "POST",
      path: "/api/v1/payment-intents",
      key: secret,
      body: { amount: "1.00", intentUrl: "https://shop.example.com/" }
    })
    if (intent?.status !== 201) return
    await ask({
      method: "POST",
      path: "/api/v1/payments",
      key: publishable,
      body: { intentToken: intent.body.intentToken }
    })
  }
  const clients = Array.from({ length: 8 }, async () => {
    while (goes) {
      await request()
      await Bun.sleep(20)
    }
  })
  const stop = Effect.promise(async () => {
    goes = false
    await Promise.all(clients)
  })
  yield* Effect.addFinalizer(() => stop)
  const admin = yield* Effect.acquireRelease(
    Effect.sync(() => new SQL(databaseUrl, { max: 1 })),
    (sql) => Effect.promise(() => sql.close())
  )
  // However long the first one takes.
  yield* Effect.sleep("100 millis").pipe(Effect.repeat({ until: () => answers.length > 2, times: 600 }))
  expect(answers.at(-1)?.status).toBe(201)
  return { service, proxy, answers, stop, admin }
})

/** Opened, or found by a statement whose predecessor's answer was lost. */
export const isServed = (status: number) => status === 201 || status === 200

/** Milliseconds since a moment until requests were served again for good. */
export const servedAfter = (answers: ReadonlyArray<Answered>, since: number) => {
  const last = answers.findLast(({ at, status }) => at > since && !isServed(status))
  return last === undefined ? 0 : last.at - since
}

/** The answers to all requests that could not be served. */
export const expectOutage = (answers: ReadonlyArray<Answered>) => {
  const refused = answers.filter(({ status }) => !isServed(status))
  expect(new Set(refused.map(({ code, status }) => `${status} ${code}`))).toEqual(
    new Set(refused.length === 0 ? [] : ["503 SERVICE_UNAVAILABLE"])
  )
  for (const { retryAfter } of refused) expect(Number(retryAfter)).toBeGreaterThan(0)
  // Two statements of a request, and other work on the machine.
  expect(Math.max(...answers.map(({ tookMillis }) => tookMillis))).toBeLessThan(7_000)
}
