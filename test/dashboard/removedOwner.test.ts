// Requests of an owner who is removed, or whose session ends, before they run: none of them takes effect.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { serviceForFile } from "../support/forFile.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { overtaken } from "../support/overtaken.ts"
import { agentForm, colleagueOf, type DashboardAnswer, type Person, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile({ trustedProxyHops: 1 })

describe("an owner whose rights end during the request", () => {
  const at = ({ merchantId }: Person, env = "test") => `/merchants/${merchantId}/${env}`

  /** The change that runs first, under the merchant's lock for which the colleague's request waits. */
  const ends = {
    "is removed": (sql: SqlClient.SqlClient, { id }: { readonly id: string }) =>
      sql`DELETE FROM merchant_members WHERE user_id = ${id}`,
    "has another role": (sql: SqlClient.SqlClient, { id }: { readonly id: string }) =>
      sql`UPDATE merchant_members SET role = 'developer' WHERE user_id = ${id}`,
    "has set a new password": (sql: SqlClient.SqlClient, { id }: { readonly id: string }) =>
      sql`DELETE FROM sessions WHERE user_id = ${id}`
  }
  type End = keyof typeof ends

  /** The answer to a request that the colleague sends during that change. */
  const answerTo = (
    owner: Person,
    colleague: Person & { readonly id: string },
    end: End,
    ask: (call: Person["call"]) => Promise<DashboardAnswer>
  ) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const lock = sql`SELECT id FROM merchants WHERE id = ${owner.merchantId} FOR UPDATE`
        const asking = Effect.promise(() => ask(colleague.call))
        return Result.getOrThrow(yield* overtaken(lock, asking, ends[end](sql, colleague)))
      }).pipe(Effect.provideContext(service.context))
    )

  const refused = (answer: DashboardAnswer) => [answer.status, answer.body?.error?.code]
  const everyEnd: ReadonlyArray<End> = ["is removed", "has another role", "has set a new password"]

  for (const env of ["test", "live"])
    for (const end of everyEnd)
      test(`moves no ${env} address if the owner ${end} first`, async () => {
        const owner = await signUp(service.baseUrl)
        const colleague = await colleagueOf(service.baseUrl, owner)
        const body = { receiver: freshAddress() }
        const answer = await answerTo(owner, colleague, end, (call) =>
          call("PATCH", `${at(owner, env)}/receiver`, body)
        )
        expect(refused(answer)).toEqual([403, "ROLE_REQUIRED"])
        const { receiver, receiverChange } = (await owner.call("GET", `${at(owner, env)}/settings`)).body
        expect(receiver).toBe(owner.receiver)
        expect(receiverChange).toBeNull()
      })

  test("withdraws no pending address", async () => {
    const owner = await signUp(service.baseUrl)
    const colleague = await colleagueOf(service.baseUrl, owner)
    const address = freshAddress()
    await owner.call("PATCH", `${at(owner, "live")}/receiver`, { receiver: address })
    const answer = await answerTo(owner, colleague, "has set a new password", (call) =>
      call("DELETE", `${at(owner, "live")}/receiver/change`)
    )
    expect(refused(answer)).toEqual([403, "ROLE_REQUIRED"])
    const { receiverChange } = (await owner.call("GET", `${at(owner, "live")}/settings`)).body
    expect(receiverChange).toMatchObject({ address })
  })

  /** Requests that hand out secrets, send them elsewhere, or decide about rights. */
  const asks: ReadonlyArray<
    readonly [what: string, method: string, path: string, body: (owner: Person) => unknown]
  > = [
    ["creates no key", "POST", "/keys", () => ({ kind: "secret", permission: "manage" })],
    ["invites nobody", "POST", "/members", () => ({ email: "friend@example.com", role: "owner" })],
    ["creates no webhook endpoint", "POST", "/webhook-endpoint", () => ({ url: "https://a.example.com/" })],
    [
      "redirects no alerts",
      "POST",
      "/notification-preferences/hooks",
      () => ({ shape: "plain", url: "https://a.example.com/" })
    ],
    ["creates no agent", "POST", "/agents", () => agentForm]
  ]
  for (const [what, method, path, body] of asks)
    for (const end of ["is removed", "has set a new password"] as const)
      test(`${what} if the owner ${end} first`, async () => {
        const owner = await signUp(service.baseUrl)
        const colleague = await colleagueOf(service.baseUrl, owner)
        const answer = await answerTo(owner, colleague, end, (call) =>
          call(method, `${at(owner)}${path}`, body(owner))
        )
        expect(refused(answer)).toEqual([403, "ROLE_REQUIRED"])
      })

  test("changes and reads no endpoint's secret, and rotates no key", async () => {
    const owner = await signUp(service.baseUrl)
    await owner.call("POST", `${at(owner)}/webhook-endpoint`, { url: "https://a.example.com/" })
    const [key] = (await owner.call("GET", `${at(owner)}/keys`)).body.keys
    for (const [method, path, body] of [
      ["POST", "/webhook-endpoint/secret", {}],
      ["PATCH", "/webhook-endpoint", { url: "https://b.example.com/" }],
      ["DELETE", "/webhook-endpoint", undefined],
      ["POST", `/keys/${key?.id}/rotate`, {}],
      ["POST", `/keys/${key?.id}/revoke`, {}]
    ] as const) {
      const colleague = await colleagueOf(service.baseUrl, owner)
      const answer = await answerTo(owner, colleague, "has set a new password", (call) =>
        call(method, `${at(owner)}${path}`, body)
      )
      expect([path, ...refused(answer)]).toEqual([path, 403, "ROLE_REQUIRED"])
    }
  })

  test("removes no member, and changes no role", async () => {
    const owner = await signUp(service.baseUrl)
    const { id } = (await owner.call("GET", "/session")).body.user
    for (const [method, path, body] of [
      ["DELETE", `/members/${id}`, undefined],
      ["PUT", `/members/${id}/role`, { role: "support" }]
    ] as const) {
      const colleague = await colleagueOf(service.baseUrl, owner)
      const answer = await answerTo(owner, colleague, "has set a new password", (call) =>
        call(method, `${at(owner)}${path}`, body)
      )
      expect([path, ...refused(answer)]).toEqual([path, 403, "ROLE_REQUIRED"])
    }
  })
})
