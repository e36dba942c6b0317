// Every endpoint of a merchant's pages with every role in both environments, compared with the table in this file; and
// the last owner, who remains whatever happens at once.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DashboardApi } from "../../src/dashboard/api/Api.ts"
import { roleWords } from "../../src/dashboard/browser/roles.ts"
import type { Role } from "../../src/domain/Role.ts"
import { endpointsOf } from "../../src/platform/http/Routing/pathTable.ts"
import { serviceForFile } from "../support/forFile.ts"
import { colleagueOf, openAlertsOf, type Person, password, request, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const roles: ReadonlyArray<Role> = ["owner", "developer", "support", "read_only"]

/** The letters of the roles that may call it: Owner, Developer, Support, Read-only; first in test, then in live. */
const table: Readonly<Record<string, readonly [test: string, live: string]>> = {
  "paymentPages.overview": ["ODSR", "ODSR"],
  "paymentPages.list": ["ODSR", "ODSR"],
  "paymentPages.retrieve": ["ODSR", "ODSR"],
  "keyPages.list": ["ODSR", "ODSR"],
  "keyPages.create": ["OD", "O"],
  "keyPages.rename": ["OD", "O"],
  "keyPages.rotate": ["OD", "O"],
  "keyPages.revoke": ["OD", "O"],
  "webhookPages.list": ["ODSR", "ODSR"],
  "webhookPages.delivery": ["ODSR", "ODSR"],
  "webhookPages.resend": ["ODS", "ODS"],
  "webhookPages.replayUnsent": ["OD", "OD"],
  "webhookPages.retrieve": ["ODSR", "ODSR"],
  "webhookPages.create": ["OD", "OD"],
  "webhookPages.update": ["OD", "OD"],
  "webhookPages.delete": ["OD", "OD"],
  "webhookPages.test": ["OD", "OD"],
  "webhookPages.regenerateSecret": ["OD", "OD"],
  "settingsPages.retrieve": ["ODSR", "ODSR"],
  "settingsPages.audit": ["ODSR", "ODSR"],
  "settingsPages.update": ["O", "O"],
  "settingsPages.changeBranding": ["O", "O"],
  "settingsPages.checkReceiver": ["O", "O"],
  "settingsPages.changeReceiver": ["O", "O"],
  "settingsPages.withdrawReceiver": ["OD", "OD"],
  "settingsPages.invite": ["O", "O"],
  "settingsPages.withdraw": ["O", "O"],
  "settingsPages.remove": ["O", "O"],
  "settingsPages.changeRole": ["O", "O"],
  "settingsPages.leave": ["ODSR", "ODSR"],
  "settlementLevelPages.retrieve": ["ODSR", "ODSR"],
  "settlementLevelPages.update": ["O", "O"],
  "alertPages.list": ["ODSR", "ODSR"],
  "alertPages.more": ["ODSR", "ODSR"],
  "alertPages.acknowledge": ["ODS", "ODS"],
  "agentPages.list": ["ODSR", "ODSR"],
  "agentPages.create": ["OD", "O"],
  "agentPages.retrieve": ["ODSR", "ODSR"],
  "agentPages.balance": ["ODSR", "ODSR"],
  "agentPages.update": ["OD", "O"],
  "agentPages.pause": ["OD", "OD"],
  "agentPages.resume": ["OD", "O"],
  "agentPages.revoke": ["OD", "OD"],
  "agentPages.fund": ["OD", "OD"],
  "transferPages.list": ["ODSR", "ODSR"],
  "transferPages.retrieve": ["ODSR", "ODSR"],
  "transferPages.attach": ["OS", "OS"],
  "transferPages.handle": ["OS", "OS"],
  "linkPages.list": ["ODSR", "ODSR"],
  "linkPages.create": ["ODS", "ODS"],
  "linkPages.createRemainderLink": ["ODS", "ODS"],
  "linkPages.close": ["ODS", "ODS"],
  "refundPages.create": ["OS", "OS"],
  "refundPages.retrieve": ["ODSR", "ODSR"],
  "refundPages.report": ["OS", "OS"],
  "refundPages.cancel": ["OS", "OS"],
  "bookPages.statement": ["ODSR", "ODSR"],
  "bookPages.page": ["ODSR", "ODSR"],
  "bookPages.export": ["ODSR", "ODSR"],
  "bookPages.changeTimeZone": ["O", "O"],
  "firstRunPages.retrieve": ["ODSR", "ODSR"],
  "pageEvents.watch": ["ODSR", "ODSR"],
  "notificationPreferences.retrieve": ["ODSR", "ODSR"],
  "notificationPreferences.choose": ["ODSR", "ODSR"],
  "notificationPreferences.addHook": ["OD", "OD"],
  "notificationPreferences.removeHook": ["OD", "OD"]
}

/** How the dashboard and docs/dashboard.md describe the endpoints that only some roles may call. */
const described: ReadonlyArray<readonly [phrase: string, endpoints: RegExp, env: "test" | "live"]> = [
  ["webhooks", /^webhookPages\.(replayUnsent|create|update|delete|test|regenerateSecret)$/, "test"],
  ["alert webhooks", /^notificationPreferences\.(add|remove)Hook$/, "test"],
  ["resends", /^webhookPages\.resend$/, "test"],
  ["payment links", /^linkPages\./, "test"],
  ["alerts", /^alertPages\./, "test"],
  ["test keys", /^keyPages\./, "test"],
  ["test agents", /^agentPages\./, "test"],
  ["refunds", /^refundPages\./, "test"],
  ["unmatched transfers", /^transferPages\./, "test"],
  ["pause and revoke live agents", /^agentPages\.(pause|revoke|fund)$/, "live"],
  ["withdraw changes of live addresses", /^settingsPages\.withdrawReceiver$/, "live"]
]

const letterOf: Readonly<Record<Role, string>> = { owner: "O", developer: "D", support: "S", read_only: "R" }

const endpoints = endpointsOf(DashboardApi).filter(({ access }) => access.by === "member")
const noId = "00000000-0000-4000-8000-000000000000"

const service = await serviceForFile({ trustedProxyHops: 1 })
const run = <A>(work: Effect.Effect<A, unknown, SqlClient.SqlClient>) =>
  Effect.runPromise(work.pipe(Effect.provideContext(service.context)))
const colleague = (owner: Person, role: Role) => colleagueOf(service.baseUrl, owner, role)
const idOf = async (person: Person): Promise<string> => (await person.call("GET", "/session")).body.user.id
const roleOf = async (person: Person): Promise<unknown> =>
  (await person.call("GET", "/session")).body.merchants.find(
    ({ id }: { id: string }) => id === person.merchantId
  )?.role
/** The code of the refusal. A stream has no end, so it is not read. */
const codeOf = async (person: Person, method: string, path: string): Promise<unknown> => {
  if (!path.endsWith("/changes"))
    return (await person.call(method, path, method === "GET" ? undefined : {})).body?.error?.code
  const response = await fetch(`${service.baseUrl}/dashboard/api${path}`, {
    headers: { cookie: person.cookie }
  })
  if (!response.ok) return (await response.json()).error.code
  await response.body?.cancel()
  return undefined
}
const people = new Map<Role, Person>()
const owner = await signUp(service.baseUrl)
people.set("owner", owner)
for (const role of roles.slice(1)) people.set(role, await colleague(owner, role))
// Nobody has a recent confirmation, so permitted requests stop there.
await run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE sessions SET confirmed_at = 'epoch'`))

describe("Roles of members", () => {
  test("the table lists every endpoint", () => {
    expect(Object.keys(table).sort()).toEqual(endpoints.map(({ name }) => name).sort())
  })

  test("the dashboard and docs/dashboard.md describe what each role may change", () => {
    const phrasesOf = (letter: string) =>
      described.flatMap(([phrase, endpoints, env]) =>
        Object.entries(table).some(
          ([name, [inTest, inLive]]) =>
            endpoints.test(name) &&
            (env === "test" ? inTest !== "ODSR" && inTest.includes(letter) : inLive.includes(letter))
        )
          ? [phrase]
          : []
      )
    // Every right that an owner shares with only some roles has a description.
    const shared = Object.entries(table).filter(([, [inTest]]) => inTest !== "O" && inTest !== "ODSR")
    expect(
      shared.flatMap(([name]) => (described.some(([, endpoints]) => endpoints.test(name)) ? [] : [name]))
    ).toEqual([])
    const text = readFileSync(join(import.meta.dir, "../../docs/dashboard.md"), "utf8")
    for (const role of ["developer", "support"] as const) {
      const { about, name } = roleWords[role]
      const [managed = "", others = ""] = about.toLowerCase().replace(/\.$/, "").split(". ")
      const written = [
        ...managed.replace("manages ", "").split(/, | and /),
        ...(others === "" ? [] : others.replace("can ", "").split(", and "))
      ]
      expect(written.toSorted()).toEqual(phrasesOf(letterOf[role]).toSorted())
      expect(text).toContain(`| ${name} | ${about} |`)
    }
    for (const { about, name } of [roleWords.owner, roleWords.read_only])
      expect(text).toContain(`| ${name} | ${about} |`)
  })

  test("each member has the role of the invitation", async () => {
    for (const [role, person] of people) expect(await roleOf(person)).toBe(role)
  })

  for (const { method, name, path } of endpoints) {
    for (const [index, env] of (["test", "live"] as const).entries()) {
      const letters = table[name]?.[index] ?? ""
      test(`${name} in ${env} is for ${letters}`, async () => {
        for (const [role, person] of people) {
          const filled = path
            .replace("/dashboard/api", "")
            .replace(":merchantId", person.merchantId)
            .replace(":env", env)
            .replace(":kind", "payments")
            .replace(/:[A-Za-z]+/g, noId)
          const code = await codeOf(person, method, filled)
          expect({ role, refused: code === "ROLE_REQUIRED" }).toEqual({
            role,
            refused: !letters.includes(letterOf[role])
          })
        }
      })
    }
  }

  test("a refusal names the roles that are permitted", async () => {
    const reader = people.get("read_only")
    const answer = await reader?.call("POST", `/merchants/${reader.merchantId}/live/keys`, {
      kind: "secret",
      permission: "manage"
    })
    expect(answer?.status).toBe(403)
    expect(answer?.body.error.details).toMatchObject([{ expected: "owner", actual: "read_only" }])
  })

  test("of two members who acknowledge an alert at once, one does, with a note, and both see who", async () => {
    const owner = people.get("owner")
    const support = people.get("support")
    if (owner === undefined || support === undefined) throw new Error("nobody")
    const id = crypto.randomUUID()
    await run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
          VALUES (${id}, ${owner.merchantId}, 'test', 'webhook_exhausted', ${id}, 'Repair it.', now())`
      )
    )
    const path = `/merchants/${owner.merchantId}/test/alerts/${id}/acknowledge`
    const answers = await Promise.all(
      [owner, support].map((person) => person.call("POST", path, { note: `by ${person.email}` }))
    )
    const [first, second] = answers.map(({ body }) => ({ ...body }))
    expect([first]).toEqual([second])
    const winner = [owner, support].find(({ email }) => email === first?.["acknowledgedBy"])
    expect(first?.["note"]).toBe(`by ${winner?.email}`)
    const { alerts } = (await owner.call("GET", `/merchants/${owner.merchantId}/test/alerts`)).body
    expect(alerts.find((one: { readonly id: string }) => one.id === id)).toMatchObject(first ?? {})
  })

  test("any role can acknowledge its own notifications, and a read-only member nothing else", async () => {
    const owner = await signUp(service.baseUrl)
    const reader = await colleague(owner, "read_only")
    const at = `/merchants/${owner.merchantId}/test`
    // Every member is notified of it.
    const added = await owner.call("POST", `${at}/members`, { email: `x.${owner.email}`, role: "owner" })
    expect(added.status).toBe(201)
    const shared = crypto.randomUUID()
    await run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
          VALUES (${shared}, ${owner.merchantId}, 'test', 'webhook_exhausted', ${shared}, 'Repair it.', now())`
      )
    )
    const page = (person: Person) => person.call("GET", `${at}/alerts`)
    const before = await page(reader)
    expect(openAlertsOf(before)).toBe(2)
    const own = before.body.alerts.find((one: { readonly kind: string }) => one.kind === "account_change")
    const acknowledge = (id = "") => reader.call("POST", `${at}/alerts/${id}/acknowledge`, {})
    expect((await acknowledge(own?.id)).body).toMatchObject({ acknowledgedBy: reader.email })
    expect((await acknowledge(shared)).body.error.code).toBe("ROLE_REQUIRED")
    const ofOwner = (await page(owner)).body.alerts.find(
      (one: { readonly kind: string }) => one.kind === "account_change"
    )
    expect((await acknowledge(ofOwner?.id)).body.error.code).toBe("ROLE_REQUIRED")
    expect(openAlertsOf(await page(reader))).toBe(1)
  })

  test("a member cannot be invited in another role, because the link would change nothing", async () => {
    const owner = await signUp(service.baseUrl)
    const member = await colleague(owner, "support")
    const at = `/merchants/${owner.merchantId}/test`
    const invited = await owner.call("POST", `${at}/members`, { email: member.email, role: "owner" })
    expect(invited.status).toBe(400)
    expect(invited.body.error.details).toMatchObject([{ path: "body.email" }])
    expect((await owner.call("GET", `${at}/settings`)).body.invitations).toEqual([])
    expect(await roleOf(member)).toBe("support")
  })

  describe("The last owner", () => {
    test("cannot leave, be removed or be demoted; with a second owner they can", async () => {
      const owner = await signUp(service.baseUrl)
      const at = `/merchants/${owner.merchantId}/test`
      const id = await idOf(owner)
      for (const [method, path, body] of [
        ["POST", `${at}/members/leave`, undefined],
        ["DELETE", `${at}/members/${id}`, undefined],
        ["PUT", `${at}/members/${id}/role`, { role: "support" }]
      ] as const) {
        const answer = await owner.call(method, path, body)
        expect([answer.status, answer.body.error.code]).toEqual([409, "LAST_OWNER"])
      }
      const second = await colleague(owner, "developer")
      expect(
        (await owner.call("PUT", `${at}/members/${await idOf(second)}/role`, { role: "owner" })).status
      ).toBe(204)
      expect(await roleOf(second)).toBe("owner")
      expect((await owner.call("POST", `${at}/members/leave`)).status).toBe(204)
      expect(await roleOf(owner)).toBeUndefined()
      expect(
        (await second.call("GET", `${at}/audit`)).body.entries.map(({ action }: { action: string }) => action)
      ).toEqual(expect.arrayContaining(["member.left", "member.role_changed"]))
    })

    test("when an owner is demoted, their open invitations and receiver changes end", async () => {
      const owner = await signUp(service.baseUrl)
      const second = await colleague(owner, "owner")
      const at = `/merchants/${owner.merchantId}/live`
      const invited = await second.call("POST", `${at}/members`, { email: "late@example.com", role: "owner" })
      const address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
      expect((await second.call("PATCH", `${at}/receiver`, { receiver: address })).status).toBe(200)
      await owner.call("PUT", `${at}/members/${await idOf(second)}/role`, { role: "support" })
      const settings = (await owner.call("GET", `${at}/settings`)).body
      expect(settings.invitations).toEqual([])
      expect(settings.receiverChange).toBeNull()
      const redeemed = await request(service.baseUrl, "POST", "/one-time-link", {
        body: { token: invited.body.link.split("#")[1], password }
      })
      expect(redeemed.body.error.code).toBe("ONE_TIME_LINK_INVALID")
    })

    test("two owners who demote each other at once leave one owner, twenty times", async () => {
      const first = await signUp(service.baseUrl)
      const second = await colleague(first, "owner")
      const at = `/merchants/${first.merchantId}/test`
      const [one, other] = [await idOf(first), await idOf(second)]
      for (let round = 0; round < 20; round++) {
        await run(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) =>
              sql`UPDATE merchant_members SET role = 'owner' WHERE merchant_id = ${first.merchantId}::uuid`
          )
        )
        const answers = await Promise.all([
          first.call("PUT", `${at}/members/${other}/role`, { role: "read_only" }),
          second.call("PUT", `${at}/members/${one}/role`, { role: "read_only" })
        ])
        expect(answers.map(({ status }) => status).sort()).toEqual([204, 403])
        expect([await roleOf(first), await roleOf(second)].sort()).toEqual(["owner", "read_only"])
      }
    })

    test("the database refuses to lose the last owner, even if two older releases demote at once", async () => {
      const first = await signUp(service.baseUrl)
      const second = await colleague(first, "owner")
      const merchant = first.merchantId
      const [one, other] = [await idOf(first), await idOf(second)]
      const outcomes = await run(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          // Each transaction changes the other's row before either checks for a remaining owner.
          const demote = (id: string) =>
            sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`UPDATE merchant_members SET role = 'support'
                  WHERE merchant_id = ${merchant}::uuid AND user_id = ${id}::uuid`
                yield* sql`SELECT pg_sleep(0.3)`
              })
            )
          return yield* Effect.all([Effect.result(demote(one)), Effect.result(demote(other))], {
            concurrency: 2
          })
        })
      )
      expect(outcomes.map(({ _tag }) => _tag).sort()).toEqual(["Failure", "Success"])
      const removed = await run(
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          Effect.result(sql`DELETE FROM merchant_members WHERE merchant_id = ${merchant}::uuid`)
        )
      )
      expect(removed._tag).toBe("Failure")
    })
  })
})
