// The content of the pages: a payment's history with each change of verdict, deliveries with the bytes sent, settings,
// alerts.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeShop } from "../platform/http/shop.ts"
import { serviceForFile } from "../support/forFile.ts"
import { openAlertsOf, receiver, signUp } from "./person.ts"

setDefaultTimeout(60_000)

interface Alerts {
  readonly alerts: ReadonlyArray<{ readonly id: string; readonly acknowledgedBy: string | null }>
}

const service = await serviceForFile()
const person = await signUp(service.baseUrl)
const at = `/merchants/${person.merchantId}/test`
const shop = await makeShop(service, { ...person, id: person.merchantId })

describe("Pages of the dashboard on Postgres", () => {
  const get = async (path: string) => (await person.call("GET", `${at}${path}`)).body
  const run = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.runPromise(Effect.provideContext(effect, service.context).pipe(Effect.orDie))
  interface Shown {
    readonly kind: string
    readonly verdict?: string
    readonly expected?: string | null
    readonly actual?: string | null
  }
  const timeline = async (id: string): Promise<ReadonlyArray<Shown>> =>
    (await get(`/payments/${id}`)).timeline
  const verdicts = async (id: string) =>
    (await timeline(id)).flatMap(({ verdict }) => (verdict === undefined ? [] : [verdict]))

  test("each change of verdict is in the timeline, a repeated verdict only once", async () => {
    const { body } = await shop.open("10.00")
    const { id } = body.payment
    const unknown = `0x${"ab".repeat(32)}`
    for (let polls = 0; polls < 4; polls++) await shop.report(id, unknown, 10_000_000n)
    expect(await verdicts(id)).toEqual(["not_found"])
    const hash = await shop.transfer(9_000_000n)
    await shop.report(id, hash, 10_000_000n)
    const events = await timeline(id)
    expect(events.map(({ kind }) => kind)).toEqual(["opened", "reported", "verdict", "reported", "verdict"])
    expect(events.at(-1)).toMatchObject({ verdict: "amount", expected: "10.00", actual: "9.00" })
  })

  test("a pending payment shows its deadline, a settled one does not", async () => {
    const { body } = await shop.open("10.00")
    const { createdAt, id } = body.payment
    const day = 86_400_000
    expect((await get(`/payments/${id}`)).waitsUntil).toBe(
      new Date(Date.parse(createdAt) + day).toISOString()
    )
    const { payment } = await shop.settle("10.00", 10_000_000n)
    expect((await get(`/payments/${payment.id}`)).waitsUntil).toBeUndefined()
  })

  test("a settled payment's timeline shows what was required and what the chain showed", async () => {
    const { payment, transactionId } = await shop.settle("12.00", 12_000_000n)
    const page = await get(`/payments/${payment.id}`)
    const kinds = page.timeline.map(({ kind }: Shown) => kind)
    expect(kinds.slice(0, 3)).toEqual(["opened", "reported", "settled"])
    const settled = page.timeline.find((event) => event.kind === "settled")
    expect(settled?.transactionId).toBe(transactionId)
    expect(settled?.checks).toEqual([
      { field: "amount", expected: "12.00", actual: "12.00" },
      { field: "receiver", expected: receiver, actual: receiver },
      {
        field: "token",
        expected: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        actual: "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
      },
      { field: "chain", expected: "84532", actual: "84532" }
    ])
    expect(page.explorerUrl).toBe("https://sepolia.basescan.org")
    expect(page.payment).toMatchObject({ id: payment.id, status: "settled" })
  })

  test("a payment keeps its last fifty changes of verdict", async () => {
    const { body } = await shop.open("1.00")
    const { id } = body.payment
    for (let seed = 0; seed < 55; seed++) {
      await shop.report(id, `0x${seed.toString(16).padStart(64, "0")}`, 1_000_000n)
    }
    expect((await verdicts(id)).length).toBeLessThanOrEqual(50)
    expect((await verdicts(id)).length).toBeGreaterThanOrEqual(48)
  })

  test("a delivery shows headers and body of each attempt; resending a waiting delivery is refused", async () => {
    await person.call("POST", `${at}/webhook-endpoint`, { url: "https://shop.example.com/hook" })
    const sent = await person.call("POST", `${at}/webhook-endpoint/test`)
    const { delivery } = await get(`/deliveries/${sent.body.delivery.id}`)
    expect(JSON.parse(delivery.body)).toEqual({ id: delivery.id, type: "test", livemode: false })
    expect(delivery.attempts).toMatchObject([{ number: 1, manual: true, responseStatus: 200, failure: null }])
    await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE webhook_deliveries SET status = 'pending', due_at = now() + interval '1 hour'
          WHERE id = ${delivery.id}`
      })
    )
    const refused = await person.call("POST", `${at}/events/${delivery.id}/resend`)
    expect(refused.body.error.code).toBe("DELIVERY_PENDING")
  })

  test("a new receiving address applies to new intents; existing payments keep theirs", async () => {
    const old = (await shop.open("5.00")).body.payment
    const next = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
    const wrong = await person.call("PATCH", `${at}/receiver`, { receiver: next.replace("BC", "bc") })
    expect(wrong.body.error.details?.[0]?.path).toBe("body.receiver")
    const changed = await person.call("PATCH", `${at}/receiver`, { receiver: next })
    expect<unknown>(changed.body).toEqual({ before: receiver, after: next, dueAt: null })
    expect((await shop.createIntent()).body.intent.receiver).toBe(next)
    expect((await get(`/payments/${old.id}`)).receiver).toBe(receiver)
    const live = await person.call("GET", `/merchants/${person.merchantId}/live/settings`)
    expect(live.body.receiver).toBe(receiver)
    await person.call("PATCH", `${at}/receiver`, { receiver })
  })

  test("alerts of the service name no node to merchants, and only an operator can acknowledge them", async () => {
    await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const [env, subject, kind] of [
          ["test", "test rpc.internal:8545", "rpc_unreachable"],
          ["live", "live rpc.internal:8545", "rpc_unreachable"],
          ["live", "chain live", "chain_halted"]
        ]) {
          yield* sql`INSERT INTO alerts (id, env, kind, subject, message, created_at)
            VALUES (gen_random_uuid(), ${env}, ${kind}, ${subject}, ${`${subject} does not answer`}, now())`
        }
      })
    )
    // The chain is read, and the transfer judged, a little later than the report.
    const judged = async () =>
      (await get("/incoming-transfers?status=open")).transfers.filter(
        ({ kind }: { kind: string | null }) => kind !== null
      )
    let short = await judged()
    for (const end = Date.now() + 30_000; short.length === 0 && Date.now() < end; short = await judged())
      await Bun.sleep(100)
    expect(short).toMatchObject([{ kind: "short", amount: "9.00" }])
    const page = await get("/alerts")
    const own = page.alerts.filter(({ scope }: { scope: string }) => scope === "service")
    expect(own).toHaveLength(1)
    expect(JSON.stringify(page)).not.toContain("rpc.internal")
    const [alert] = own
    expect(alert).toMatchObject({ scope: "service", subject: null })
    const refused = await person.call("POST", `${at}/alerts/${alert?.id}/acknowledge`, {})
    expect(refused.body.error.code).toBe("OPERATOR_ONLY")
    await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE users SET operator = true WHERE email = ${person.email}`
      })
    )
    const told = (await get("/alerts")).alerts.find(({ id }: { id: string }) => id === alert?.id)
    expect(told?.subject).toBe("test rpc.internal:8545")
    expect((await person.call("POST", `${at}/alerts/${alert?.id}/acknowledge`, {})).status).toBe(200)
    // The badge counts unacknowledged alerts and unexplained transfers, here the one that was too small.
    const answer = await person.call("GET", `${at}/alerts`)
    const after: Alerts = answer.body
    const open = after.alerts.filter(({ acknowledgedBy }) => acknowledgedBy === null)
    expect(openAlertsOf(answer)).toBe(open.length + short.length)
    expect(open.map(({ id }) => id)).not.toContain(alert?.id)
    expect(after.alerts.find(({ id }) => id === alert?.id)?.acknowledgedBy).toBe(person.email)
  })
})
