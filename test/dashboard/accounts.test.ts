// Signing up, in and out: sessions, one-time links, limits, cookies.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Address } from "../../src/domain/Chain.ts"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { Accounts } from "../../src/merchants/accounts/Accounts.ts"
import { AuditLog } from "../../src/merchants/audit/AuditLog.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import { RateLimiter } from "../../src/platform/limits/RateLimiter.ts"
import { testDatabase } from "../support/database.ts"
import { serviceForFile } from "../support/forFile.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { testEffect } from "../support/run.ts"
import type { TestServices } from "../support/service.ts"
import { cookieOf, password, receiver, request, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile({ trustedProxyHops: 1 })
const smtp = Option.some({ url: Redacted.make("smtp://127.0.0.1:9"), from: "quittance@example.com" })
const own = await serviceForFile({ smtp })
const closed = await serviceForFile({ signUp: "closed" })
const secure = await serviceForFile({ baseUrl: "https://pay.example.com" })

describe("Accounts over HTTP", () => {
  /** Requests come from a new address each time, so that the limit of an address does not interfere. */
  let addresses = 0
  const post = (path: string, body: unknown, address = `198.51.100.${addresses++ % 250}`) =>
    request(service.baseUrl, "POST", path, { body, headers: { "x-forwarded-for": address } })
  const person = async () => {
    const email = `one${addresses}@example.com`
    const own = freshAddress()
    const answer = await post("/sign-up", { email, password, merchantName: "Shop", receiver: own })
    const cookie = cookieOf(answer)
    const call = (method: string, path: string, body?: unknown) =>
      request(service.baseUrl, method, path, { cookie, body })
    return { email, cookie, answer, call, merchantId: answer.body.session?.merchants[0]?.id }
  }

  test("signing up makes a user, a merchant and its keys, and signs in", async () => {
    const { answer, call, email } = await person()
    expect(answer.status).toBe(201)
    expect(answer.body.keys.test.secret).toStartWith("sk_test_")
    const session = await call("GET", "/session")
    expect(session.body).toMatchObject({ user: { email, operator: false }, merchants: [{ name: "Shop" }] })
    const listed = await fetch(`${service.baseUrl}/api/v1/payments`, {
      headers: { authorization: `Bearer ${answer.body.keys.test.secret}` }
    })
    expect(listed.status).toBe(200)
    // Live payments are not open, so no live key is created.
    expect(Object.keys(answer.body.keys)).toEqual(["test"])
    const live = await call("GET", `/merchants/${session.body.merchants[0]?.id}/live/keys`)
    expect<unknown>(live.body.keys).toEqual([])
  })

  test("the cookie is sent only with this site's requests, and hidden from scripts", async () => {
    const { answer } = await person()
    const cookie = answer.headers.get("set-cookie") ?? ""
    expect(cookie).toStartWith("quittance_session=")
    expect(cookie).toContain("HttpOnly")
    expect(cookie).toContain("SameSite=Strict")
    expect(cookie).toContain("Path=/")
    expect(cookie).not.toContain("Secure")
  })

  test("under https the cookie is Secure and bound to the host", async () => {
    const answer = await request(secure.baseUrl, "POST", "/sign-up", {
      body: { email: "s@example.com", password, merchantName: "Shop", receiver }
    })
    const cookie = answer.headers.get("set-cookie") ?? ""
    expect(cookie).toStartWith("__Host-quittance_session=")
    expect(cookie).toContain("Secure")
    const session = await request(secure.baseUrl, "GET", "/session", { cookie: cookieOf(answer) })
    expect(session.status).toBe(200)
  })

  test("bad input is refused with each field, and nothing is created", async () => {
    const answer = await post("/sign-up", {
      email: "nobody",
      password: "short",
      merchantName: "",
      receiver: "0x1"
    })
    expect(answer.status).toBe(400)
    expect(answer.body.error.details?.map((one: { path: string }) => one.path).sort()).toEqual([
      "body.email",
      "body.merchantName",
      "body.password",
      "body.receiver"
    ])
    const checksum = await post("/sign-up", {
      email: "nobody@example.com",
      password,
      merchantName: "Shop",
      receiver: receiver.replace("C8", "c8")
    })
    expect(checksum.body.error.details?.[0]).toMatchObject({ path: "body.receiver" })
    expect((await post("/sign-in", { email: "nobody@example.com", password })).status).toBe(401)
  })

  test("an email address signs up once, in any letter case", async () => {
    const { email } = await person()
    const again = await post("/sign-up", {
      email: email.toUpperCase(),
      password,
      merchantName: "Shop",
      receiver
    })
    expect(again.status).toBe(409)
    expect(again.body.error.code).toBe("EMAIL_TAKEN")
  })

  test("closed sign-up refuses, and creates nothing", async () => {
    const body = { email: "a@example.com", password, merchantName: "Shop", receiver }
    const answer = await request(closed.baseUrl, "POST", "/sign-up", { body })
    expect(answer.body.error.code).toBe("SIGN_UP_CLOSED")
    const page = await fetch(`${closed.baseUrl}/dashboard/sign-up`)
    expect(await page.text()).toContain('data-sign-up="closed"')
  })

  test("sign-in gives the same answer for a wrong password and for an unknown account", async () => {
    const { email } = await person()
    const wrong = await post("/sign-in", { email, password: "not the password" })
    const unknown = await post("/sign-in", { email: "never@example.com", password: "not the password" })
    const bare = ({ status, body }: typeof wrong) => ({ status, ...body.error, requestId: "" })
    expect(bare(unknown)).toEqual(bare(wrong))
    expect(wrong.status).toBe(401)
    expect((await post("/sign-in", { email, password })).status).toBe(200)
  })

  test("sign-in takes as long for unknown accounts", async () => {
    const { email } = await person()
    // Processor time, because other processes on a busy machine do not stretch it.
    const cost = async (one: string) => {
      const before = process.cpuUsage()
      await post("/sign-in", { email: one, password: "not the password" })
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const known: Array<number> = []
    const unknown: Array<number> = []
    for (let round = 0; round < 4; round++) {
      known.push(await cost(email))
      unknown.push(await cost("never-there@example.com"))
    }
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) * 0.5)
  })

  /** The cookie of the known browser, from a sign-in's answer. */
  const browserOf = ({ headers }: Awaited<ReturnType<typeof post>>) =>
    headers
      .getSetCookie()
      .find((one) => one.includes("quittance_browser="))
      ?.split(";")[0] ?? ""
  const signInFrom = (email: string, secret: string, address: string, cookie = "") =>
    request(service.baseUrl, "POST", "/sign-in", {
      body: { email, password: secret },
      headers: { "x-forwarded-for": address, ...(cookie === "" ? {} : { cookie }) }
    })

  test("attempts at an account are limited per address; its owner can sign in from a known browser", async () => {
    const { answer, email } = await person()
    const known = browserOf(answer)
    expect(known).not.toBe("")
    const codes: Array<number> = []
    for (let attempt = 0; attempt < 11; attempt++)
      codes.push((await signInFrom(email, "not the password", "203.0.113.50")).status)
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 401), 429])
    expect((await signInFrom(email, password, "203.0.113.50")).status).toBe(429)
    expect((await signInFrom(email, password, "203.0.113.51")).status).toBe(200)
    // Even from the stranger's own address.
    expect((await signInFrom(email, password, "203.0.113.50", known)).status).toBe(200)
    // A browser known to one account is unknown to another.
    const other = await person()
    for (let attempt = 0; attempt < 10; attempt++)
      await signInFrom(other.email, "not the password", "203.0.113.52", known)
    expect((await signInFrom(other.email, password, "203.0.113.52", known)).status).toBe(429)
  })

  test("after a hundred attempts at an account in an hour only its owner's known browser can sign in", async () => {
    const { answer, email } = await person()
    const known = browserOf(answer)
    const limiter = await Effect.runPromise(
      Effect.provideContext(Effect.service(RateLimiter), service.context)
    )
    for (let taken = 0; taken < 100; taken++)
      await Effect.runPromise(
        limiter.take(`sign-in account ${email}`, { rate: 100, perSeconds: 3_600, burst: 100 })
      )
    expect((await signInFrom(email, password, "203.0.113.60")).status).toBe(429)
    expect((await signInFrom(email, password, "203.0.113.61", known)).status).toBe(200)
  })

  test("a browser is known to the last five accounts that signed in with it, and names none of them", async () => {
    const people = [await person(), await person(), await person(), await person(), await person()]
    let cookie = ""
    const used = async (email: string) => {
      cookie = browserOf(await signInFrom(email, password, `198.18.1.${addresses++}`, cookie)) || cookie
    }
    for (const { email } of people) await used(email)
    expect(cookie).toMatch(/^quittance_browser=[\w-]{43}(\.[\w-]{43}){4}$/)
    // A new account displaces the account with the oldest sign-in, not the first one.
    await used(people[0]?.email ?? "")
    const next = await person()
    await used(next.email)

    const limiter = await Effect.runPromise(
      Effect.provideContext(Effect.service(RateLimiter), service.context)
    )
    const codes: Array<number> = []
    for (const { email } of [...people, next]) {
      for (let taken = 0; taken < 100; taken++)
        await Effect.runPromise(
          limiter.take(`sign-in account ${email}`, { rate: 100, perSeconds: 3_600, burst: 100 })
        )
      codes.push((await signInFrom(email, password, `198.18.1.${addresses++}`, cookie)).status)
    }
    expect(codes).toEqual([200, 429, 200, 200, 200, 200])
    const forged = `quittance_browser=${Array(50).fill("a".repeat(43)).join(".")}`
    expect((await signInFrom(next.email, password, `198.18.1.${addresses++}`, forged)).status).toBe(429)
  })

  test("after a password change, in settings or by a link, only the browser in use stays known", async () => {
    const { answer, call, email } = await person()
    const limiter = await Effect.runPromise(
      Effect.provideContext(Effect.service(RateLimiter), service.context)
    )
    const old = [browserOf(answer), browserOf(await signInFrom(email, password, "198.18.2.1"))]
    const next = "an even longer password"
    const changed = await call("POST", "/password", { current: password, next })
    const link = {
      email,
      merchantId: null,
      role: "owner" as const,
      resetPassword: true,
      operator: false,
      invitedBy: null
    }
    const exhaust = async () => {
      for (let taken = 0; taken < 100; taken++)
        await Effect.runPromise(
          limiter.take(`sign-in account ${email}`, { rate: 100, perSeconds: 3_600, burst: 100 })
        )
    }
    await exhaust()
    const statuses = async (secret: string, browsers: ReadonlyArray<string>) => {
      const codes: Array<number> = []
      for (const browser of browsers)
        codes.push((await signInFrom(email, secret, `198.18.2.${10 + codes.length}`, browser)).status)
      return codes
    }
    expect(await statuses(next, [...old, browserOf(changed)])).toEqual([429, 429, 200])

    const token = await Effect.runPromise(
      Effect.provideContext(
        Effect.flatMap(Accounts, (accounts) => accounts.createLink(link)).pipe(
          Effect.provide(Accounts.layer)
        ),
        service.context
      )
    )
    const reset = await request(service.baseUrl, "POST", "/one-time-link", {
      body: { token, password },
      headers: { "x-forwarded-for": "198.18.2.2", cookie: browserOf(changed) }
    })
    expect(await statuses(password, [browserOf(changed), browserOf(reset)])).toEqual([429, 200])
  })

  test("a known browser that sends wrong passwords is limited as well", async () => {
    const { answer, email } = await person()
    const known = browserOf(answer)
    for (let attempt = 0; attempt < 10; attempt++)
      expect((await signInFrom(email, "not the password", `203.0.113.${70 + attempt}`, known)).status).toBe(
        401
      )
    expect((await signInFrom(email, password, "203.0.113.90", known)).status).toBe(429)
  })

  test("wrong passwords for a link count against the account, and invalidate the link", async () => {
    const { email } = await person()
    const owner = await person()
    const invited = await owner.call("POST", `/merchants/${owner.merchantId}/test/members`, {
      email,
      role: "owner"
    })
    const token = new URL(invited.body.link).hash.slice(1)
    const guess = (address: string, secret = "a wrong password") =>
      post("/one-time-link", { token, password: secret }, address)
    const codes: Array<number> = []
    for (let attempt = 0; attempt < 10; attempt++)
      codes.push((await guess(`203.0.113.${100 + attempt}`)).status)
    expect(codes).toEqual(Array.from({ length: 10 }, () => 401))
    expect((await guess("203.0.113.120", password)).body.error.code).toBe("ONE_TIME_LINK_INVALID")

    const again = await owner.call("POST", `/merchants/${owner.merchantId}/test/members`, {
      email,
      role: "owner"
    })
    const second = new URL(again.body.link).hash.slice(1)
    const limited: Array<number> = []
    for (let attempt = 0; attempt < 11; attempt++)
      limited.push((await post("/one-time-link", { token: `x${second}`, password }, "203.0.113.130")).status)
    // An invalid link reveals nothing about an account, and counts against none.
    expect(new Set(limited)).toEqual(new Set([400]))
    expect((await post("/one-time-link", { token: second, password })).status).toBe(200)
  })

  test("an invitation ends with its inviter's membership, can be listed and withdrawn, and is limited", async () => {
    const owner = await person()
    const at = `/merchants/${owner.merchantId}/test`
    const invite = async (by: typeof owner.call, email: string) => {
      const answer = await by("POST", `${at}/members`, { email, role: "owner" })
      return {
        status: answer.status,
        token: answer.status === 201 ? new URL(answer.body.link).hash.slice(1) : ""
      }
    }
    const insiderLink = await invite(owner.call, "insider@example.com")
    const joined = await post("/one-time-link", { token: insiderLink.token, password })
    const insiderCookie = cookieOf(joined)
    const insider = (method: string, path: string, body?: unknown) =>
      request(service.baseUrl, method, path, { cookie: insiderCookie, body })
    const backdoor = await invite(insider, "backdoor@example.com")
    const seen = (await owner.call("GET", `${at}/settings`)).body.invitations
    expect(seen).toMatchObject([{ email: "backdoor@example.com", invitedBy: "insider@example.com" }])
    expect((await owner.call("DELETE", `${at}/members/${joined.body.user.id}`)).status).toBe(204)
    expect((await owner.call("GET", `${at}/settings`)).body.invitations).toEqual([])
    expect((await post("/one-time-link", { token: backdoor.token, password })).body.error.code).toBe(
      "ONE_TIME_LINK_INVALID"
    )

    const withdrawn = await invite(owner.call, "withdrawn@example.com")
    const id = (await owner.call("GET", `${at}/settings`)).body.invitations[0]?.id
    expect((await owner.call("DELETE", `${at}/members/invitations/${id}`)).status).toBe(204)
    expect((await owner.call("DELETE", `${at}/members/invitations/${id}`)).status).toBe(404)
    expect((await post("/one-time-link", { token: withdrawn.token, password })).status).toBe(400)

    // One open link for each person, and ten an hour for each member.
    const first = await invite(owner.call, "twice@example.com")
    const second = await invite(owner.call, "twice@example.com")
    expect((await post("/one-time-link", { token: first.token, password })).status).toBe(400)
    expect((await post("/one-time-link", { token: second.token, password })).status).toBe(200)
    const rest: Array<number> = []
    for (let n = 0; n < 8; n++) rest.push((await invite(owner.call, `p${n}@example.com`)).status)
    expect(rest).toEqual([201, 201, 201, 201, 201, 201, 429, 429])
  })

  test("password hashes wait in a short queue; requests beyond it get 503 with retry-after", async () => {
    const { email } = await person()
    // Repeats until the queue is full: how many it cannot hold depends on when they arrive.
    const burst = (round: number) =>
      Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          signInFrom(email, "not the password", `198.18.${round}.${index}`)
        )
      )
    let answers = await burst(0)
    const refused = () => answers.find(({ status }) => status === 429)
    for (let round = 1; refused() === undefined && round < 10; round++) answers = await burst(round)
    expect(refused()?.headers.get("retry-after")).toBe("3")
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(20)
  })

  test("attempts are limited per address, whatever the account", async () => {
    let last = await post("/sign-in", { email: "x@example.com", password: "p" }, "203.0.113.9")
    for (let attempt = 0; attempt < 30; attempt++) {
      last = await post("/one-time-link", { token: `t${attempt}`, password }, "203.0.113.9")
    }
    expect(last.status).toBe(429)
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0)
  })

  test("signing out ends the session; signing out everywhere ends every session", async () => {
    const { email, cookie, call } = await person()
    const other = cookieOf(await post("/sign-in", { email, password }))
    const third = cookieOf(await post("/sign-in", { email, password }))
    const status = async (one: string) =>
      (await request(service.baseUrl, "GET", "/session", { cookie: one })).status
    expect(await status(other)).toBe(200)
    const out = await request(service.baseUrl, "POST", "/sign-out", { cookie: other })
    expect(out.status).toBe(204)
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0")
    expect(await status(other)).toBe(401)
    expect(await status(cookie)).toBe(200)
    await call("POST", "/sign-out-everywhere")
    expect([await status(cookie), await status(third)]).toEqual([401, 401])
  })

  test("a new password ends every other session, and needs the present one", async () => {
    const { email, call } = await person()
    const other = cookieOf(await post("/sign-in", { email, password }))
    const next = "an even longer password"
    expect((await call("POST", "/password", { current: "wrong one", next })).status).toBe(401)
    const changed = await call("POST", "/password", { current: password, next })
    expect(changed.status).toBe(204)
    expect((await request(service.baseUrl, "GET", "/session", { cookie: other })).status).toBe(401)
    expect((await request(service.baseUrl, "GET", "/session", { cookie: cookieOf(changed) })).status).toBe(
      200
    )
    expect((await post("/sign-in", { email, password })).status).toBe(401)
    expect((await post("/sign-in", { email, password: next })).status).toBe(200)
  })

  test("an invitation adds a new person to the merchant, once", async () => {
    const { call, merchantId } = await person()
    const invited = await call("POST", `/merchants/${merchantId}/test/members`, {
      email: "New@example.com",
      role: "owner"
    })
    const token = new URL(invited.body.link).hash.slice(1)
    const settings = await call("GET", `/merchants/${merchantId}/test/settings`)
    expect(settings.body.invitations).toMatchObject([{ email: "new@example.com" }])
    const joined = await post("/one-time-link", { token, password: "the newcomer's own" })
    expect(joined.body).toMatchObject({ user: { email: "new@example.com" }, merchants: [{ id: merchantId }] })
    const again = await post("/one-time-link", { token, password: "somebody else's" })
    expect(again.body.error.code).toBe("ONE_TIME_LINK_INVALID")
    expect((await call("GET", `/merchants/${merchantId}/test/settings`)).body.members).toHaveLength(2)
    const removed = await call("DELETE", `/merchants/${merchantId}/test/members/${joined.body.user.id}`)
    expect(removed.status).toBe(204)
    const cookie = cookieOf(joined)
    const gone = await request(service.baseUrl, "GET", `/merchants/${merchantId}/test/keys`, { cookie })
    expect(gone.status).toBe(404)
  })

  test("a new operator is reported to every operator, on the dashboard and by mail, and to nobody else", async () => {
    const run = <A, E>(effect: Effect.Effect<A, E, TestServices | SqlClient.SqlClient>) =>
      Effect.runPromise(effect.pipe(Effect.provideContext(own.context), Effect.orDie))
    const owner = await signUp(own.baseUrl)
    const operator = async (email: string) => {
      const token = await run(
        Effect.flatMap(Accounts, (accounts) =>
          accounts.createLink({
            email,
            merchantId: MerchantId.make(owner.merchantId),
            role: "owner" as const,
            resetPassword: false,
            operator: true,
            invitedBy: null
          })
        ).pipe(Effect.provide(Accounts.layer))
      )
      const answer = await request(own.baseUrl, "POST", "/one-time-link", { body: { token, password } })
      return cookieOf(answer)
    }
    const toldTo = async (cookie: string, env = "test") => {
      const path = `/merchants/${owner.merchantId}/${env}/alerts`
      const { alerts } = (await request(own.baseUrl, "GET", path, { cookie })).body
      return alerts.filter(({ message }: { message: string }) => message.includes("became an operator"))
    }
    const first = await operator("first@example.com")
    expect(await toldTo(first)).toEqual([])
    const second = await operator("second@example.com")
    const message = "second@example.com became an operator of the service through a link."
    for (const env of ["test", "live"])
      expect(await toldTo(first, env)).toMatchObject([{ kind: "account_change", scope: "service", message }])
    expect([await toldTo(second), await toldTo(owner.cookie)]).toEqual([[], []])
    const mails = await run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT recipient, body FROM mails WHERE subject LIKE '%operator added'`
      )
    )
    expect(mails).toEqual([{ recipient: "first@example.com", body: expect.stringContaining(`${message}\n`) }])
    const id = (await toldTo(first))[0]?.id
    const path = `/merchants/${owner.merchantId}/live/alerts/${id}/acknowledge`
    expect((await request(own.baseUrl, "POST", path, { cookie: second, body: {} })).status).toBe(404)
    expect((await request(own.baseUrl, "POST", path, { cookie: first, body: {} })).status).toBe(200)
    // A person who is an operator already does not become one again.
    await operator("second@example.com")
    expect(await toldTo(first)).toHaveLength(1)
  })

  test("an invitation does not reveal whether its address has an account", async () => {
    const victim = await person()
    const owner = await person()
    const at = `/merchants/${owner.merchantId}/test`
    const invite = async (email: string) => {
      const { body, status } = await owner.call("POST", `${at}/members`, { email, role: "owner" })
      const page = (await owner.call("GET", `${at}/settings`)).body.invitations[0]
      const [told] = (await owner.call("GET", `${at}/alerts`)).body.alerts
      const [logged] = (await owner.call("GET", `${at}/audit`)).body.entries
      return [
        status,
        Object.keys(body),
        new URL(body.link).hash.length,
        Object.keys(page ?? {}),
        page?.email === email,
        told?.message.replace(email, "…"),
        logged?.summary.replace(email, "…")
      ]
    }
    expect(await invite(victim.email)).toEqual(await invite("nobody-signs-in-as-this@example.com"))
  })

  test("an invitation cannot take over an existing account", async () => {
    const victim = await person()
    const attacker = await person()
    const invited = await attacker.call("POST", `/merchants/${attacker.merchantId}/test/members`, {
      email: victim.email,
      role: "owner"
    })
    const token = new URL(invited.body.link).hash.slice(1)
    const taken = await post("/one-time-link", { token, password: "the attacker's own" })
    expect(taken.body.error.code).toBe("SIGN_IN_FAILED")
    expect((await post("/sign-in", { email: victim.email, password })).status).toBe(200)
    const joined = await post("/one-time-link", { token, password })
    expect(joined.body.merchants).toHaveLength(2)
  })

  test("unchanged pages are not sent again", async () => {
    const { cookie, merchantId } = await signUp(service.baseUrl)
    const path = `/merchants/${merchantId}/test/keys`
    const first = await request(service.baseUrl, "GET", path, { cookie })
    const etag = first.headers.get("etag") ?? ""
    const again = await fetch(`${service.baseUrl}/dashboard/api${path}`, {
      headers: { cookie, "if-none-match": etag }
    })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe("")
  })

  test("the database contains neither passwords nor tokens", async () => {
    const { cookie } = await person()
    const token = cookie.split("=")[1] ?? ""
    const dump = await Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const users = yield* sql`SELECT * FROM users`
        const sessions = yield* sql`SELECT encode(hash, 'escape') AS hash, user_id FROM sessions`
        return JSON.stringify([users, sessions])
      }).pipe(Effect.provideContext(service.context), Effect.orDie)
    )
    expect(dump).toContain("$argon2id$")
    expect(dump).not.toContain(password)
    expect(dump).not.toContain(token)
  })
})

describe("Expiry of sessions and links on Postgres", () => {
  const database = testDatabase
  const layer = Accounts.layer.pipe(
    Layer.provideMerge(KeyAuth.layer),
    Layer.provideMerge(AuditLog.layer),
    Layer.provideMerge(database.layer),
    Layer.provide(AppConfig.layer({})),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )
  const day = "24 hours"

  testEffect("use extends a session; it ends after a week without use, or after thirty days", () =>
    Effect.gen(function* () {
      const accounts = Context.get(yield* Layer.build(layer), Accounts)
      const who = {
        email: "a@example.com",
        password,
        merchantName: "Shop",
        receiver: Address.make(receiver)
      }
      const used = yield* accounts.signUp(who)
      const idle = yield* accounts.signIn(who.email, password)
      let days = 0
      for (; days < 29; days++) {
        yield* TestClock.adjust(day)
        expect((yield* accounts.find(used.token))._tag).toBe("Some")
        if (days === 5) expect((yield* accounts.find(idle.token))._tag).toBe("Some")
        if (days === 14) expect((yield* accounts.find(idle.token))._tag).toBe("None")
      }
      yield* TestClock.adjust(day)
      expect((yield* accounts.find(used.token))._tag).toBe("None")
    })
  )

  testEffect("a new password, and signing out everywhere, invalidate every open link that sets one", () =>
    Effect.gen(function* () {
      const accounts = Context.get(yield* Layer.build(layer), Accounts)
      const email = "owner@example.com"
      const reset = {
        email,
        merchantId: null,
        role: "owner" as const,
        resetPassword: true,
        operator: false,
        invitedBy: null
      }
      const redeem = (token: string, secret: string) => Effect.result(accounts.redeem(token, secret))
      const first = yield* accounts.createLink(reset)
      const second = yield* accounts.createLink(reset)
      // The newer of two links counts.
      expect(yield* redeem(first, password)).toMatchObject({ failure: { _tag: "OneTimeLinkInvalid" } })
      const { session } = yield* accounts.redeem(second, password)
      const astray = yield* accounts.createLink(reset)
      yield* accounts.changePassword(session, password, "another long password")
      expect(yield* redeem(astray, "the thief's own one")).toMatchObject({
        failure: { _tag: "OneTimeLinkInvalid" }
      })
      const later = yield* accounts.createLink(reset)
      yield* accounts.signOutEverywhere(session)
      expect(yield* redeem(later, "the thief's own one")).toMatchObject({
        failure: { _tag: "OneTimeLinkInvalid" }
      })
      expect((yield* accounts.signIn(email, "another long password")).session.user.email).toBe(email)
    })
  )

  testEffect(
    "an operator's link makes a person with an account an operator, once the password is confirmed",
    () =>
      Effect.gen(function* () {
        const accounts = Context.get(yield* Layer.build(layer), Accounts)
        const email = "ops@example.com"
        const link = {
          email,
          merchantId: null,
          role: "owner" as const,
          resetPassword: false,
          operator: false,
          invitedBy: null
        }
        const { session } = yield* accounts.redeem(yield* accounts.createLink(link), password)
        expect(session.user.operator).toBe(false)
        const token = yield* accounts.createLink({ ...link, operator: true })
        expect(yield* Effect.result(accounts.redeem(token, "not the password"))).toMatchObject({
          failure: { _tag: "SignInFailed" }
        })
        expect((yield* accounts.redeem(token, password)).session.user.operator).toBe(true)
      })
  )

  testEffect("a link works for three days, and for only one of two simultaneous uses", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(layer)
      const accounts = Context.get(context, Accounts)
      const { merchant } = yield* Context.get(context, KeyAuth).createMerchant({
        name: "Shop",
        receivers: { test: freshAddress(), live: freshAddress() }
      })
      const link = (email: string) =>
        accounts.createLink({
          email,
          merchantId: MerchantId.make(merchant.id),
          role: "owner" as const,
          resetPassword: true,
          operator: false,
          invitedBy: null
        })
      const late = yield* link("late@example.com")
      yield* TestClock.adjust("73 hours")
      const raced = yield* link("raced@example.com")
      expect((yield* Effect.flip(accounts.redeem(late, password)))._tag).toBe("OneTimeLinkInvalid")
      const both = yield* Effect.all(
        [Effect.result(accounts.redeem(raced, password)), Effect.result(accounts.redeem(raced, password))],
        { concurrency: 2 }
      )
      expect(both.map((one) => one._tag).sort()).toEqual(["Failure", "Success"])
      // The operator's link also sets the password of an existing account.
      const reset = yield* link("raced@example.com")
      yield* accounts.redeem(reset, "a quite different one")
      expect((yield* Effect.flip(accounts.signIn("raced@example.com", password)))._tag).toBe("SignInFailed")
      yield* accounts.signIn("raced@example.com", "a quite different one")
    })
  )
})
