// The service as the image runs it: one file, with the browser programs' sources next to it.
import { expect } from "bun:test"
import { Effect, Schedule } from "effect"
import { mnemonicToAccount } from "viem/accounts"
import { developmentMnemonic } from "../src/app/dev/LocalChain.ts"
import { createDidToken } from "../src/payments/buyers/createDidToken.ts"
import { placeholder } from "../src/platform/pages/compile.ts"
import { request, signUp } from "./dashboard/person.ts"
import { tokenChangesOf } from "./platform/http/shop.ts"
import { smtpServer } from "./platform/mail/smtpServer.ts"
import { send } from "./support/contractCheck.ts"
import { freshAddress } from "./support/freshAddress.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "./support/process.ts"
import { liveEffect } from "./support/run.ts"
import { receiver } from "./support/service.ts"

liveEffect("the built service answers, and serves the browser programs", () =>
  Effect.gen(function* () {
    const build = yield* spawnProgram(["run", "build"], {})
    expect([yield* build.exited, build.output()]).toEqual([0, expect.stringContaining("main.js")])
    const mail = yield* smtpServer(() => undefined)
    const env = {
      SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      MAIL_FROM: "payments@example.com",
      DATA_DIR: yield* temporaryDirectory,
      BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
      ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
    }
    const cli = yield* spawnProgram(
      ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
      env
    )
    yield* cli.succeeded
    const { keys } = JSON.parse(cli.stdout())

    const service = yield* spawnService(env, "dist/main.js")
    yield* untilReady(service)
    const ask = (path: string, init?: RequestInit) =>
      Effect.promise(async () => {
        const response = await fetch(`${service.baseUrl}${path}`, init)
        return { status: response.status, text: await response.text() }
      })
    const intent = yield* ask("/api/v1/payment-intents", {
      method: "POST",
      headers: { authorization: `Bearer ${keys.test.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ amount: "10.00", intentUrl: "https://shop.example.com/1" })
    })
    expect(intent.status).toBe(201)
    const opened = yield* ask("/api/v1/payments", {
      method: "POST",
      headers: { authorization: `Bearer ${keys.test.publishable}`, "content-type": "application/json" },
      body: JSON.stringify({ intentToken: JSON.parse(intent.text).intentToken })
    })
    expect(opened.status).toBe(201)
    for (const path of [
      "/dashboard",
      "/pay",
      "/playground",
      "/",
      "/docs",
      "/docs/webhooks",
      "/docs/reference.md",
      "/openapi.json"
    ]) {
      const page = yield* ask(path)
      expect([path, page.status]).toEqual([path, 200])
    }
    const scripts = yield* Effect.forEach(["/dashboard", "/pay", "/playground"], (path) =>
      Effect.map(ask(path), ({ text }) =>
        [...text.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, one = ""]) => one)
      )
    )
    const loaded = new Set(["/checkout.js", ...scripts.flat()])
    expect(loaded.size).toBeGreaterThan(3)
    for (const path of loaded) {
      const file = yield* ask(path)
      expect([path, file.status, file.text.length > 1_000]).toEqual([path, 200, true])
    }
    // Modules that load with the first signature, passkey and mail are separate files of the image.
    const now = Math.floor(Date.now() / 1000)
    const audience = service.baseUrl.replace("127.0.0.1", "localhost")
    const buyer = mnemonicToAccount(developmentMnemonic, { addressIndex: 6 })
    const { id } = JSON.parse(opened.text).payment
    const buyerDidToken = yield* Effect.promise(() =>
      createDidToken(buyer, { audience, lifetimeSeconds: 900, now })
    )
    const reported = yield* Effect.promise(() =>
      send(service.baseUrl, {
        method: "PATCH",
        path: `/api/v1/payments/${id}`,
        key: keys.test.publishable,
        body: {
          buyerDidToken,
          transactionId: `0x${"1".repeat(64)}`,
          tokenChanges: tokenChangesOf(10_000_000n, "test", receiver)
        }
      })
    )
    // No node answers; a missing library would be an internal error instead.
    expect(reported.body.error.code).toBe("CHAIN_UNAVAILABLE")
    const person = yield* Effect.promise(() => signUp(service.baseUrl, freshAddress()))
    const passkey = yield* Effect.promise(() =>
      request(service.baseUrl, "POST", "/sign-in/passkey/options", { body: {} })
    )
    expect(JSON.stringify(passkey.body)).toContain('"userVerification":"required"')
    yield* Effect.promise(() =>
      request(service.baseUrl, "POST", "/forgotten-password", { body: { email: person.email } })
    )
    yield* Effect.suspend(() =>
      Effect.sync(() => mail.taken.some(({ to }) => to.includes(person.email)))
    ).pipe(
      Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (came) => came }),
      Effect.timeout("90 seconds")
    )
    // The build creates the programs; the service writes its own address into them.
    const made = yield* Effect.promise(() => Bun.file("dist/browser/checkout.component.main.js").text())
    expect(made).not.toContain(service.baseUrl)
    expect((yield* ask("/checkout.js")).text).toBe(
      made
        .replaceAll(placeholder("QUITTANCE_BASE_URL"), service.baseUrl.replace("127.0.0.1", "localhost"))
        .replaceAll(placeholder("QUITTANCE_WALLETCONNECT_INTEGRITY"), "")
    )
    yield* service.kill("SIGTERM")
    yield* service.succeeded
  })
)
