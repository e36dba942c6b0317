// `listen` and `trigger` as a developer runs them beside a service.
import { describe, expect } from "bun:test"
import { join } from "node:path"
import { SQL } from "bun"
import { Context, Effect, Layer } from "effect"
import { verifyDelivery, verifyWebhook } from "../../src/client/verifyWebhook.ts"
import { freePort } from "../../src/dev/freePort.ts"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

interface Received {
  readonly body: string
  readonly headers: Headers
}

/** Somebody's receiver on a given port. */
const receive = (port: number, into: Array<Received>) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        port,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          into.push({ body: await request.text(), headers: request.headers })
          return new Response(null, { status: 204 })
        }
      })
    ),
    (running) => Effect.promise(() => running.stop(true))
  )

const until = (what: () => boolean, millis = 20_000) =>
  Effect.promise(async () => {
    const start = performance.now()
    while (!what()) {
      if (performance.now() - start > millis) throw new Error("it did not happen in time")
      await Bun.sleep(20)
    }
  })

const post = (url: string, key: string, body?: unknown) =>
  Effect.promise(async () => {
    const answer = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  })

const createMerchant = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const made = yield* spawnProgram(
    ["src/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
    env
  )
  yield* made.succeeded
  return JSON.parse(made.output())
})

describe("cli listen", () => {
  liveEffect("forwards every delivery once, re-signed, over restarts, kills and an absent receiver", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const env = { DATA_DIR: dataDir }
      const own: Array<Received> = []
      const forwarded: Array<Received> = []
      const ownPort = (yield* receive(0, own)).port ?? 0
      const port = yield* freePort(0)
      const { merchant, keys } = yield* createMerchant(env)
      let secret = ""

      /** The service for a while: the embedded database serves one process at a time. */
      const serving = <A, E, R>(work: (baseUrl: string) => Effect.Effect<A, E, R>) =>
        Effect.scoped(
          Effect.gen(function* () {
            const service = yield* spawnService({ ...env, WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${ownPort}` })
            yield* untilReady(service)
            const done = yield* work(service.baseUrl)
            yield* service.kill("SIGTERM")
            yield* service.exited
            return done
          })
        )
      const sendTest = (baseUrl: string) => post(`${baseUrl}/api/v1/webhook-endpoint/test`, keys.test.secret)
      const listen = (...more: ReadonlyArray<string>) =>
        spawnProgram(
          [
            ...["src/cli/main.ts", "listen", "--merchant", merchant.id],
            ...["--forward-to", `http://127.0.0.1:${port}/hook`, ...more]
          ],
          env
        )

      const early = yield* listen()
      expect(yield* early.exited).toBe(1)
      expect(early.output()).toContain("no test webhook endpoint")

      yield* serving((baseUrl) =>
        Effect.map(
          post(`${baseUrl}/api/v1/webhook-endpoint`, keys.test.secret, {
            url: `http://127.0.0.1:${ownPort}/`
          }),
          (made) => {
            secret = made.secret
          }
        )
      )
      const first = yield* listen()
      yield* until(() => first.output().includes("Forwarding test deliveries"))
      yield* first.kill("SIGINT")
      expect(yield* first.exited).toBe(130)

      yield* serving((baseUrl) => Effect.andThen(sendTest(baseUrl), sendTest(baseUrl)))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* receive(port, forwarded)
          const second = yield* listen("--json")
          yield* until(() => second.output().split("\n").length > 2)
          yield* second.kill("SIGKILL")
          yield* second.exited
        })
      )
      expect(forwarded.map(({ body }) => body)).toEqual(own.map(({ body }) => body))
      for (const { body, headers } of forwarded) {
        const event = yield* Effect.promise(() => verifyWebhook(body, headers, secret))
        expect(headers.get("webhook-id")).toBe(event.id)
      }

      // Nobody listens: it says so with its exit code, and loses nothing.
      yield* serving(sendTest)
      const absent = yield* listen("--patience", "1")
      expect(yield* absent.exited).toBe(1)
      expect(absent.output()).toContain("Nothing is lost")
      yield* receive(port, forwarded)
      const third = yield* listen()
      yield* until(() => forwarded.length === 3)
      yield* Effect.sleep("700 millis")
      yield* third.kill("SIGINT")
      expect(yield* third.exited).toBe(130)
      expect(forwarded.map(({ body }) => body)).toEqual(own.map(({ body }) => body))
    })
  )
})

describe(`cli listen beside a service`, () => {
  liveEffect("goes on when its connections to Postgres are cut", () =>
    Effect.gen(function* () {
      const url = yield* ownDatabase()
      const admin = new SQL(url, { max: 1 })
      yield* Effect.addFinalizer(() => Effect.promise(() => admin.close()))
      const env = { DATABASE_URL: url, DATA_DIR: yield* temporaryDirectory }
      const own: Array<Received> = []
      const forwarded: Array<Received> = []
      const ownPort = (yield* receive(0, own)).port ?? 0
      const port = (yield* receive(0, forwarded)).port ?? 0
      const { merchant, keys } = yield* createMerchant(env)
      const service = yield* spawnService({ ...env, WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${ownPort}` })
      yield* untilReady(service)
      const endpoint = `${service.baseUrl}/api/v1/webhook-endpoint`
      yield* post(endpoint, keys.test.secret, { url: `http://127.0.0.1:${ownPort}/` })
      const listening = yield* spawnProgram(
        [
          ...["src/cli/main.ts", "listen", "--merchant", merchant.id],
          ...["--forward-to", `http://127.0.0.1:${port}/hook`]
        ],
        env
      )
      yield* until(() => listening.output().includes("Forwarding test deliveries"))
      yield* post(`${endpoint}/test`, keys.test.secret)
      yield* until(() => forwarded.length === 1)
      for (let cut = 0; cut < 3; cut++) {
        yield* Effect.promise(() =>
          admin.unsafe(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
          )
        )
        yield* Effect.sleep("1 second")
      }
      yield* post(`${endpoint}/test`, keys.test.secret)
      yield* until(() => forwarded.length === 2)
      expect(forwarded.map(({ body }) => body)).toEqual(own.map(({ body }) => body))
      yield* listening.kill("SIGINT")
      expect(yield* listening.exited).toBe(130)
    })
  )
})

describe("cli trigger", () => {
  liveEffect("pays a real intent on the local chain and prints each step; what listens gets its order", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const own: Array<Received> = []
      const forwarded: Array<Received> = []
      const ownPort = (yield* receive(0, own)).port ?? 0
      const port = (yield* receive(0, forwarded)).port ?? 0
      const chain = Context.get(yield* Layer.build(LocalChain.layer({ blockTimeSeconds: 0 })), LocalChain)
      const { merchant, keys } = yield* createMerchant({ DATA_DIR: dataDir })
      const service = yield* spawnService({
        DATA_DIR: dataDir,
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${ownPort}`,
        BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
        TESTNET_CONFIRMATIONS: "0"
      })
      yield* untilReady(service)
      const trigger = (amount: string) =>
        spawnProgram(
          [
            ...["src/cli/main.ts", "trigger", "payment.settled", "--amount", amount],
            ...["--secret-key", keys.test.secret, "--publishable-key", keys.test.publishable]
          ],
          {
            DATA_DIR: join(dataDir, "elsewhere"),
            BASE_URL: service.baseUrl.replace("127.0.0.1", "localhost")
          }
        )
      const { secret } = yield* post(`${service.baseUrl}/api/v1/webhook-endpoint`, keys.test.secret, {
        url: `http://127.0.0.1:${ownPort}/`
      })
      const listening = yield* spawnProgram(
        [
          ...["src/cli/main.ts", "listen", "--merchant", merchant.id],
          ...["--forward-to", `http://127.0.0.1:${port}/hook`]
        ],
        { DATA_DIR: dataDir }
      )
      yield* until(() => listening.output().includes("Forwarding test deliveries"))
      const paid = yield* trigger("12.34")
      yield* paid.succeeded
      for (const step of ["Payment intent", "$12.34", "Buyer", "Transfer", "is settled"]) {
        expect(paid.output()).toContain(step)
      }
      yield* until(() => own.length === 1 && forwarded.length === 1)
      const [sent, passed] = yield* Effect.forEach([...own, ...forwarded], ({ body, headers }) =>
        Effect.promise(() => verifyDelivery(body, headers, secret))
      )
      expect(passed?.order).toMatchObject({ intentUrl: expect.stringMatching(/^https?:/) })
      expect(passed).toEqual(sent)
      const wrong = yield* trigger("a lot")
      expect(yield* wrong.exited).toBe(1)
      expect(wrong.output()).toContain("decimal USD")
    })
  )
})
