// A shop with people to notify: the notification workers on a real Postgres, with a real SMTP server.
import { Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { AuditLog } from "../../src/merchants/audit/AuditLog.ts"
import { AlertHookRepo } from "../../src/notifications/AlertHookRepo.ts"
import { AlertHooks } from "../../src/notifications/AlertHooks.ts"
import { NotificationRepo } from "../../src/notifications/NotificationRepo.ts"
import * as NotificationWorker from "../../src/notifications/NotificationWorker.ts"
import { AlertRepo } from "../../src/platform/alerts/AlertRepo.ts"
import { EgressPolicy } from "../../src/platform/egress/EgressPolicy.ts"
import { Resolver } from "../../src/platform/egress/Resolver.ts"
import * as MailWorker from "../../src/platform/mail/MailWorker.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { DueWork } from "../../src/platform/workers/DueWork.ts"
import { WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import { testDatabase } from "../support/database.ts"
import { testConfig } from "../support/memory.ts"

export const until = <E, R>(what: string, holds: Effect.Effect<boolean, E, R>) =>
  holds.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (held) => held }),
    Effect.timeoutOrElse({
      duration: "15 seconds",
      orElse: () => Effect.die(new Error(`never came true: ${what}`))
    })
  )

/** With the sender in memory, or with the real sender that may also reach `allowedHosts`. */
const worldOf = <Sender>(
  port: number,
  sender: Layer.Layer<Sender | WebhookSender, never, EgressPolicy>,
  allowedHosts: ReadonlyArray<string>
) => {
  const url = Redacted.make(`smtp://127.0.0.1:${port}`)
  const config = testConfig({ smtp: Option.some({ url, from: "shop@pay.example.com" }) })
  const services = Layer.mergeAll(
    AlertHooks.layer,
    AlertHookRepo.layer,
    NotificationRepo.layer,
    AlertRepo.layer,
    AuditLog.layer,
    sender
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(SecretBox.layer, EgressPolicy.layerOf({ ownHosts: [], allowedHosts }))),
    Layer.provideMerge(testDatabase.layer),
    Layer.provideMerge(Layer.mergeAll(config, SecureRandom.layerWebCrypto))
  )
  const often = Layer.succeed(DueWork, { next: () => Effect.sleep("20 millis"), isAwaited: () => true })
  return {
    services,
    instance: Layer.build(
      Layer.mergeAll(NotificationWorker.layer, MailWorker.layer).pipe(Layer.provide(often))
    )
  }
}

export const world = (port: number) => worldOf(port, WebhookSender.layerMemory, [])
export const worldWithSockets = (port: number, allowedHosts: ReadonlyArray<string>) =>
  worldOf(port, WebhookSender.layer.pipe(Layer.provide(Resolver.layer)), allowedHosts)

/** A merchant with members, each with a language and choices. */
export const shop = (
  name: string,
  members: ReadonlyArray<{
    readonly email: string
    readonly locale?: string
    readonly alerts?: string
    readonly weekly?: boolean
  }>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const id = crypto.randomUUID()
    yield* sql`
      INSERT INTO merchants (id, name, receiver_test, receiver_live, bound_tokens_only, created_at, time_zone)
      VALUES (${id}, ${name}, decode(repeat('11', 20), 'hex'), decode(repeat('22', 20), 'hex'), true, now(),
        'Asia/Tokyo')`
    for (const { alerts = "all", email, locale = "en", weekly = true } of members) {
      const user = crypto.randomUUID()
      yield* sql`
        INSERT INTO users (id, email, password_hash, operator, created_at, locale)
        VALUES (${user}, ${email}, 'x', false, now(), ${locale})`
      yield* sql`
        INSERT INTO merchant_members (merchant_id, user_id, role, created_at, notified_alerts, notified_weekly)
        VALUES (${id}, ${user}, 'owner', now(), ${alerts}, ${weekly})`
    }
    return MerchantId.make(id)
  })

/** Later than every earlier one, because alerts of the same millisecond have no order. */
let raisedAt = 0
const nextTime = () => {
  raisedAt = Math.max(Date.now(), raisedAt + 1)
  return new Date(raisedAt)
}

export const raise = (merchantId: MerchantId, env: "test" | "live", message: string) =>
  Effect.gen(function* () {
    const alerts = yield* AlertRepo
    const id = crypto.randomUUID()
    const tenant = Option.some({ merchantId, env })
    yield* alerts.insert(id, { kind: "webhook_exhausted", tenant, subject: id, message }, nextTime())
    return id
  })
