import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { SecureRandom } from "effect/crypto"
import { PaymentIntentsApi, IntentUrl } from "./src/intents/Api.ts"
import { UsdAmount } from "./src/domain/Money.ts"
import { commonHeaders } from "./src/http/Answers.ts"
import { unstorablePlace, hasUnstorableTarget } from "./src/http/unstorableText.ts"
import { requestIdOf } from "./src/http/RequestContext.ts"
const bench = (name: string, f: () => unknown, N = 200000) => {
  for (let r = 0; r < 4; r++) {
    const t = process.cpuUsage()
    for (let i = 0; i < N; i++) f()
    const u = process.cpuUsage(t)
    if (r === 3) console.log(name.padEnd(30), ((u.user + u.system) / N).toFixed(2), "us")
  }
}
const P = Schema.Struct({ amount: UsdAmount, intentUrl: IntentUrl })
const dec = Schema.decodeUnknownEffect(P, {errors: "all", onExcessProperty: "error"} as any)
const body = JSON.stringify({ amount: "12.50", intentUrl: "https://shop.example.com/orders/1042" })
const value = JSON.parse(body)
bench("decode payload", () => Effect.runSync(dec(value) as any))
const decA = Schema.decodeUnknownEffect(Schema.Struct({ amount: UsdAmount }))
bench("decode amount", () => Effect.runSync(decA({amount: "12.50"}) as any))
const decU = Schema.decodeUnknownEffect(Schema.Struct({ intentUrl: IntentUrl }))
bench("decode url", () => Effect.runSync(decU(value) as any))
const decS = Schema.decodeUnknownEffect(Schema.Struct({ amount: Schema.String, intentUrl: Schema.String }))
bench("decode strings", () => Effect.runSync(decS(value) as any))
bench("runSync", () => Effect.runSync(Effect.sync(() => 1)))
bench("URL.parse", () => URL.parse(value.intentUrl))
bench("URL.parse+fields", () => { const u = URL.parse(value.intentUrl)!; return u.hostname + u.protocol + u.username + u.password })
bench("noControls", () => value.intentUrl.isWellFormed() && !/[\p{Cc}\s\\]/u.test(value.intentUrl))
bench("JSON.parse", () => JSON.parse(body))
bench("unstorablePlace", () => unstorablePlace(body, value))
bench("hasUnstorableTarget", () => hasUnstorableTarget("/api/v1/payment-intents"))
const created = { intent: { amount: "12.50", currency: "USD", mode: "test", receiver: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", token: { address: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", chainId: 84532 } }, intentToken: "a".repeat(600) }
bench("jsonUnsafe", () => HttpServerResponse.jsonUnsafe(created, { status: 201 }))
bench("JSON.stringify", () => JSON.stringify(created))
const resp = HttpServerResponse.jsonUnsafe(created, { status: 201 })
bench("setHeaders common", () => HttpServerResponse.setHeaders(resp, { ...commonHeaders("req_x", "http://localhost"), ...{}, ...{} }))
bench("requestIdOf", () => requestIdOf(undefined))
const r = Effect.runSync(Effect.provide(SecureRandom.SecureRandom, (await import("@effect/platform-bun")).BunCrypto.layer as any) as any) as any
bench("uuidV7", () => Effect.runSync(r.uuidV7))
bench("Bun.randomUUIDv7", () => Bun.randomUUIDv7())
const secret = "a".repeat(43), s = "b".repeat(560)
bench("hmac", () => new Bun.CryptoHasher("sha256", secret).update(s).digest("base64url"))
const pre = new Bun.CryptoHasher("sha256", secret)
try { bench("hmac copy", () => pre.copy().update(s).digest("base64url")); console.log(pre.copy().update(s).digest("base64url") === new Bun.CryptoHasher("sha256", secret).update(s).digest("base64url")) } catch (e) { console.log(String(e)) }
bench("buffer b64url", () => Buffer.from(JSON.stringify(created)).toString("base64url"))
bench("setTimeout", () => clearTimeout(setTimeout(() => {}, 10000)))
bench("new Request/Response", () => new Response("abc", { status: 201, headers: { a: "b", c: "d", "content-type": "application/json" } }))
