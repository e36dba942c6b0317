// Notifications by mail to a real SMTP server and by posts: each once, in the person's language, as they chose,
// whatever stops in between.

import { describe, expect } from "bun:test"
import { createHmac } from "node:crypto"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AlertHooks } from "../../src/notifications/AlertHooks.ts"
import { NotificationRepo } from "../../src/notifications/NotificationRepo.ts"
import { answered } from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import { WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { smtpServer } from "../platform/mail/smtpServer.ts"
import { rawReceiver } from "../support/rawReceiver.ts"
import { liveEffect } from "../support/run.ts"

import { withoutMoves } from "../support/withoutMoves.ts"
import { raise, shop, until, world, worldWithSockets } from "./notificationWorld.ts"

describe("Notifications", () => {
  liveEffect("an alert reaches each person who chose it once, in their language, with two instances", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* smtpServer(() => undefined)
      const { instance, services } = world(port)
      yield* Effect.gen(function* () {
        const merchant = yield* shop("Demo Books", [
          { email: "all@example.com" },
          { email: "deutsch@example.com", locale: "de" },
          { email: "live@example.com", alerts: "live" },
          { email: "none@example.com", alerts: "none" }
        ])
        yield* raise(merchant, "test", "A delivery failed on test.")
        yield* raise(merchant, "live", "A delivery failed on live.")
        yield* instance
        yield* instance
        yield* until(
          "all were told",
          Effect.sync(() => taken.length >= 5)
        )
        yield* Effect.sleep("300 millis")
        const of = (words: string) =>
          taken
            .filter(({ text }) => text.includes(words))
            .flatMap(({ to }) => to)
            .sort()
        expect(of("failed on test")).toEqual(["all@example.com", "deutsch@example.com"])
        expect(of("failed on live")).toEqual(["all@example.com", "deutsch@example.com", "live@example.com"])
        const german = taken.find(({ to }) => to.includes("deutsch@example.com"))
        expect(german?.text).toContain("Demo Books")
        expect(german?.text).toContain("Aufmerksamkeit")
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("an instance that stops between the mails and their record still notifies exactly once", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* smtpServer(() => undefined)
      const { instance, services } = world(port)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const repo = yield* NotificationRepo
        const merchant = yield* shop("Crashed", [{ email: "crash@example.com" }])
        const id = yield* raise(merchant, "test", "It stopped here.")
        const stopped = yield* Effect.exit(
          repo.notifyAlerts(new Date(Date.now() + 1_000), 100, () =>
            Effect.andThen(
              Effect.orDie(sql`
                INSERT INTO mails (id, recipient, subject, body, created_at, due_at)
                VALUES (gen_random_uuid(), 'crash@example.com', 'x', 'x', now(), now())`),
              Effect.die(new Error("killed"))
            )
          )
        )
        expect(stopped._tag).toBe("Failure")
        expect(yield* sql`SELECT notify_at IS NULL AS told FROM alerts WHERE id = ${id}`).toEqual([
          { told: false }
        ])
        yield* instance
        yield* until(
          "it was told",
          Effect.sync(() => taken.length > 0)
        )
        yield* Effect.sleep("300 millis")
        expect(taken.filter(({ to }) => to.includes("crash@example.com"))).toHaveLength(1)
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("hooks get their own form, plain ones signed; a failed one is retried, at most five times", () =>
    Effect.gen(function* () {
      const { port } = yield* smtpServer(() => undefined)
      const { instance, services } = world(port)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const hooks = yield* AlertHooks
        const sender = yield* WebhookSenderMemory
        const merchant = yield* shop("Hooked & <!channel>", [])
        const tenant = { merchantId: merchant, env: "test" as const }
        const plain = yield* hooks.add(tenant, "plain", "https://ops.example.com/alerts")
        yield* hooks.add(tenant, "slack", "https://hooks.slack.com/services/T0/B0/secret")
        const refused = yield* Effect.flip(hooks.add(tenant, "plain", "http://10.0.0.1/"))
        expect(refused.code).toBe("INVALID_WEBHOOK_URL")
        for (const name of ["c", "d", "e"]) yield* hooks.add(tenant, "plain", `https://${name}.example.com/`)
        expect((yield* Effect.flip(hooks.add(tenant, "plain", "https://f.example.com/"))).code).toBe(
          "ALERT_HOOK_LIMIT"
        )
        const rows = JSON.stringify(
          yield* sql`SELECT host, encode(secret_ciphertext, 'escape') AS sealed FROM alert_hooks`
        )
        expect(rows).toContain("hooks.slack.com")
        expect(rows).not.toContain("services/T0")
        yield* sender.script("https://ops.example.com/alerts", [answered(500)])
        const id = yield* raise(
          merchant,
          "test",
          "A delivery to <https://evil.example|your dashboard> failed."
        )
        yield* instance
        yield* instance
        yield* until(
          "all were tried",
          Effect.map(sender.sent, (sent) => sent.filter((one) => one.id === id).length >= 5)
        )
        const sent = (yield* sender.sent).filter((one) => one.id === id)
        const to = (host: string) => sent.find(({ url }) => url.includes(host))
        expect(JSON.parse(new TextDecoder().decode(to("ops.example")?.body))).toMatchObject({
          id,
          type: "alert.webhook_exhausted",
          env: "test",
          message: "A delivery to <https://evil.example|your dashboard> failed."
        })
        expect(to("ops.example")?.headers["x-service-signature"]).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/u)
        expect(plain.secret).toStartWith("whsec_")
        const slack: { readonly text: string } = JSON.parse(new TextDecoder().decode(to("slack")?.body))
        expect(Object.keys(slack)).toEqual(["text"])
        // Slack reads them neither as a mention nor as a link.
        expect(slack.text).toStartWith(
          "*Hooked &amp; &lt;!channel&gt; (test)*: A delivery to &lt;https://evil.example|your dashboard&gt; failed. <http"
        )
        // Failed posts are sent again after each wait; accepted ones are not.
        for (let attempt = 2; attempt <= 5; attempt++) {
          yield* until(
            `attempt ${attempt - 1} was noted`,
            Effect.map(
              sql`SELECT 1 FROM alert_posts WHERE error = 'status 500' AND attempts = ${attempt - 1}
                AND due_at > now() + interval '30 seconds' AND due_at <= now() + interval '2 hours'`,
              (found) => found.length === 1
            )
          )
          yield* sql`UPDATE alert_posts SET due_at = now(), error = NULL WHERE error = 'status 500'`
          yield* until(
            `attempt ${attempt}`,
            Effect.map(
              sender.sent,
              (all) => all.filter(({ url }) => url.includes("ops.example")).length === attempt
            )
          )
        }
        yield* until(
          "it was given up",
          Effect.map(
            sql`SELECT 1 FROM alert_posts WHERE error IS NOT NULL AND due_at IS NULL`,
            (found) => found.length === 1
          )
        )
        expect((yield* sender.sent).filter(({ url }) => !url.includes("ops.example"))).toHaveLength(4)
        // An earlier alert that was sent does not hide the failure.
        const [earlier, before] = [crypto.randomUUID(), new Date(Date.now() - 86_400_000)]
        yield* sql`
            INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at, notify_at)
            VALUES (${earlier}, ${merchant}, 'test', 'webhook_exhausted', ${earlier}, 'Earlier.', ${before}, NULL)`
        yield* sql`
            INSERT INTO alert_posts (hook_id, alert_id, attempts, sent_at)
            VALUES (${plain.id}, ${earlier}, 1, ${before})`
        const shown = (yield* hooks.list(tenant)).find((one) => one.id === plain.id)
        expect(shown?.error).toBe("status 500")
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("a post without its key fails like any other, and is sent if the key comes back", () =>
    Effect.gen(function* () {
      const { port } = yield* smtpServer(() => undefined)
      const { instance, services } = world(port)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const hooks = yield* AlertHooks
        const sender = yield* WebhookSenderMemory
        const merchant = yield* shop("Keyless", [])
        const tenant = { merchantId: merchant, env: "test" as const }
        const { id } = yield* hooks.add(tenant, "plain", "https://ops.example.com/alerts")
        const [kept] = yield* sql`SELECT secret_kid FROM alert_hooks WHERE id = ${id}`
        yield* sql`UPDATE alert_hooks SET secret_kid = 'gone' WHERE id = ${id}`
        yield* raise(merchant, "test", "A delivery failed.")
        yield* instance
        const noted = (attempt: number, due: string) =>
          until(
            `attempt ${attempt} was noted`,
            Effect.map(
              sql`SELECT 1 FROM alert_posts WHERE error LIKE 'the address cannot be decrypted%'
                AND attempts = ${attempt} AND (due_at IS NULL) = ${due === "never"}`,
              (found) => found.length === 1
            )
          )
        for (let attempt = 1; attempt <= 4; attempt++) {
          yield* noted(attempt, "later")
          // Taking a post counts an attempt; only its end writes an error.
          yield* sql`UPDATE alert_posts SET due_at = now(), error = NULL`
        }
        yield* noted(5, "never")
        const [shown] = yield* hooks.list(tenant)
        expect(shown?.error).toContain("add it again")
        expect(yield* sender.sent).toHaveLength(0)
        yield* sql`UPDATE alert_hooks SET secret_kid = ${kept?.["secret_kid"]} WHERE id = ${id}`
        yield* sql`UPDATE alert_posts SET due_at = now(), attempts = 1`
        yield* until(
          "it went out",
          Effect.map(sender.sent, (sent) => sent.length === 1)
        )
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("over real sockets: signed, in both shapes, and never to a private address", () =>
    Effect.gen(function* () {
      const { port } = yield* smtpServer(() => undefined)
      const receiver = yield* rawReceiver()
      const inside = yield* rawReceiver()
      const { instance, services } = worldWithSockets(port, [`127.0.0.1:${receiver.port}`])
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const hooks = yield* AlertHooks
        const merchant = yield* shop("Sockets", [])
        const tenant = { merchantId: merchant, env: "test" as const }
        const { secret } = yield* hooks.add(tenant, "plain", `http://127.0.0.1:${receiver.port}/alerts`)
        yield* hooks.add(tenant, "slack", `http://127.0.0.1:${receiver.port}/services/T0/B0`)
        for (const url of [`http://127.0.0.1:${inside.port}/`, "https://169.254.169.254/latest"])
          expect((yield* Effect.flip(hooks.add(tenant, "plain", url))).code).toBe("INVALID_WEBHOOK_URL")
        const id = yield* raise(merchant, "test", "The test endpoint fails.")
        yield* instance
        yield* until(
          "both posts came",
          Effect.sync(() => receiver.requests.length >= 2)
        )
        yield* until(
          "both are noted",
          Effect.map(sql`SELECT 1 FROM alert_posts WHERE sent_at IS NOT NULL`, (found) => found.length === 2)
        )
        expect(receiver.requests).toHaveLength(2)
        const plain = receiver.requests.find((request) => request.startsWith("POST /alerts ")) ?? ""
        const [head = "", body = ""] = plain.split("\r\n\r\n")
        const [, timestamp, signature] = /x-service-signature: t=(\d+),v1=([0-9a-f]{64})/u.exec(head) ?? []
        expect(head).toContain(`webhook-id: ${id}`)
        expect(signature).toBe(createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex"))
        expect(JSON.parse(body)).toMatchObject({ id, env: "test", message: "The test endpoint fails." })
        const slack = receiver.requests.find((request) => request.startsWith("POST /services/T0/B0 ")) ?? ""
        expect(JSON.parse(slack.split("\r\n\r\n")[1] ?? "")).toEqual({
          text: expect.stringContaining("The test endpoint fails.")
        })
        expect(inside.connections()).toBe(0)
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect(
    "a week is summarised once, on the next Monday at eight in the merchant's zone; the first is not",
    () =>
      Effect.gen(function* () {
        const { port, taken } = yield* smtpServer(() => undefined)
        const { instance, services } = world(port)
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const fresh = yield* shop("Fresh", [{ email: "fresh@example.com" }])
          const known = yield* shop("Known", [
            { email: "weekly@example.com", locale: "ja" },
            { email: "quiet@example.com", weekly: false }
          ])
          const idle = yield* shop("Idle", [{ email: "idle@example.com" }])
          yield* sql`UPDATE merchants SET summary_until = now() - interval '14 days' WHERE id IN (${known}, ${idle})`
          const monday = yield* sql`
          SELECT (date_trunc('week', now() AT TIME ZONE 'Asia/Tokyo')) AT TIME ZONE 'Asia/Tokyo' AS at`
          const start = new Date(String(monday[0]?.["at"])).getTime()
          for (const [merchant, offset] of [
            [known, -1],
            [known, -3_600_000],
            [known, -7_200_000],
            [known, 0],
            [fresh, -1]
          ] as const)
            yield* withoutMoves(sql`
            INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type,
              created_at, reported_at, settled_at, transaction_id, payer_address, token_changes)
            VALUES (gen_random_uuid(), ${merchant}, 'test', 'settled', 2500000,
              'PAY-' || upper(substr(md5(random()::text), 1, 8)), 'https://shop.example.com/1',
              decode(repeat('11', 20), 'hex'), 'human', now(), now(), ${new Date(start + offset)},
              decode(md5(random()::text) || md5(random()::text), 'hex'), decode(repeat('33', 20), 'hex'), '[]')`)
          // The chain no longer shows one of the week's three payments.
          yield* withoutMoves(sql`
            INSERT INTO claimed_transfers (chain_id, transaction_id, log_position, payer, receiver, amount, ordinal,
              payment_id, block_number, block_hash, dropped_at)
            SELECT 84532, transaction_id, 0, payer_address, receiver, amount, 0, id, 1, transaction_id, now()
            FROM payments WHERE merchant_id = ${known} AND settled_at = ${new Date(start - 7_200_000)}`)
          // One that the chain shows, and one that it no longer shows.
          for (const [amount, droppedAt] of [
            [1_250_000, null],
            [70_000, new Date(start)]
          ] as const)
            yield* withoutMoves(sql`
            INSERT INTO refunds (id, merchant_id, env, payment_id, amount, recipient, since_block, beyond_paid,
              created_by, created_at, status, transaction_id, sender, ordinal, block_number, block_hash, proven_at,
              dropped_at)
            SELECT gen_random_uuid(), merchant_id, env, id, ${amount}::numeric, payer_address, 0, false, 'API', now(),
              'proven', transaction_id, receiver, 0, 1, transaction_id, ${new Date(start - 1)}, ${droppedAt}::timestamptz
            FROM payments WHERE merchant_id = ${known} ORDER BY id LIMIT 1`)
          yield* instance
          yield* instance
          yield* until(
            "the week was told",
            Effect.sync(() => taken.length > 0)
          )
          yield* Effect.sleep("300 millis")
          expect(taken.flatMap(({ to }) => to)).toEqual(["weekly@example.com"])
          const body = Buffer.from(
            (taken[0]?.text ?? "").split("\r\n\r\n").slice(1).join(""),
            "base64"
          ).toString()
          const text = `${taken[0]?.text} ${body}`
          expect(text).toContain("5.00 USD")
          expect(text).toContain("1.25 USD")
          const due = yield* sql`
          SELECT to_char(summary_at AT TIME ZONE time_zone, 'D HH24:MI') AS at, summary_at > now() AS later
          FROM merchants WHERE id IN (${fresh}, ${known}, ${idle})`
          expect(due).toEqual(due.map(() => ({ at: "2 08:00", later: true })))
          expect(due).toHaveLength(3)
        }).pipe(Effect.scoped, Effect.provide(services))
      })
  )

  liveEffect("a week's summary mentions transfers only while they are to be explained", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* smtpServer(() => undefined)
      const { instance, services } = world(port)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const waits = yield* shop("Waits", [{ email: "waits@example.com", alerts: "none" }])
        const done = yield* shop("Done", [{ email: "done@example.com", alerts: "none" }])
        yield* sql`UPDATE merchants SET summary_until = now() - interval '14 days' WHERE id IN (${waits}, ${done})`
        for (const merchant of [waits, done]) {
          // One alert covers all transfers of a day. Nobody sees it, and nobody acknowledges it.
          yield* sql`
            INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
            VALUES (gen_random_uuid(), ${merchant}, 'test', 'incoming_transfer', ${merchant}::text, 'Came', now())`
          for (const ordinal of [0, 1])
            yield* withoutMoves(sql`
              INSERT INTO incoming_transfers (id, chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id,
                env, block_number, block_hash, block_time, created_at, kind, handled_at, handled_by)
              VALUES (gen_random_uuid(), 84532, sha256(${merchant}::text::bytea), decode(repeat('33', 20), 'hex'),
                decode(repeat('11', 20), 'hex'), 1000000, ${ordinal}, ${merchant}, 'test', 1, sha256('1'), now(),
                now(), 'unknown', ${merchant === done ? new Date() : null}, ${merchant === done ? "Ada" : null})`)
        }
        yield* instance
        yield* until(
          "the week was told",
          Effect.sync(() => taken.length > 0)
        )
        yield* Effect.sleep("300 millis")
        expect(taken.flatMap(({ to }) => to)).toEqual(["waits@example.com"])
        expect(taken[0]?.text).toContain("Open alerts: 2")
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("a time zone that the database lacks does not stop anybody's summary", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* smtpServer(() => undefined)
      const { instance, services } = world(port)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const odd = yield* shop("Odd", [{ email: "odd@example.com", alerts: "none" }])
        const known = yield* shop("Known", [{ email: "known@example.com", alerts: "none" }])
        yield* sql`UPDATE merchants SET time_zone = '+0530', summary_at = summary_at - interval '1 hour' WHERE id = ${odd}`
        yield* sql`UPDATE merchants SET time_zone = 'asia/tokyo' WHERE id = ${known}`
        yield* sql`UPDATE merchants SET summary_until = now() - interval '14 days' WHERE id IN (${odd}, ${known})`
        for (const merchant of [odd, known])
          yield* sql`
            INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
            VALUES (gen_random_uuid(), ${merchant}, 'live', 'webhook_exhausted', ${merchant}::text, 'Open', now())`
        yield* instance
        yield* until(
          "both were told",
          Effect.sync(() => taken.length >= 2)
        )
        expect(taken.flatMap(({ to }) => to).toSorted()).toEqual(["known@example.com", "odd@example.com"])
        const due = yield* sql`
          SELECT name, to_char(summary_at AT TIME ZONE zone, 'D HH24:MI') AS at, summary_at > now() AS later
          FROM merchants JOIN (VALUES ('Odd', 'UTC'), ('Known', 'Asia/Tokyo')) AS told (shop, zone) ON shop = name
          ORDER BY name`
        expect(due).toEqual(["Known", "Odd"].map((name) => ({ name, at: "2 08:00", later: true })))
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )
})
