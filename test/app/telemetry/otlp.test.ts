// Traces, metrics and logs at a collector; and a service whose collector is down.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { version } from "../../../package.json"
import { networks } from "../../../src/domain/networks.ts"
import { createDidToken } from "../../../src/payments/buyers/createDidToken.ts"
import { collector } from "../../support/collector.ts"
import { send } from "../../support/contractCheck.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
const noChain = { BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9", ARBITRUM_RPC_URLS: "http://127.0.0.1:9" }

const shopOn = (env: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryDirectory
    const cli = yield* spawnProgram(
      ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
      { DATA_DIR: dataDir }
    )
    yield* cli.succeeded
    const { keys } = JSON.parse(cli.stdout())
    const hook = yield* Effect.acquireRelease(
      Effect.sync(() => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") })),
      (server) => Effect.promise(() => server.stop(true))
    )
    const service = yield* spawnService({
      DATA_DIR: dataDir,
      BASE_URL: "http://localhost:8787",
      WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hook.port}`,
      ...noChain,
      ...env
    })
    yield* untilReady(service)
    const call = (method: string, path: string, key: string, body?: unknown, requestId?: string) =>
      Effect.promise(() =>
        send(service.baseUrl, {
          method,
          path,
          key,
          body,
          ...(requestId === undefined ? {} : { headers: { "x-request-id": requestId } })
        })
      )
    const open = Effect.gen(function* () {
      const intent = yield* call("POST", "/api/v1/payment-intents", keys.test.secret, {
        amount: "10.00",
        intentUrl: "https://shop.example.com/orders/1042"
      })
      return yield* call("POST", "/api/v1/payments", keys.test.publishable, {
        intentToken: intent.body.intentToken
      })
    })
    return { service, keys, call, open, hookUrl: `http://127.0.0.1:${hook.port}/hooks` }
  })

describe("OpenTelemetry", () => {
  liveEffect(
    "spans of a request, its database and its node, a webhook's attempt, metrics and logs arrive",
    () =>
      Effect.gen(function* () {
        const sink = yield* collector
        const { service, keys, call, open, hookUrl } = yield* shopOn({
          OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
          OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=a%20key"
        })
        const opened = yield* open
        const { id } = opened.body.payment
        const account = privateKeyToAccount(generatePrivateKey())
        const buyerDidToken = yield* Effect.promise(() =>
          createDidToken(account, {
            audience: "http://localhost:8787",
            lifetimeSeconds: 600,
            now: Math.floor(Date.now() / 1000)
          })
        )
        const reported = yield* call(
          "PATCH",
          `/api/v1/payments/${id}`,
          keys.test.publishable,
          {
            buyerDidToken,
            transactionId: `0x${"ab".repeat(32)}`,
            tokenChanges: [
              {
                amountAtomic: "10000000",
                chainId: networks.test.chainId,
                receiver,
                tokenAddress: networks.test.usdc.address
              }
            ]
          },
          "report-1"
        )
        expect([202, 503]).toContain(reported.status)
        yield* call("POST", "/api/v1/webhook-endpoint", keys.test.secret, { url: hookUrl })
        const tested = yield* call("POST", "/api/v1/webhook-endpoint/test", keys.test.secret)
        expect(tested.body.delivery.status).toBe("delivered")
        yield* service.kill("SIGTERM")
        yield* service.succeeded

        const spans = sink.spans()
        const request = spans.find((span) => span.attributes["request.id"] === "report-1")
        expect(request?.attributes).toMatchObject({
          "payment.id": id,
          "http.request.method": "PATCH",
          "http.route": "/api/v1/payments/:id",
          "http.response.status_code": reported.status
        })
        const within = spans.filter((span) => span.traceId === request?.traceId)
        const children = new Set(within.map((span) => span.spanId))
        for (const span of within)
          if (span.spanId !== request?.spanId) expect(children.has(span.parentSpanId ?? "")).toBeTrue()
        expect(
          within.some((span) => String(span.attributes["db.query.text"]).includes("payments"))
        ).toBeTrue()
        expect(
          spans.some(
            (span) => span.name === "rpc eth_chainId" && span.attributes["server.address"] === "127.0.0.1:9"
          )
        ).toBeTrue()
        const attempt = spans.find((span) => span.name === "webhook attempt")
        expect(attempt?.attributes).toMatchObject({
          "webhook.id": tested.body.delivery.id,
          "webhook.attempt": 1
        })
        // Workers that poll leave no traces.
        expect(
          spans.filter((span) => span.parentSpanId === undefined && "db.query.text" in span.attributes)
        ).toEqual([])

        expect(sink.metricNames()).toContain("quittance_http_request_duration_seconds")
        expect(sink.metricNames()).toContain("quittance_queue_depth")
        expect(
          sink.logs().some((log) => log.severity === "Error" && log.attributes["alert"] === "rpc_unreachable")
        ).toBeTrue()
        for (const resource of sink.resources())
          expect(resource).toMatchObject({
            "service.name": "quittance",
            "service.version": version,
            "service.instance.id": expect.stringMatching(/^[0-9a-f-]{36}$/)
          })
        expect(new Set(sink.resources().map((one) => one["service.instance.id"])).size).toBe(1)
        expect(sink.headers().every((one) => one.get("x-collector-key") === "a key")).toBeTrue()
        for (const secret of [keys.test.secret, keys.test.publishable, buyerDidToken])
          expect(sink.text()).not.toContain(secret)
      })
  )

  liveEffect("a collector that is down changes nothing", () =>
    Effect.gen(function* () {
      const { service, keys, call, open } = yield* shopOn({
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9"
      })
      for (let index = 0; index < 3; index++) {
        const opened = yield* open
        expect(opened.status).toBe(201)
        const found = yield* call("GET", `/api/v1/payments/${opened.body.payment.id}`, keys.test.secret)
        expect(found.status).toBe(200)
      }
      yield* service.kill("SIGTERM")
      yield* service.succeeded
    })
  )
})
