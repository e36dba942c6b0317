// An endpoint is down for a day: 2,000 failed deliveries become one mail an hour to each member, and one post an hour.
import { expect } from "bun:test"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AlertHooks } from "../../src/notifications/AlertHooks.ts"
import { NotificationRepo } from "../../src/notifications/NotificationRepo.ts"
import { AlertRepo } from "../../src/platform/alerts/AlertRepo.ts"
import { WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { smtpServer } from "../platform/mail/smtpServer.ts"
import { liveEffect } from "../support/run.ts"
import { raise, shop, until, world } from "./notificationWorld.ts"

const hour = 3_600_000
const orders = 2_000
const steps = 24 * 12

liveEffect("a day's outage sends at most a mail an hour to each of three, and none is left out", () =>
  Effect.gen(function* () {
    const { services } = world(9)
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* NotificationRepo
      const hooks = yield* AlertHooks
      const members = ["ada", "bob", "cyd"].map((name) => ({ email: `${name}@example.com` }))
      const merchant = yield* shop("Down", members)
      const beside = yield* shop("Beside", [{ email: "dan@example.com" }])
      yield* hooks.add({ merchantId: merchant, env: "test" }, "plain", "https://ops.example.com/alerts")
      const start = Date.now()
      const mails: Array<{ readonly to: string; readonly at: number; readonly alerts: number }> = []
      const raiseAt = (of: string, kind: string, at: Date, count: number) => sql`
        INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at, notify_at)
        SELECT gen_random_uuid(), ${of}, 'test', ${kind}, gen_random_uuid(), 'An order failed.', ${at}, ${at}
        FROM generate_series(1, ${count})`
      let raised = 0
      for (let step = 0; step <= steps + 13; step++) {
        const at = new Date(start + (step * 24 * hour) / steps)
        const due = Math.min(orders, Math.ceil((step * orders) / steps))
        if (due > raised) yield* raiseAt(merchant, "webhook_exhausted", at, due - raised)
        raised = due
        // Other kinds of alerts and other merchants do not wait for it.
        if (step === 7) yield* raiseAt(merchant, "transfer_dropped", at, 1)
        if (step === 8) yield* raiseAt(beside, "webhook_exhausted", at, 1)
        const tell = repo.notifyAlerts(at, 20, ({ messages, recipients }) =>
          Effect.sync(() => {
            for (const { email } of recipients)
              mails.push({ to: email, at: at.getTime(), alerts: messages.length })
          })
        )
        // Two instances send.
        yield* Effect.all([tell, tell], { concurrency: 2 })
      }
      for (const { email } of members) {
        const own = mails.filter(({ to }) => to === email)
        expect(own.length).toBeLessThanOrEqual(27)
        expect(own.reduce((sum, { alerts }) => sum + alerts, 0)).toBe(orders + 1)
        const dropped = own.filter(({ at }) => at === start + (7 * 24 * hour) / steps)
        expect(dropped).toHaveLength(1)
        const times = own.filter((mail) => !dropped.includes(mail)).map(({ at }) => at)
        for (const [index, at] of times.entries())
          if (index > 0) expect(at - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(hour)
      }
      expect(mails.filter(({ to }) => to === "dan@example.com")).toEqual([
        { to: "dan@example.com", at: start + (8 * 24 * hour) / steps, alerts: 1 }
      ])
      expect(yield* sql`SELECT count(*)::int AS posts, sum(alerts)::int AS alerts FROM alert_posts`).toEqual([
        { posts: mails.filter(({ to }) => to === "ada@example.com").length, alerts: orders + 1 }
      ])
    }).pipe(Effect.scoped, Effect.provide(services))
  })
)

liveEffect("a mail shows the newest five and the number of the others, a post the number of all", () =>
  Effect.gen(function* () {
    const { port, taken } = yield* smtpServer(() => undefined)
    const { instance, services } = world(port)
    yield* Effect.gen(function* () {
      const hooks = yield* AlertHooks
      const sender = yield* WebhookSenderMemory
      const merchant = yield* shop("Down", [{ email: "ada@example.com" }])
      const tenant = { merchantId: merchant, env: "test" as const }
      yield* hooks.add(tenant, "plain", "https://ops.example.com/alerts")
      yield* hooks.add(tenant, "slack", "https://hooks.slack.com/services/T0/B0/secret")
      for (let index = 0; index < 8; index++) yield* raise(merchant, "test", `Order ${index} failed.`)
      yield* instance
      yield* until(
        "all were told",
        Effect.map(sender.sent, (sent) => sent.length === 2 && taken.length === 1)
      )
      const text = taken[0]?.text ?? ""
      expect(text).toContain("Order 7 failed.")
      expect(text).not.toContain("Order 2 failed.")
      expect(text).toContain("and 3 more")
      const bodies = (yield* sender.sent).map(({ body }) => new TextDecoder().decode(body)).join("\n")
      expect(bodies).toContain(`"message":"Order 7 failed.","alerts":8`)
      expect(bodies).toContain("Order 7 failed. (and 7 more)")
    }).pipe(Effect.scoped, Effect.provide(services))
  })
)

liveEffect("alerts of one network to the operator do not wait for the other network's", () =>
  Effect.gen(function* () {
    const { services } = world(9)
    yield* Effect.gen(function* () {
      const repo = yield* NotificationRepo
      const alerts = yield* AlertRepo
      const start = Date.now()
      const told: Array<readonly [string | null, ReadonlyArray<string>]> = []
      for (const [minutes, env] of [
        [0, "test"],
        [1, "live"],
        [2, "test"]
      ] as const) {
        const at = new Date(start + minutes * 60_000)
        yield* alerts.insert(
          crypto.randomUUID(),
          {
            kind: "rpc_unreachable",
            tenant: Option.none(),
            env,
            subject: `${env} node${minutes}.example`,
            message: `${minutes}`
          },
          at
        )
        yield* repo.notifyAlerts(new Date(start + hour / 2), 20, (group) =>
          Effect.sync(() => void told.push([group.env, group.messages]))
        )
      }
      expect(told).toEqual([
        ["test", ["0"]],
        ["live", ["1"]]
      ])
    }).pipe(Effect.scoped, Effect.provide(services))
  })
)
