// `bun test/instances/upgrade/record.ts VERSION postgres://…`: records the fixture of a version from that version's own
// checkout: the database after a day of payments, and its API's answers. Needs `pg_dump` of the server's version or
// later.
import { join } from "node:path"
import { Context, Effect, Layer, Redacted } from "effect"
import { LocalChain } from "../../../src/app/dev/LocalChain.ts"
import { payIntent } from "../../../src/app/dev/payIntent.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { password, signUp } from "../../dashboard/person.ts"
import { spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { until } from "../cluster.ts"
import { upgradeEnv } from "./upgradeEnv.ts"

const [version = "", databaseUrl = ""] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version) || !databaseUrl.startsWith("postgres://")) {
  console.error("Usage: bun test/instances/upgrade/record.ts 0.1.0 postgres://user@host:port/empty-database")
  process.exit(2)
}
const file = (name: string) => join(import.meta.dir, name)

const recorded = Effect.gen(function* () {
  const chain = Context.get(yield* Layer.build(LocalChain.layer({ blockTimeSeconds: 1 })), LocalChain)
  let answer = 200
  let delivered = 0
  const hook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      if (answer === 200) delivered++
      return new Response("noted", { status: answer })
    }
  })
  const service = yield* spawnService({
    ...upgradeEnv(databaseUrl, yield* temporaryDirectory, hook.port ?? 0),
    BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
    FAUCET_PRIVATE_KEY: Redacted.value(chain.faucetPrivateKey)
  })
  yield* untilReady(service)
  const person = yield* Effect.promise(() => signUp(service.baseUrl, Address.make(chain.account(5).address)))
  const { publishable, secret } = person.keys.test
  const call = (method: string, path: string, key: string, body?: unknown) =>
    Effect.promise(async () => {
      const response = await fetch(`${service.baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return await response.json()
    })
  const endpoint = yield* call("POST", "/api/v1/webhook-endpoint", secret, {
    url: `http://127.0.0.1:${hook.port}/hooks`
  })
  const pay = (amount: string) =>
    payIntent({
      baseUrl: service.baseUrl,
      secretKey: secret,
      publishableKey: publishable,
      amount,
      onStep: () => Effect.void
    })
  const first = yield* pay("10.00")
  yield* pay("2.50")
  yield* until("both are delivered", () => delivered === 2)
  const link = yield* call("POST", "/api/v1/payment-links", secret, {
    amount: "7.00",
    description: "A book",
    once: false
  })
  const receipt = yield* call("POST", `/api/v1/payments/${first.paymentId}/receipt`, publishable)
  // The last payment's delivery is still waiting.
  answer = 500
  yield* pay("1.11")
  const deliveries = () => call("GET", "/api/v1/events", secret)
  yield* Effect.sleep("3 seconds")
  const events = yield* deliveries()
  const payments = yield* call("GET", "/api/v1/payments?limit=100", secret)
  yield* service.kill("SIGTERM")
  yield* service.exited
  hook.stop(true)
  const answers = {
    merchantId: person.merchantId,
    email: person.email,
    password,
    keys: { secret, publishable },
    signingSecret: endpoint.secret,
    receipt: { url: receipt.url, jws: receipt.jws },
    link: { url: link.link.url },
    payments,
    events
  }
  yield* Effect.promise(() =>
    Bun.write(file(`answers-${version}.json`), `${JSON.stringify(answers, null, 2)}\n`)
  )
  const dump = Bun.spawnSync(["pg_dump", "--no-owner", "--inserts", `--dbname=${databaseUrl}`])
  if (!dump.success) throw new Error(dump.stderr.toString())
  // psql's own commands, and settings that only the dump's server has.
  const sql = dump.stdout
    .toString()
    .split("\n")
    .filter(
      (line) => !/^\\|^SELECT pg_catalog\.set_config|^SET (default_|transaction_timeout)|^--|^$/.test(line)
    )
    .join("\n")
  yield* Effect.promise(() => Bun.write(file(`database-${version}.sql`), `${sql}\n`))
  console.log(`Wrote the database and the answers of ${version} to test/instances/upgrade.`)
})

await Effect.runPromise(Effect.scoped(recorded))
process.exit(0)
