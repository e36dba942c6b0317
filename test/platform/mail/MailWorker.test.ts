// Mail against a real SMTP server: mail that it accepts, defers or refuses, and mail after a crash.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { MailRepo } from "../../../src/platform/mail/MailRepo.ts"
import { Mails } from "../../../src/platform/mail/Mails.ts"
import * as MailWorker from "../../../src/platform/mail/MailWorker.ts"
import { DueWork } from "../../../src/platform/workers/DueWork.ts"
import { testDatabase } from "../../support/database.ts"
import { testConfig } from "../../support/memory.ts"
import { liveEffect } from "../../support/run.ts"
import { smtpServer } from "./smtpServer.ts"

const until = <E, R>(what: string, holds: Effect.Effect<boolean, E, R>) =>
  holds.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (held) => held }),
    Effect.timeoutOrElse({
      duration: "10 seconds",
      orElse: () => Effect.die(new Error(`never came true: ${what}`))
    })
  )

const world = (url: string) => {
  const config = testConfig({
    baseUrl: "https://pay.example.com",
    smtp: Option.some({ url: Redacted.make(url), from: "shop@pay.example.com" })
  })
  const services = Layer.mergeAll(Mails.layer, MailRepo.layer).pipe(
    Layer.provideMerge(MailRepo.layer),
    Layer.provideMerge(Layer.mergeAll(testDatabase.layer, config, SecureRandom.layerWebCrypto))
  )
  const worker = MailWorker.layer.pipe(
    Layer.provide(Layer.succeed(DueWork, { next: () => Effect.sleep("20 millis"), isAwaited: () => true }))
  )
  return { services, worker }
}

const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    SELECT recipient, attempts, due_at IS NULL AS ended, sent_at IS NOT NULL AS sent, error,
      extract(epoch FROM due_at - now())::int AS wait
    FROM mails ORDER BY recipient`
})

/** Accepts mail except to `later`, which it defers, and to `nobody`, which it refuses permanently. */
const someRefused = (recipient: string) =>
  recipient.startsWith("later")
    ? { code: 451, text: "Try again later" }
    : recipient.startsWith("nobody")
      ? { code: 550, text: "No such mailbox" }
      : undefined

describe("mail on Postgres", () => {
  liveEffect("a password reset leaves within 5 s ahead of a backlog that the server is slow to accept", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* smtpServer(
        () => undefined,
        (recipient) => (recipient.startsWith("member") ? Bun.sleep(3_000) : Promise.resolve())
      )
      const { services, worker } = world(`smtp://shop:secret@127.0.0.1:${port}`)
      yield* Effect.gen(function* () {
        const mails = yield* Mails
        for (let index = 0; index < 72; index++)
          yield* mails.queue({ recipient: `member${index}@example.com`, subject: "Alert", body: "" })
        yield* Layer.build(worker)
        yield* Effect.sleep("500 millis")
        const queued = Date.now()
        yield* mails.queue({ recipient: "ada@example.com", subject: "Reset", body: "", urgent: true })
        yield* until(
          "the reset was taken",
          Effect.sync(() => taken.some(({ to }) => to.includes("ada@example.com")))
        )
        expect(Date.now() - queued).toBeLessThan(5_000)
        expect(taken.length).toBeLessThan(72)
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("is sent once by two instances, in plain text, from the configured address", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* smtpServer(() => undefined)
      const { services, worker } = world(`smtp://shop:secret@127.0.0.1:${port}`)
      yield* Effect.gen(function* () {
        const mails = yield* Mails
        for (const name of ["ada", "bob", "cyd"]) {
          yield* mails.queue({
            recipient: `${name}@example.com`,
            subject: "Quittance: receiver changed\r\nBcc: thief@example.com",
            body: "The receiving address was changed.\n\nBcc: thief@example.com"
          })
        }
        yield* Layer.build(worker)
        yield* Layer.build(worker)
        yield* until(
          "all were taken",
          Effect.sync(() => taken.length === 3)
        )
        yield* Effect.sleep("200 millis")
        expect(taken.map(({ to }) => to.join()).sort()).toEqual([
          "ada@example.com",
          "bob@example.com",
          "cyd@example.com"
        ])
        for (const { ehlo, from, text } of taken) {
          expect(ehlo).toBe("pay.example.com")
          expect(from).toBe("shop@pay.example.com")
          const [head = "", body = ""] = text.split("\r\n\r\n")
          expect(head).not.toMatch(/^bcc/im)
          expect(head).toContain("Auto-Submitted: auto-generated")
          expect(body).toContain("The receiving address was changed.")
        }
        expect((yield* rows).every((row) => row["sent"] === true && row["ended"] === true)).toBeTrue()
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("names the service to the server as SMTP_URL says", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* smtpServer(() => undefined)
      const { services, worker } = world(`smtp://127.0.0.1:${port}?name=relay.example.net`)
      yield* Effect.gen(function* () {
        const mails = yield* Mails
        yield* mails.queue({ recipient: "ada@example.com", subject: "s", body: "b" })
        yield* Layer.build(worker)
        yield* until(
          "it was taken",
          Effect.sync(() => taken.length === 1)
        )
        expect(taken[0]?.ehlo).toBe("relay.example.net")
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("that a person waits for is retried each minute for an hour", () =>
    Effect.gen(function* () {
      const { port } = yield* smtpServer(someRefused)
      const { services, worker } = world(`smtp://127.0.0.1:${port}`)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const mails = yield* Mails
        for (const name of ["later1", "later2"])
          yield* mails.queue({ recipient: `${name}@example.com`, subject: "Reset", body: "", urgent: true })
        yield* sql`UPDATE mails SET attempts = CASE recipient WHEN 'later1@example.com' THEN 30 ELSE 60 END`
        yield* Layer.build(worker)
        yield* until(
          "both were tried",
          Effect.map(rows, (all) => all.every((row) => row["error"] !== null))
        )
        const [half, last] = yield* rows
        expect(half).toMatchObject({ attempts: 31, ended: false })
        expect(Number(half?.["wait"])).toBeLessThanOrEqual(60)
        expect(last).toMatchObject({ attempts: 61, ended: true })
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("that is deferred is retried later; mail that is refused permanently is given up", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* smtpServer(someRefused)
      const { services, worker } = world(`smtp://127.0.0.1:${port}`)
      yield* Effect.gen(function* () {
        const mails = yield* Mails
        for (const name of ["later", "nobody"])
          yield* mails.queue({ recipient: `${name}@example.com`, subject: "Hello", body: "Hello" })
        yield* Layer.build(worker)
        yield* until(
          "both were tried",
          Effect.map(rows, (all) => all.every((row) => row["error"] !== null))
        )
        const [later, nobody] = yield* rows
        expect(later).toMatchObject({ attempts: 1, ended: false, sent: false })
        expect(Number(later?.["wait"])).toBeGreaterThan(50)
        expect(nobody).toMatchObject({ attempts: 1, ended: true, sent: false })
        expect(String(nobody?.["error"])).toContain("No such mailbox")
        expect(taken).toEqual([])
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("is erased once it was sent or given up, for example a link to a new password", () =>
    Effect.gen(function* () {
      const { port } = yield* smtpServer(someRefused)
      const { services, worker } = world(`smtp://127.0.0.1:${port}`)
      yield* Effect.gen(function* () {
        const mails = yield* Mails
        const sql = yield* SqlClient.SqlClient
        for (const name of ["ada", "later", "nobody"])
          yield* mails.queue({ recipient: `${name}@example.com`, subject: "Hello", body: "/redeem#secret" })
        yield* Layer.build(worker)
        yield* until(
          "all were tried",
          Effect.map(rows, (all) => all.every((row) => row["error"] !== null || row["sent"] === true))
        )
        expect(yield* sql`SELECT recipient, body FROM mails ORDER BY recipient`).toEqual([
          { recipient: "ada@example.com", body: "" },
          { recipient: "later@example.com", body: "/redeem#secret" },
          { recipient: "nobody@example.com", body: "" }
        ])
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect("that waits behind others at a slow server is left to another instance", () =>
    Effect.gen(function* () {
      const answers = Promise.withResolvers<void>()
      const { asked, port, taken } = yield* smtpServer(
        () => undefined,
        () => answers.promise
      )
      const { services, worker } = world(`smtp://127.0.0.1:${port}`)
      yield* Effect.gen(function* () {
        const mails = yield* Mails
        for (let number = 0; number < 8; number++)
          yield* mails.queue({ recipient: `ada${number}@example.com`, subject: "Hello", body: "Hello" })
        yield* Layer.build(worker)
        yield* Layer.build(worker)
        yield* until(
          "each is told to the server",
          Effect.sync(() => asked.length === 8)
        )
        answers.resolve()
        yield* until(
          "all are taken",
          Effect.sync(() => taken.length === 8)
        )
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  liveEffect(
    "waits if the server refuses the service and not the mail, for example after a wrong password",
    () =>
      Effect.gen(function* () {
        const { port, taken } = yield* smtpServer(() => undefined)
        const { services, worker } = world(`smtp://shop:changed@127.0.0.1:${port}`)
        yield* Effect.gen(function* () {
          const mails = yield* Mails
          yield* mails.queue({ recipient: "ada@example.com", subject: "Hello", body: "Hello" })
          yield* Layer.build(worker)
          yield* until(
            "it was tried",
            Effect.map(rows, (all) => all.every((row) => row["error"] !== null))
          )
          const [mail] = yield* rows
          expect(mail).toMatchObject({ attempts: 1, ended: false, sent: false })
          expect(String(mail?.["error"])).toContain("535")
          expect(taken).toEqual([])
        }).pipe(Effect.scoped, Effect.provide(services))
      })
  )

  liveEffect("waits while the server is down; without a configured server none is stored", () =>
    Effect.gen(function* () {
      const { services, worker } = world("smtp://127.0.0.1:9")
      yield* Effect.gen(function* () {
        const mails = yield* Mails
        yield* mails.queue({ recipient: "ada@example.com", subject: "Hello", body: "Hello" })
        yield* Layer.build(worker)
        yield* until(
          "it was tried",
          Effect.map(rows, (all) => all.every((row) => row["error"] !== null))
        )
        expect(yield* rows).toMatchObject([{ attempts: 1, ended: false, sent: false }])
      }).pipe(Effect.scoped, Effect.provide(services))
      const none = Mails.layer.pipe(
        Layer.provide(MailRepo.layer),
        Layer.provideMerge(Layer.mergeAll(testDatabase.layer, testConfig(), SecureRandom.layerWebCrypto))
      )
      yield* Effect.gen(function* () {
        const mails = yield* Mails
        const before = (yield* rows).length
        yield* mails.queue({ recipient: "bob@example.com", subject: "Hello", body: "Hello" })
        expect((yield* rows).length).toBe(before)
      }).pipe(Effect.scoped, Effect.provide(none))
    })
  )
})
