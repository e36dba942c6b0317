// The destination of money and who may change it: the password is asked again, every member is notified, changes are
// logged permanently, and a live address takes effect later.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { AuditLog, operator } from "../../src/merchants/audit/AuditLog.ts"
import { AuditRepo } from "../../src/merchants/audit/AuditRepo.ts"
import { ReceiverChangeRepo } from "../../src/merchants/ReceiverChangeRepo.ts"
import * as ReceiverChangeWorker from "../../src/merchants/ReceiverChangeWorker.ts"
import { DueWork } from "../../src/platform/workers/DueWork.ts"
import { serviceForFile } from "../support/forFile.ts"
import { freshAddress } from "../support/freshAddress.ts"
import type { TestServices } from "../support/service.ts"
import { colleagueOf, cookieOf, openAlertsOf, type Person, password, request, signUp } from "./person.ts"

setDefaultTimeout(60_000)

interface Entry {
  readonly action: string
  readonly actor: string
  readonly summary: string
}

const service = await serviceForFile({ trustedProxyHops: 1 })

describe("Money settings on Postgres", () => {
  const run = <A, E>(effect: Effect.Effect<A, E, TestServices | SqlClient.SqlClient>) =>
    Effect.runPromise(effect.pipe(Effect.provideContext(service.context), Effect.orDie))
  const sql = (strings: TemplateStringsArray, ...args: ReadonlyArray<string>) =>
    run(Effect.flatMap(SqlClient.SqlClient, (client) => client(strings, ...args)))

  /** The person signed in too long ago for the password to count as recent. */
  const aged = (person: Person) =>
    sql`UPDATE sessions SET confirmed_at = now() - interval '301 seconds'
      WHERE user_id = (SELECT id FROM users WHERE email = ${person.email})`
  const at = (person: Person, env = "test") => `/merchants/${person.merchantId}/${env}`
  const changes = async (person: Person): Promise<ReadonlyArray<Entry>> =>
    (await person.call("GET", `${at(person)}/audit`)).body.entries
  const settings = async (person: Person, env = "live") =>
    (await person.call("GET", `${at(person, env)}/settings`)).body

  const colleague = (person: Person) => colleagueOf(service.baseUrl, person)

  const levers: ReadonlyArray<
    readonly [string, (person: Person, other: string) => readonly [string, string, unknown?]]
  > = [
    ["a receiving address", (person) => ["PATCH", `${at(person)}/receiver`, { receiver: freshAddress() }]],
    [
      "a live receiving address",
      (person) => ["PATCH", `${at(person, "live")}/receiver`, { receiver: freshAddress() }]
    ],
    [
      "a full-access key",
      (person) => ["POST", `${at(person, "live")}/keys`, { kind: "secret", permission: "manage" }]
    ],
    [
      "an invitation",
      (person) => ["POST", `${at(person)}/members`, { email: "friend@example.com", role: "owner" }]
    ],
    ["a role", (person, other) => ["PUT", `${at(person)}/members/${other}/role`, { role: "support" }]],
    ["a removal", (person, other) => ["DELETE", `${at(person)}/members/${other}`]]
  ]

  for (const [name, lever] of levers) {
    test(`${name} needs a password from the last five minutes, is logged, and notifies every member`, async () => {
      const person = await signUp(service.baseUrl)
      const second = await colleague(person)
      const third = await colleague(person)
      const { members } = await settings(person)
      const other = members.find((one) => one.email === third.email)?.id ?? ""
      const before = [await settings(person), await settings(person, "test"), await changes(person)]
      await aged(person)
      const refused = await person.call(...lever(person, other))
      expect([refused.status, refused.body.error.code]).toEqual([403, "PASSWORD_REQUIRED"])
      expect([await settings(person), await settings(person, "test"), await changes(person)]).toEqual(before)

      const wrong = await person.call("POST", "/confirm", { password: "another long password" })
      expect([wrong.status, wrong.body.error.code]).toEqual([401, "SIGN_IN_FAILED"])
      expect((await person.call(...lever(person, other))).status).toBe(403)
      expect((await person.call("POST", "/confirm", { password })).status).toBe(204)
      const openBefore = openAlertsOf(await second.call("GET", `${at(second)}/alerts`))
      const done = await person.call(...lever(person, other))
      expect(done.status).toBeLessThan(300)

      const [entry] = await changes(person)
      expect(entry?.actor).toBe(person.email)
      for (const env of ["test", "live"]) {
        const told = await second.call("GET", `${at(second, env)}/alerts`)
        expect(openAlertsOf(told)).toBe(openBefore + 1)
        expect(told.body.alerts[0]).toMatchObject({ kind: "account_change" })
        expect(told.body.alerts[0]?.message).toContain(`${person.email} ${entry?.summary}`)
      }
      // A member who acknowledges the alert does not remove it for the others.
      const [mine] = (await person.call("GET", `${at(person)}/alerts`)).body.alerts
      expect((await person.call("POST", `${at(person)}/alerts/${mine?.id}/acknowledge`, {})).status).toBe(200)
      expect(openAlertsOf(await second.call("GET", `${at(second)}/alerts`))).toBe(openBefore + 1)
      expect((await second.call("POST", `${at(second)}/alerts/${mine?.id}/acknowledge`, {})).status).toBe(404)
    })
  }

  test("rotating a full-access key needs the password; a read-only or publishable key does not", async () => {
    const person = await signUp(service.baseUrl)
    const { keys } = (await person.call("GET", `${at(person)}/keys`)).body
    const full = keys.find((key: { permission: string }) => key.permission === "manage")
    await aged(person)
    expect((await person.call("POST", `${at(person)}/keys/${full?.id}/rotate`)).status).toBe(403)
    for (const kind of ["secret", "publishable"])
      expect((await person.call("POST", `${at(person)}/keys`, { kind, permission: "read" })).status).toBe(201)
    expect((await person.call("POST", `${at(person)}/keys/${full?.id}/revoke`)).status).toBe(204)
    expect((await changes(person)).slice(0, 3).map(({ action }) => action)).toEqual([
      "key.revoked",
      "key.created",
      "key.created"
    ])
  })

  test("wrong passwords at the confirmation are limited like those at sign-in", async () => {
    const person = await signUp(service.baseUrl)
    const codes: Array<number> = []
    for (let guess = 0; guess < 12; guess += 1) {
      const { status } = await request(service.baseUrl, "POST", "/confirm", {
        cookie: person.cookie,
        body: { password: `guess number ${guess} of many` },
        headers: { "x-forwarded-for": "2001:db8::7" }
      })
      codes.push(status)
    }
    expect(codes.slice(0, 9)).toEqual(Array(9).fill(401))
    expect(codes.at(-1)).toBe(429)
  })

  describe("a live receiving address", () => {
    const worker = ReceiverChangeWorker.layer.pipe(
      Layer.provide(Layer.succeed(DueWork, { next: () => Effect.sleep("20 millis"), isAwaited: () => true })),
      Layer.provide(ReceiverChangeRepo.layer)
    )
    const due = (person: Person) =>
      sql`UPDATE receiver_changes SET due_at = now() WHERE merchant_id = ${person.merchantId}::uuid
        AND ended_at IS NULL`
    /** Runs two instances' workers until no change is due, and a moment longer. */
    const worked = () =>
      run(
        Effect.scoped(
          Effect.andThen(
            Effect.all([Layer.build(worker), Layer.build(worker)]),
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              const due = sql`SELECT 1 FROM receiver_changes WHERE ended_at IS NULL AND due_at <= now()`
              while ((yield* due).length > 0) yield* Effect.sleep("20 millis")
              yield* Effect.sleep("300 millis")
            })
          )
        )
      )
    const ask = (person: Person, receiver: string) =>
      person.call("PATCH", `${at(person, "live")}/receiver`, { receiver })

    test("waits for a day, in which intents name the old one; then two instances change it once", async () => {
      const person = await signUp(service.baseUrl)
      const next = freshAddress()
      const answer = await ask(person, next)
      expect(answer.body).toMatchObject({ before: person.receiver, after: next })
      const hours = (Date.parse(answer.body.dueAt) - Date.now()) / 3_600_000
      expect(hours).toBeGreaterThan(23.9)
      expect(hours).toBeLessThanOrEqual(24)
      expect(await settings(person)).toMatchObject({
        receiver: person.receiver,
        receiverChange: { address: next, requestedBy: person.email, dueAt: answer.body.dueAt }
      })
      await worked()
      expect((await settings(person)).receiver).toBe(person.receiver)

      await due(person)
      await worked()
      expect(await settings(person)).toMatchObject({ receiver: next, receiverChange: null })
      const [made, asked] = await changes(person)
      expect([made?.actor, made?.action, asked?.action]).toEqual([
        "service",
        "receiver.changed",
        "receiver.change_requested"
      ])
      expect((await changes(person)).filter(({ action }) => action === "receiver.changed")).toHaveLength(1)
    })

    test("can be withdrawn by another owner, without a password; then nothing changes", async () => {
      const person = await signUp(service.baseUrl)
      const second = await colleague(person)
      await ask(person, freshAddress())
      expect((await changes(person))[0]?.summary).toEndWith(
        "until then an owner or developer can withdraw the change"
      )
      await aged(second)
      const withdraw = () => second.call("DELETE", `${at(second, "live")}/receiver/change`)
      expect((await withdraw()).status).toBe(204)
      expect((await withdraw()).status).toBe(404)
      await due(person)
      await worked()
      expect(await settings(person)).toMatchObject({ receiver: person.receiver, receiverChange: null })
      expect((await changes(person))[0]).toMatchObject({
        actor: second.email,
        action: "receiver.change_withdrawn"
      })
    })

    test("can be requested ten times an hour, both environments together; withdrawing is never refused", async () => {
      const person = await signUp(service.baseUrl)
      const answers = []
      for (let count = 0; count < 11; count += 1) {
        const receiver = freshAddress()
        answers.push(
          count % 2 === 0
            ? await ask(person, receiver)
            : await person.call("PATCH", `${at(person)}/receiver`, { receiver })
        )
      }
      expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 429])
      const last = answers.at(-1)
      expect(last?.body.error.code).toBe("RATE_LIMITED")
      expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(300)
      const withdrawn = await person.call("DELETE", `${at(person, "live")}/receiver/change`)
      expect(withdrawn.status).toBe(204)
    })

    test("that is requested later replaces a pending one", async () => {
      const person = await signUp(service.baseUrl)
      const last = freshAddress()
      await ask(person, freshAddress())
      await ask(person, last)
      await due(person)
      await worked()
      expect((await settings(person)).receiver).toBe(last)
    })

    test("that is withdrawn as it becomes due is either withdrawn or changed, and the log says which", async () => {
      for (let round = 0; round < 10; round += 1) {
        const person = await signUp(service.baseUrl)
        const next = freshAddress()
        await ask(person, next)
        await due(person)
        const [withdrawn] = await Promise.all([
          person.call("DELETE", `${at(person, "live")}/receiver/change`),
          worked()
        ])
        const { receiver } = await settings(person)
        expect(receiver).toBe(withdrawn.status === 204 ? person.receiver : next)
        expect((await changes(person))[0]?.action).toBe(
          withdrawn.status === 204 ? "receiver.change_withdrawn" : "receiver.changed"
        )
      }
    })

    test("that is withdrawn during another change waits for it, without a deadlock", async () => {
      const person = await signUp(service.baseUrl)
      await ask(person, freshAddress())
      const withdrawing = Promise.withResolvers<number>()
      // In the order of a change: the merchant's row, then the change's.
      await run(
        Effect.gen(function* () {
          const client = yield* SqlClient.SqlClient
          yield* client.withTransaction(
            Effect.gen(function* () {
              yield* client`SELECT id FROM merchants WHERE id = ${person.merchantId}::uuid FOR UPDATE`
              person
                .call("DELETE", `${at(person, "live")}/receiver/change`)
                .then(({ status }) => withdrawing.resolve(status), withdrawing.reject)
              yield* Effect.sleep("500 millis")
              yield* client`
                UPDATE receiver_changes SET due_at = now()
                WHERE merchant_id = ${person.merchantId}::uuid AND ended_at IS NULL`
            })
          )
        })
      )
      expect(await withdrawing.promise).toBe(204)
    })

    test("that equals the present one withdraws the pending one, and every member is notified", async () => {
      const person = await signUp(service.baseUrl)
      const next = freshAddress()
      await ask(person, next)
      expect((await ask(person, person.receiver)).body).toMatchObject({ after: person.receiver, dueAt: null })
      expect((await settings(person)).receiverChange).toBeNull()
      expect((await changes(person))[0]).toMatchObject({ action: "receiver.change_withdrawn" })
      // The second time there is nothing to withdraw, and nothing to notify.
      await ask(person, person.receiver)
      expect(
        (await changes(person)).filter(({ action }) => action === "receiver.change_withdrawn")
      ).toHaveLength(1)
    })

    test("is withdrawn with its requester's membership or by their new password; every member is notified", async () => {
      let person = await signUp(service.baseUrl)
      const other = await signUp(service.baseUrl)
      const third = await colleague(person)
      const userOf = async (one: typeof person) => (await one.call("GET", "/session")).body.user.id
      await sql`INSERT INTO merchant_members (merchant_id, user_id, role, created_at)
        VALUES (${person.merchantId}::uuid, ${await userOf(other)}::uuid, 'owner', now())`
      const waiting = async () =>
        Number(
          (
            await sql`SELECT count(*)::int AS n FROM receiver_changes
              WHERE merchant_id = ${person.merchantId}::uuid AND ended_at IS NULL`
          )[0]?.["n"]
        )
      const asOther = { ...other, merchantId: person.merchantId }
      await ask(asOther, freshAddress())
      expect(await waiting()).toBe(1)
      expect(
        (await person.call("DELETE", `/merchants/${person.merchantId}/live/members/${await userOf(other)}`))
          .status
      ).toBe(204)
      expect(await waiting()).toBe(0)
      const told = async (by: string) => {
        const [entry] = (await changes(person)).filter(({ action }) => action === "receiver.change_withdrawn")
        expect(entry?.summary).toContain(by)
        const { alerts } = (await third.call("GET", `${at(third, "live")}/alerts`)).body
        expect(alerts.map(({ message }: { message: string }) => message)).toContain(
          `${entry?.actor} ${entry?.summary} (live).`
        )
      }
      await told(`that ${other.email} requested, by removing ${other.email}`)
      await ask(person, freshAddress())
      expect(await waiting()).toBe(1)
      const changed = await person.call("POST", "/password", {
        current: password,
        next: `${password}-2`
      })
      expect(changed.status).toBe(204)
      expect(await waiting()).toBe(0)
      const cookie = cookieOf(changed)
      person = {
        ...person,
        call: (method, path, body) => request(service.baseUrl, method, path, { cookie, body })
      }
      await told(`that ${person.email} requested, by setting a new password`)
    })

    test("that becomes another merchant's before it is due is not changed", async () => {
      const person = await signUp(service.baseUrl)
      const thief = await signUp(service.baseUrl)
      const next = freshAddress()
      await ask(person, next)
      await sql`UPDATE merchant_receivers SET merchant_id = ${thief.merchantId}::uuid
        WHERE address = decode(${next.slice(2)}, 'hex') AND env = 'live'`
      await due(person)
      await worked()
      expect(await settings(person)).toMatchObject({ receiver: person.receiver, receiverChange: null })
      expect((await changes(person))[0]?.action).toBe("receiver.change_lost")
    })
  })

  describe("the audit log", () => {
    test("refuses to be changed, shortened or emptied", async () => {
      const attempts = [
        "UPDATE audit_entries SET actor = 'nobody'",
        "DELETE FROM audit_entries",
        "TRUNCATE audit_entries"
      ]
      for (const statement of attempts) {
        const failure = await run(
          Effect.flatMap(SqlClient.SqlClient, (client) => client.unsafe(statement)).pipe(Effect.flip)
        )
        expect(String(failure.reason.cause)).toContain("neither changed nor removed")
      }
    })

    test("detects forced changes", async () => {
      const verify = () =>
        run(
          Effect.flatMap(AuditRepo, (repo) => repo.verify(Option.none())).pipe(
            Effect.provide(AuditRepo.layer)
          )
        )
      await signUp(service.baseUrl)
      const { broken, entries } = await verify()
      expect([broken, entries > 5]).toEqual([Option.none(), true])
      const forced = (statement: string) =>
        run(
          Effect.gen(function* () {
            const client = yield* SqlClient.SqlClient
            yield* client.withTransaction(
              Effect.gen(function* () {
                yield* client`ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_stay`
                yield* client.unsafe(statement)
                yield* client`ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_stay`
              })
            )
          })
        )
      await forced("UPDATE audit_entries SET actor = 'x' || actor WHERE position = 3")
      expect((await verify()).broken).toEqual(Option.some(3))
      await forced("UPDATE audit_entries SET actor = substr(actor, 2) WHERE position = 3")
      expect((await verify()).broken).toEqual(Option.none())
      await forced("CREATE TEMP TABLE kept AS SELECT * FROM audit_entries WHERE position = 4")
      await forced("DELETE FROM audit_entries WHERE position = 4")
      expect((await verify()).broken).toEqual(Option.some(5))
    })

    test("a change that fails leaves no entry, and an entry that fails leaves no change", async () => {
      const person = await signUp(service.baseUrl)
      const before = await changes(person)
      const merchantId = MerchantId.make(person.merchantId)
      const change = Effect.flatMap(
        SqlClient.SqlClient,
        (client) => client`UPDATE merchants SET name = 'Changed' WHERE id = ${merchantId}`
      )
      const recorded = <E>(rest: Effect.Effect<void, E>, summary: string) =>
        run(
          Effect.gen(function* () {
            const audit = yield* AuditLog
            return yield* audit
              .recording(merchantId, operator, Effect.andThen(change, rest), () =>
                Option.some({ action: "key.created", env: null, summary })
              )
              .pipe(Effect.exit)
          })
        )
      expect(Exit.isFailure(await recorded(Effect.fail("no"), "made a key"))).toBeTrue()
      expect(Exit.isFailure(await recorded(Effect.void, "no text \u0000 that can be kept"))).toBeTrue()
      expect((await settings(person)).profile.name).toBe("Shop")
      expect(await changes(person)).toEqual(before)
    })
  })
})
