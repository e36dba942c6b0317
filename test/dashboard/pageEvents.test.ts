// The events for open pages: who gets which, when they end, and what they cost the database.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Context, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { PageChangesRepo } from "../../src/dashboard/api/events/PageChangesRepo.ts"
import { PageEvents } from "../../src/dashboard/api/events/PageEvents.ts"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { makeShop } from "../platform/http/shop.ts"
import { serviceForFile } from "../support/forFile.ts"
import { type Person, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()

describe("Changes on Postgres", () => {
  const run = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.runPromise(Effect.provideContext(effect, service.context).pipe(Effect.orDie))

  /** The events that a page receives; `ended` once the server has closed the stream. */
  const listen = async (person: Person, merchantId = person.merchantId) => {
    const response = await fetch(`${service.baseUrl}/dashboard/api/merchants/${merchantId}/test/changes`, {
      headers: { cookie: person.cookie }
    })
    const heard: Array<string> = []
    const state = { ended: false }
    const reader = response.body?.getReader()
    const read = async () => {
      for (;;) {
        const part = await reader?.read().catch(() => undefined)
        if (part === undefined || part.done) break
        heard.push(new TextDecoder().decode(part.value))
      }
      state.ended = true
    }
    const reading = read()
    const messages = () => heard.join("").match(/^data: changed$/gm)?.length ?? 0
    return { response, heard, messages, state, reading, stop: () => reader?.cancel() }
  }
  const until = async (holds: () => boolean) => {
    for (let waited = 0; waited < 8_000 && !holds(); waited += 20) await Bun.sleep(20)
    expect(holds()).toBe(true)
  }

  test("a payment that opens or settles reaches its merchant's pages within two seconds, no others", async () => {
    const [person, other] = [await signUp(service.baseUrl), await signUp(service.baseUrl)]
    const shop = await makeShop(service, { ...person, id: person.merchantId })
    const [own, strange] = [await listen(person), await listen(other)]
    expect(own.response.headers.get("content-type")).toContain("text/event-stream")
    expect(own.response.headers.get("cache-control")).toBe("no-store")
    // Each page gets one event at first, because something may have changed since it was read.
    await until(() => own.messages() === 1 && strange.messages() === 1)
    await shop.open("1.00")
    await until(() => own.messages() === 2)
    await shop.settle("2.00", 2_000_000n)
    await until(() => own.messages() >= 3)
    expect(strange.messages()).toBe(1)
    await Promise.all([own.stop(), strange.stop()])
  })

  test("decisions made elsewhere reach every page, which shows the count of what needs attention", async () => {
    const person = await signUp(service.baseUrl)
    const [alert, ofService, transfer] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
    await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
          VALUES (${alert}, ${person.merchantId}, 'test', 'webhook_exhausted', ${alert}, 'Look.', now()),
            (${ofService}, NULL, NULL, 'relayer_empty', ${ofService}, 'Fund it.', now())`
        // On a chain that nothing watches here, because the watch removes transfers that its own chain lacks.
        yield* sql`
          INSERT INTO incoming_transfers (id, merchant_id, env, chain_id, transaction_id, payer, receiver, amount,
            ordinal, block_number, block_hash, block_time, kind, created_at)
          VALUES (${transfer}, ${person.merchantId}, 'test', 1, ${Buffer.from(crypto.getRandomValues(new Uint8Array(32)))},
            decode(repeat('33', 20), 'hex'), decode(repeat('11', 20), 'hex'), 1000000, 0, 1,
            decode(repeat('44', 32), 'hex'), now(), 'unknown', now())`
      })
    )
    const page = await listen(person)
    await until(() => page.messages() === 1)
    const decided = [
      `UPDATE alerts SET acknowledged_at = now() WHERE id = '${alert}'`,
      `UPDATE alerts SET acknowledged_at = now() WHERE id = '${ofService}'`,
      `UPDATE incoming_transfers SET handled_at = now(), handled_by = 'a@example.com' WHERE id = '${transfer}'`
    ]
    for (const [index, statement] of decided.entries()) {
      await run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)))
      await until(() => page.messages() === index + 2)
    }
    await page.stop()
  })

  test("only members get events: without a session 401, for another merchant 404", async () => {
    const [person, other] = [await signUp(service.baseUrl), await signUp(service.baseUrl)]
    expect((await listen({ ...person, cookie: "" })).response.status).toBe(401)
    expect((await listen(person, other.merchantId)).response.status).toBe(404)
  })

  test("events end with the session, and with the membership", async () => {
    const [leaving, removed] = [await signUp(service.baseUrl), await signUp(service.baseUrl)]
    const streams = [await listen(leaving), await listen(removed)]
    await until(() => streams.every(({ messages }) => messages() === 1))
    await leaving.call("POST", "/sign-out")
    await run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          WITH role AS (SELECT set_config('session_replication_role', 'replica', true))
          DELETE FROM merchant_members USING role WHERE merchant_id = ${removed.merchantId}`
      ).pipe((effect) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(effect)))
    )
    await until(() => streams.every(({ state }) => state.ended))
  })

  test("a session can have ten streams; its oldest ends", async () => {
    const person = await signUp(service.baseUrl)
    const streams: Array<Awaited<ReturnType<typeof listen>>> = []
    for (let count = 0; count < 11; count++) streams.push(await listen(person))
    await until(() => streams[0]?.state.ended === true)
    expect(streams.slice(1).every(({ state }) => !state.ended)).toBe(true)
    await Promise.all(streams.map(({ stop }) => stop()))
  })

  test("a HEAD request opens no stream, and ends none of the session's", async () => {
    const person = await signUp(service.baseUrl)
    const page = await listen(person)
    for (let count = 0; count < 11; count++) {
      const head = await fetch(page.response.url, { method: "HEAD", headers: { cookie: person.cookie } })
      expect(head.status).toBe(200)
    }
    await Bun.sleep(2_500)
    expect(page.state.ended).toBe(false)
    await page.stop()
  })

  test("a thousand open dashboards cost one statement a second, and none open cost nothing", async () => {
    const sessions = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`
          WITH merchant AS (
            INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
            SELECT gen_random_uuid(), 'Shop', decode(md5(n::text) || '00000000', 'hex'), decode(md5(n::text) || '00000000', 'hex'), now()
            FROM generate_series(1, 1000) n RETURNING id
          ), person AS (
            INSERT INTO users (id, email, created_at)
            SELECT id, id || '@example.com', now() FROM merchant RETURNING id
          ), member AS (
            INSERT INTO merchant_members (merchant_id, user_id, created_at, role)
            SELECT merchant.id, person.id, now(), 'owner' FROM merchant JOIN person ON person.id = merchant.id
          )
          INSERT INTO sessions (id, hash, user_id, created_at, expires_at)
          SELECT gen_random_uuid(), sha256(id::text::bytea), id, now(), now() + interval '1 hour' FROM person
          RETURNING user_id, encode(hash, 'hex') AS hash`
        return rows.map((row) => ({ merchantId: String(row["user_id"]), session: String(row["hash"]) }))
      })
    )
    expect(sessions).toHaveLength(1000)
    let statements = 0
    const counted = Layer.effect(
      PageChangesRepo,
      Effect.map(PageChangesRepo, ({ look }) =>
        PageChangesRepo.of({
          look: (...asked) => {
            statements++
            return look(...asked)
          }
        })
      )
    ).pipe(Layer.provide(PageChangesRepo.layer))
    const told = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const changes = Context.get(
            yield* Layer.build(PageEvents.layerOf.pipe(Layer.provide(counted))),
            PageEvents
          )
          yield* Effect.sleep("2500 millis")
          expect(statements).toBe(0)
          let heard = 0
          for (const { merchantId, session } of sessions) {
            const stream = changes.watch({
              session,
              tenant: { merchantId: MerchantId.make(merchantId), env: "test" }
            })
            yield* Effect.forkScoped(
              Stream.runForEach(stream, (text) =>
                Effect.sync(() => {
                  if (text.startsWith("data")) heard++
                })
              )
            )
          }
          const before = statements
          yield* Effect.sleep("5 seconds")
          expect(statements - before).toBeWithin(3, 6)
          return heard
        })
      )
    )
    expect(told).toBe(1000)
  })
})
