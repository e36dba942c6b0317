// Owners of receiving addresses, over the dashboard's API: an address belongs to one merchant in each environment, and
// moves only by a signature of its owner.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { serviceForFile } from "../support/forFile.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { type DashboardAnswer, type Person, password, request, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()
const first = await signUp(service.baseUrl)
const second = await signUp(service.baseUrl)

describe("Receivers on Postgres", () => {
  const newOwner = () => privateKeyToAccount(generatePrivateKey())
  const change = (person: Person, receiver: string, signature?: string, env = "test") =>
    person.call("PATCH", `/merchants/${person.merchantId}/${env}/receiver`, {
      receiver,
      ...(signature === undefined ? {} : { signature })
    })
  const receiverOf = async (person: Person) =>
    (await person.call("GET", `/merchants/${person.merchantId}/test/settings`)).body.receiver
  const ownersOf = (address: string) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`
          SELECT env || ' ' || merchant_id AS owner FROM merchant_receivers
          WHERE address = ${Buffer.from(address.slice(2), "hex")} ORDER BY env`
        return rows.map((row) => row["owner"])
      }).pipe(Effect.provideContext(service.context), Effect.orDie)
    )
  const textOf = ({ body }: DashboardAnswer): string => body.error.details?.[0]?.expected ?? ""
  const sign = (owner: PrivateKeyAccount, refused: DashboardAnswer) =>
    owner.signMessage({ message: textOf(refused) })

  test("nobody can sign up with another merchant's address, and nothing is created", async () => {
    const refused = await request(service.baseUrl, "POST", "/sign-up", {
      body: { email: "thief@example.com", password, merchantName: "Thief", receiver: first.receiver }
    })
    expect([refused.status, refused.body.error.code]).toEqual([409, "RECEIVER_TAKEN"])
    const signedIn = await request(service.baseUrl, "POST", "/sign-in", {
      body: { email: "thief@example.com", password }
    })
    expect(signedIn.body.error.code).toBe("SIGN_IN_FAILED")
    expect(await ownersOf(first.receiver)).toEqual([`live ${first.merchantId}`, `test ${first.merchantId}`])
  })

  test("another merchant's address is refused; a merchant keeps its address after a change", async () => {
    const before = await receiverOf(second)
    const refused = await change(second, first.receiver)
    expect([refused.status, refused.body.error.code]).toEqual([409, "RECEIVER_TAKEN"])
    expect(await receiverOf(second)).toBe(before)

    const next = freshAddress()
    expect((await change(first, next)).status).toBe(200)
    expect((await change(second, first.receiver)).body.error.code).toBe("RECEIVER_TAKEN")
    expect<unknown>((await change(first, first.receiver)).body).toEqual({
      before: next,
      after: first.receiver,
      dueAt: null
    })
    // The other environment is separate.
    expect((await change(second, next, undefined, "live")).status).toBe(200)
  })

  test("the owner's signature moves the address once; no other signature does", async () => {
    const owner = newOwner()
    expect((await change(first, owner.address)).status).toBe(200)
    const refused = await change(second, owner.address)
    for (const part of [second.merchantId, owner.address, "Environment: test"]) {
      expect(textOf(refused)).toContain(part)
    }
    const wrong = await change(second, owner.address, await sign(newOwner(), refused))
    expect([wrong.status, wrong.body.error.code, wrong.body.error.reason]).toEqual([
      409,
      "RECEIVER_TAKEN",
      "signature"
    ])
    const other = freshAddress()
    await change(first, other)
    expect((await change(second, other, await sign(owner, refused))).status).toBe(409)

    const signature = await sign(owner, refused)
    expect((await change(second, owner.address, signature)).body.after).toBe(owner.address)
    expect(await ownersOf(owner.address)).toEqual([`test ${second.merchantId}`])
    // The previous merchant is notified, but not who has the address now.
    const { alerts } = (await first.call("GET", `/merchants/${first.merchantId}/test/alerts`)).body
    const message = alerts[0]?.message ?? ""
    expect(message).toStartWith(`service moved the address ${owner.address} to another merchant`)
    expect(message).not.toContain(second.email)
    const log = (await first.call("GET", `/merchants/${first.merchantId}/test/audit`)).body.entries
    expect(log[0]).toMatchObject({ action: "receiver.changed", actor: "service", env: "test" })

    // Moving it back needs a signature by the first; the second's signature is used up.
    const asked = await change(first, owner.address)
    expect((await change(first, owner.address, await sign(owner, asked))).status).toBe(200)
    expect((await change(second, owner.address, signature)).status).toBe(409)
    expect(await ownersOf(owner.address)).toEqual([`test ${first.merchantId}`])
  })

  test("a merchant whose live address was moved away waits for its next one like everybody", async () => {
    const owner = newOwner()
    const person = await signUp(service.baseUrl, Address.make(owner.address))
    const live = { authorization: `Bearer ${person.keys.live.secret}`, "content-type": "application/json" }
    const intent = async () =>
      (
        await fetch(`${service.baseUrl}/api/v1/payment-intents`, {
          method: "POST",
          headers: live,
          body: JSON.stringify({ amount: "1.00", intentUrl: "https://shop.example.com/1" })
        })
      ).status
    expect(await intent()).toBe(201)
    const asked = await change(second, owner.address, undefined, "live")
    expect((await change(second, owner.address, await sign(owner, asked), "live")).status).toBe(200)
    expect(await intent()).toBe(409)

    const next = freshAddress()
    expect((await change(person, next, undefined, "live")).body).toMatchObject({
      before: owner.address,
      after: next,
      dueAt: expect.any(String)
    })
    expect(await intent()).toBe(409)
    // The owner's signature brings the address back at once, because the money goes to the same place.
    const refused = await change(person, owner.address, undefined, "live")
    expect((await change(person, owner.address, await sign(owner, refused), "live")).body.dueAt).toBeNull()
    expect(await intent()).toBe(201)
  })

  test("two merchants that claim each other's addresses at once both succeed", async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two] = [newOwner(), newOwner()]
      const [left, right] = [await signUp(service.baseUrl), await signUp(service.baseUrl)]
      await change(left, one.address)
      await change(right, two.address)
      const signed = [
        await sign(two, await change(left, two.address)),
        await sign(one, await change(right, one.address))
      ]
      const answers = await Promise.all([
        change(left, two.address, signed[0]),
        change(right, one.address, signed[1])
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    }
  })

  test("of many merchants that claim an address at once, one gets it", async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => signUp(service.baseUrl)))
    const wanted = freshAddress()
    const answers = await Promise.all(people.map((person) => change(person, wanted)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    expect(await ownersOf(wanted)).toHaveLength(1)
  })

  test("a merchant's rules for buyer tokens are stored with its profile", async () => {
    const at = `/merchants/${first.merchantId}/test/settings`
    const profile = { name: "Shop", logoUrl: null, identityAudience: null }
    const before = (await first.call("GET", at)).body.profile
    expect(before).toMatchObject({ boundTokensOnly: false, tokenLifetimeSeconds: 86_400 })
    const rules = { boundTokensOnly: true, tokenLifetimeSeconds: 3600 }
    expect<unknown>((await first.call("PATCH", at, { ...profile, ...rules })).body).toEqual({
      ...profile,
      ...rules
    })
    // Omitted fields stay unchanged.
    expect<unknown>((await first.call("PATCH", at, profile)).body).toEqual({ ...profile, ...rules })
    for (const tokenLifetimeSeconds of [59, 31_536_001, 60.5, "60"]) {
      const refused = await first.call("PATCH", at, { ...profile, tokenLifetimeSeconds })
      expect(refused.body.error.details?.[0]?.path).toBe("body.tokenLifetimeSeconds")
    }
    const key = await Effect.runPromise(
      Effect.flip(Effect.flip(service.auth.authenticate(first.keys.test.secret)))
    )
    expect(key.merchant).toMatchObject(rules)
  })
})
