// Prometheus's scrape of the running service.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { Api } from "../../../src/app/Api.ts"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { DashboardApi } from "../../../src/dashboard/api/Api.ts"
import { endpointsOf } from "../../../src/platform/http/Routing/pathTable.ts"
import { send } from "../../support/contractCheck.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { type Family, parsePrometheusText, total } from "../../support/prometheusText.ts"
import { liveEffect } from "../../support/run.ts"

const node = "127.0.0.1:9"
const noChain = {
  BASE_SEPOLIA_RPC_URLS: `http://user:rpc-secret@${node}/path-secret`,
  ARBITRUM_RPC_URLS: `http://${node}`
}
const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
  quittance_http_request_duration_seconds: ["route", "status", "le"],
  quittance_rpc_request_duration_seconds: ["env", "node", "outcome", "le"],
  quittance_settlements_total: ["env"],
  quittance_verifications_total: ["reason"],
  quittance_webhook_attempts_total: ["outcome"],
  quittance_webhook_deliveries_exhausted_total: [],
  quittance_webhook_unreadable_secrets_total: [],
  quittance_webhook_delivery_lag_seconds: ["le"],
  quittance_webhook_overdue_seconds: [],
  quittance_queue_overdue_seconds: ["queue"],
  quittance_queue_depth: ["queue"],
  quittance_chain_unread_seconds: [],
  quittance_open_alerts: ["kind"],
  quittance_network_state: ["env", "state"],
  quittance_wallet_balance: ["wallet", "env", "asset"],
  quittance_x402_settlements_total: ["outcome"],
  quittance_build_info: ["version"],
  process_resident_memory_bytes: [],
  process_start_time_seconds: [],
  process_cpu_seconds_total: []
}

const scrape = async (
  port: number
): Promise<{ readonly text: string; readonly families: ReadonlyMap<string, Family> }> => {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
  const text = await response.text()
  return { text, families: parsePrometheusText(text) }
}

describe("Metrics of the running service", () => {
  liveEffect("rates, latencies and errors by route; queues; RPC by node; no label is unbounded", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const cli = yield* spawnProgram(
        ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
        { DATA_DIR: dataDir }
      )
      yield* cli.succeeded
      const { merchant, keys } = JSON.parse(cli.stdout())
      const metricsPort = yield* freePort(0)
      const service = yield* spawnService({
        DATA_DIR: dataDir,
        METRICS_PORT: String(metricsPort),
        ...noChain
      })
      yield* untilReady(service)
      const call = (method: string, path: string, key?: string, body?: unknown) =>
        Effect.promise(() => send(service.baseUrl, { method, path, key, body }))

      const intent = yield* call("POST", "/api/v1/payment-intents", keys.test.secret, {
        amount: "10.00",
        intentUrl: "https://shop.example.com/orders/1042"
      })
      const opened = yield* call("POST", "/api/v1/payments", keys.test.publishable, {
        intentToken: intent.body.intentToken
      })
      const id: string = opened.body.payment.id
      for (let index = 0; index < 3; index++) yield* call("GET", `/api/v1/payments/${id}`, keys.test.secret)
      yield* call("GET", `/api/v1/payments/${crypto.randomUUID()}`, keys.test.secret)
      yield* call("GET", `/api/v1/payments/${id}`, "sk_test_wrong")
      for (const path of ["/api/v1/nothing", `/${crypto.randomUUID()}`, "/api/v1/payments/"])
        yield* call("GET", path, keys.test.secret)

      const { text, families } = yield* Effect.promise(async () => {
        // The first measurement of the queues needs no request.
        for (let tries = 0; ; tries++) {
          const found = await scrape(metricsPort)
          if (found.families.has("quittance_open_alerts") || tries === 1_200) return found
          await Bun.sleep(50)
        }
      })
      const requests = (labels: Record<string, string>) =>
        total(families, "quittance_http_request_duration_seconds_count", labels)
      expect(requests({ route: "paymentIntents.create", status: "2xx" })).toBe(1)
      expect(requests({ route: "payments.open", status: "2xx" })).toBe(1)
      expect(requests({ route: "payments.retrieve", status: "2xx" })).toBe(3)
      expect(requests({ route: "payments.retrieve", status: "4xx" })).toBe(2)
      expect(requests({ route: "unrouted", status: "4xx" })).toBe(3)
      const seconds = total(families, "quittance_http_request_duration_seconds_sum", {
        route: "payments.retrieve"
      })
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThan(60)
      expect(
        total(families, "quittance_rpc_request_duration_seconds_count", { node, outcome: "transport" })
      ).toBeGreaterThan(0)
      expect(
        families
          .get("quittance_queue_depth")
          ?.samples.map((one) => one.labels["queue"])
          .sort()
      ).toEqual(["blocks", "deliveries", "reports", "transfers", "x402"])
      expect(families.get("quittance_webhook_attempts_total")?.samples).toHaveLength(9)
      expect(families.get("quittance_verifications_total")?.samples).toHaveLength(19)
      expect(total(families, "process_resident_memory_bytes")).toBeGreaterThan(10_000_000)

      const routes = new Set(
        [...endpointsOf(Api), ...endpointsOf(DashboardApi)].map((one) => one.name).concat("unrouted")
      )
      for (const family of families.values()) {
        const labels = allowed[family.name]
        expect(labels, family.name).toBeDefined()
        expect(family.help, family.name).toBeDefined()
        for (const sample of family.samples) {
          for (const name of Object.keys(sample.labels)) expect(labels, family.name).toContain(name)
          const { route } = sample.labels
          if (route !== undefined) expect(routes.has(route), route).toBeTrue()
        }
      }
      for (const secret of [
        id,
        merchant.id,
        "rpc-secret",
        "path-secret",
        receiver,
        keys.test.secret,
        keys.test.publishable
      ])
        expect(text).not.toContain(secret)

      const elsewhere = yield* call("GET", "/metrics")
      expect(elsewhere.status).toBe(404)
    })
  )

  liveEffect("a metrics port in use stops the start with a sentence that names it", () =>
    Effect.gen(function* () {
      const port = yield* freePort(0)
      const taken = Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response() })
      const child = yield* spawnProgram(["src/app/main.ts"], {
        DATA_DIR: yield* temporaryDirectory,
        PORT: String(yield* freePort(0)),
        METRICS_PORT: String(port),
        ...noChain
      })
      expect(yield* child.exited).toBe(1)
      taken.stop(true)
      expect(child.output()).toContain("METRICS_PORT")
    })
  )
})
