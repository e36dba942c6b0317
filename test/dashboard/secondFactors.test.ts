// An authenticator app over HTTP: set up after a recent confirmation, required with every password, each code once,
// attempts limited; sessions are listed and ended.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/merchants/accounts/Accounts.ts"
import { codeOf, stepAt } from "../../src/merchants/accounts/SecondFactors/totp.ts"
import { serviceForFile } from "../support/forFile.ts"
import { cookieOf, type Person, password, request, signUp } from "./person.ts"
import { secretBytesOf } from "./secretBytesOf.ts"

setDefaultTimeout(60_000)

const run = <A>(work: Effect.Effect<A, unknown, SqlClient.SqlClient>) =>
  Effect.runPromise(work.pipe(Effect.provideContext(service.context)))
const sqlRun = (query: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<object>, unknown>) =>
  run(Effect.flatMap(SqlClient.SqlClient, query))
const smtp = Option.some({ url: Redacted.make("smtp://127.0.0.1:9"), from: "pay@example.com" })
const service = await serviceForFile({ trustedProxyHops: 1, smtp })

describe("Second factors", () => {
  const post = (path: string, body: unknown, cookie?: string) =>
    request(service.baseUrl, "POST", path, { body, ...(cookie === undefined ? {} : { cookie }) })

  /**
   * Sets up an app with the code of this step; returns the next code, and one that is `further` ahead. Both stay valid
   * if a step ends.
   */
  const withApp = async (person: Person) => {
    const { body } = await person.call("POST", "/authenticator")
    const secret = secretBytesOf(body.secret)
    const step = stepAt(Date.now())
    const used = codeOf(secret, step)
    const code = (further = 0) => codeOf(secret, step + 1 + further)
    const { body: made } = await person.call("POST", "/authenticator/confirm", { code: used })
    return { secret, code, used, codes: made.codes, uri: body.uri }
  }

  test("with an app, sign-in needs a code; each code, and each recovery code, counts once", async () => {
    const person = await signUp(service.baseUrl)
    const { code, codes, uri, used } = await withApp(person)
    expect(uri).toStartWith(`otpauth://totp/Quittance%3A${encodeURIComponent(person.email)}?secret=`)
    expect(codes).toHaveLength(10)
    expect(new Set(codes).size).toBe(10)

    const signIn = (given?: string) =>
      post("/sign-in", { email: person.email, password, ...(given === undefined ? {} : { code: given }) })
    expect((await signIn()).body.error.code).toBe("SECOND_FACTOR_REQUIRED")
    expect((await signIn("000000")).body.error.code).toBe("SECOND_FACTOR_FAILED")
    expect((await signIn(used)).body.error.code).toBe("SECOND_FACTOR_FAILED")
    const now = code()
    expect((await signIn(now)).status).toBe(200)
    expect((await signIn(now)).body.error.code).toBe("SECOND_FACTOR_FAILED")
    const [recovery = ""] = codes
    expect((await signIn(recovery.toLowerCase().replace("-", " "))).status).toBe(200)
    expect((await signIn(recovery)).body.error.code).toBe("SECOND_FACTOR_FAILED")
    expect((await person.call("GET", "/security")).body).toMatchObject({
      hasAuthenticator: true,
      recoveryCodesLeft: 9
    })
    const wrong = await post("/sign-in", { email: person.email, password: "not the password", code: code(1) })
    expect(wrong.body.error.code).toBe("SIGN_IN_FAILED")
  })

  test("the same code sent several times at once signs in once", async () => {
    const person = await signUp(service.baseUrl)
    const { code, codes } = await withApp(person)
    for (const given of [code(), codes[0]]) {
      const answers = await Promise.all(
        [1, 2, 3].map(() => post("/sign-in", { email: person.email, password, code: given }))
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    }
  })

  test("a code is needed to confirm a change, and to set a new password by a link", async () => {
    const person = await signUp(service.baseUrl)
    const { code, codes } = await withApp(person)
    expect((await person.call("POST", "/confirm", { password })).body.error.code).toBe(
      "SECOND_FACTOR_REQUIRED"
    )
    expect((await person.call("POST", "/confirm", { password, code: code() })).status).toBe(204)

    expect((await post("/forgotten-password", { email: person.email })).status).toBe(204)
    const [mail] = await sqlRun(
      (sql) =>
        sql`SELECT body FROM mails WHERE recipient = ${person.email} AND subject LIKE '%new password' AND urgent`
    )
    const token = /welcome#(\S+)/u.exec(JSON.stringify(mail).replaceAll("\\n", "\n"))?.[1]
    const reset = { token, password: "another long password" }
    expect((await post("/one-time-link", reset)).body.error.code).toBe("SECOND_FACTOR_REQUIRED")
    expect((await post("/one-time-link", { ...reset, code: codes[1] })).status).toBe(200)
    expect((await post("/one-time-link", { ...reset, code: codes[2] })).body.error.code).toBe(
      "ONE_TIME_LINK_INVALID"
    )
  })

  test("a forgotten password gets the same answer for an unknown address, and is limited", async () => {
    const before = await sqlRun((sql) => sql`SELECT id FROM mails`)
    for (const expected of [204, 204, 204, 429])
      expect((await post("/forgotten-password", { email: "nobody@example.com" })).status).toBe(expected)
    expect(await sqlRun((sql) => sql`SELECT id FROM mails`)).toHaveLength(before.length)
  })

  test("the secret is encrypted, and recovery codes are hashed", async () => {
    const person = await signUp(service.baseUrl)
    const { codes, secret } = await withApp(person)
    const rows = JSON.stringify([
      await sqlRun(
        (sql) => sql`SELECT secret_kid, encode(secret_ciphertext, 'hex') AS hex FROM authenticators`
      ),
      await sqlRun((sql) => sql`SELECT encode(hash, 'hex') AS hex FROM recovery_codes`)
    ])
    for (const shown of [secret.toString("hex"), secret.toString("base64"), ...codes])
      expect(rows).not.toContain(shown)
  })

  test("attempts are limited like those of passwords", async () => {
    const person = await signUp(service.baseUrl)
    await withApp(person)
    const from = { "x-forwarded-for": "2001:db8:77::1" }
    const codes = []
    for (let attempt = 0; attempt < 12; attempt++) {
      const answer = await request(service.baseUrl, "POST", "/sign-in", {
        body: { email: person.email, password, code: "000000" },
        headers: from
      })
      codes.push(answer.body.error.code)
    }
    expect(codes.slice(0, 10).every((code) => code === "SECOND_FACTOR_FAILED")).toBeTrue()
    expect(codes.slice(10)).toEqual(["RATE_LIMITED", "RATE_LIMITED"])
  })

  test("setting up, renewing and removing need a recent confirmation, and send a mail to the person", async () => {
    const person = await signUp(service.baseUrl)
    const { codes } = await withApp(person)
    const renewed = (await person.call("POST", "/recovery-codes")).body.codes
    expect(renewed).toHaveLength(10)
    expect((await post("/sign-in", { email: person.email, password, code: codes[0] })).status).toBe(401)
    expect((await person.call("POST", "/authenticator")).body.error.code).toBe("SECOND_FACTOR_ACTIVE")
    await sqlRun((sql) => sql`UPDATE sessions SET confirmed_at = 'epoch'`)
    for (const [method, path, body] of [
      ["POST", "/authenticator", undefined],
      ["POST", "/authenticator/confirm", { code: "123456" }],
      ["DELETE", "/authenticator", undefined],
      ["POST", "/recovery-codes", undefined],
      ["POST", "/passkeys/options", undefined]
    ] as const)
      expect((await person.call(method, path, body)).body.error.code).toBe("PASSWORD_REQUIRED")
    await person.call("POST", "/confirm", { password, code: renewed[0] })
    expect((await person.call("DELETE", "/authenticator")).status).toBe(204)
    expect((await post("/sign-in", { email: person.email, password })).status).toBe(200)
    const told = await sqlRun(
      (sql) =>
        sql`SELECT subject FROM mails WHERE recipient = ${person.email} AND subject NOT LIKE '%key created%' ORDER BY id`
    )
    expect(told).toEqual([
      { subject: "Quittance: an authenticator app was added" },
      { subject: "Quittance: the recovery codes were renewed" },
      { subject: "Quittance: the authenticator app was removed" }
    ])
  })

  test("mails about changes are in the person's language", async () => {
    const person = await signUp(service.baseUrl)
    await sqlRun((sql) => sql`UPDATE users SET locale = 'de' WHERE email = ${person.email}`)
    const key = { kind: "secret", permission: "manage" }
    const made = await person.call("POST", `/merchants/${person.merchantId}/live/keys`, key)
    expect(made.status).toBe(201)
    await withApp(person)
    const mails = await sqlRun(
      (sql) => sql`SELECT subject, body FROM mails WHERE recipient = ${person.email}`
    )
    for (const subject of ["eine Authenticator-App wurde hinzugefügt", "Änderung: API key created (live)"])
      expect(JSON.stringify(mails)).toContain(`Quittance: ${subject}`)
    expect(JSON.stringify(mails)).toContain(
      `Eine Änderung an Ihrem Konto ${person.email}: eine Authenticator-App`
    )
    expect(JSON.stringify(mails)).toContain("als Mitglied des Händlers")
  })

  test("an operator can remove the app of a person without it, who is notified", async () => {
    const person = await signUp(service.baseUrl)
    await withApp(person)
    const remove = () =>
      Effect.runPromise(
        Effect.flatMap(Accounts, (accounts) => accounts.removeAuthenticator(person.email)).pipe(
          Effect.provide(Accounts.layer),
          Effect.provideContext(service.context)
        )
      )
    expect([await remove(), await remove()]).toEqual([true, false])
    expect((await post("/sign-in", { email: person.email, password })).status).toBe(200)
    const told = await sqlRun(
      (sql) =>
        sql`SELECT body FROM mails WHERE recipient = ${person.email} AND body LIKE 'The operator removed%'`
    )
    expect(told).toHaveLength(1)
  })

  describe("Sessions", () => {
    const agents = {
      laptop: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
      phone:
        "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1"
    }

    test("are listed with browser, address and last use, and ended one by one or all others", async () => {
      const person = await signUp(service.baseUrl)
      const other = await signUp(service.baseUrl)
      const cookieFor = async (agent: string) => {
        const cookie = cookieOf(await post("/sign-in", { email: person.email, password }))
        await request(service.baseUrl, "GET", "/session", {
          cookie,
          headers: { "user-agent": agent, "x-forwarded-for": "203.0.113.9" }
        })
        return cookie
      }
      const laptop = await cookieFor(agents.laptop)
      const phone = await cookieFor(agents.phone)
      const listed = (await person.call("GET", "/security")).body.sessions
      expect(listed).toHaveLength(3)
      expect(listed.filter(({ current }) => current)).toHaveLength(1)
      const firefox = listed.find(({ browser }) => browser === "Firefox on Linux")
      expect(firefox).toMatchObject({ address: "203.0.113.9", current: false })
      expect(listed.map(({ browser }) => browser)).toContain("Safari on iPhone")

      const foreign = (await other.call("GET", "/security")).body.sessions[0]?.id
      expect((await person.call("DELETE", `/sessions/${foreign}`)).status).toBe(404)
      expect((await other.call("GET", "/session")).status).toBe(200)

      expect((await person.call("DELETE", `/sessions/${firefox?.id}`)).status).toBe(204)
      const status = async (cookie: string) =>
        (await request(service.baseUrl, "GET", "/session", { cookie })).status
      expect([await status(laptop), await status(phone)]).toEqual([401, 200])
      expect((await person.call("POST", "/sessions/end-others")).status).toBe(204)
      expect([await status(phone), (await person.call("GET", "/session")).status]).toEqual([401, 200])
    })

    test("a session's last use is written at most once a minute", async () => {
      const person = await signUp(service.baseUrl)
      const seen = () =>
        sqlRun(
          (sql) => sql`SELECT s.seen_at::text FROM sessions s JOIN users u ON u.id = s.user_id
            WHERE u.email = ${person.email}`
        )
      await person.call("GET", "/session")
      const first = await seen()
      for (let times = 0; times < 3; times++) await person.call("GET", "/session")
      expect(await seen()).toEqual(first)
    })
  })
})
