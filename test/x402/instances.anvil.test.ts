// Two instances on one Postgres: whatever meets on a settlement, it is relayed once and its
// success is given once.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { ownDatabase } from "../support/ownDatabase.ts"
import { bodyV2, headerV1, openPayment, payPath, report, rowsOf, transfer, until } from "./payloads.ts"
import { receiver, startX402World, type X402World } from "./x402World.ts"

setDefaultTimeout(60_000)

const amount = 1_000_000n

describe("two instances", () => {
  const scope = Effect.runSync(Scope.make())
  let world: X402World
  let urls: ReadonlyArray<string> = []
  beforeAll(async () => {
    world = await startX402World({
      DATABASE_URL: await Effect.runPromise(Scope.provide(ownDatabase(), scope))
    })
    urls = [world.baseUrl, await world.another()]
  }, 60_000)
  afterAll(async () => {
    await world.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, 30_000)

  const at = (index: number) => urls[index % urls.length] ?? ""
  const settleAt = async (index: number, body: unknown) => {
    const response = await fetch(`${at(index)}/api/v1/x402/settle`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.keys.test.secret}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return response.json()
  }
  const relayedOf = (payer: string) =>
    rowsOf(
      world,
      `SELECT t.outcome FROM wallet_transactions t JOIN x402_settlements s ON s.id = t.reference
       WHERE s.payer = '\\x${payer.slice(2)}'`
    )

  test("one authorization, asked forty times at both: one transaction, one success", async () => {
    const account = await world.payer()
    const body = bodyV2(await world.authorize(account, amount), amount)
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => settleAt(index, body)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(await relayedOf(account.address)).toEqual([{ outcome: "moved" }])
  }, 60_000)

  test("twenty payers at both: each nonce of the relaying wallet is used once, each payer pays once", async () => {
    const accounts = await Array.fromAsync({ length: 20 }, () => world.payer())
    const before = await world.balanceOf(receiver)
    const answers = await Promise.all(
      accounts.map(async (account, index) =>
        settleAt(index, bodyV2(await world.authorize(account, amount), amount))
      )
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(20)
    expect(await world.balanceOf(receiver)).toBe(before + 20n * amount)
  }, 60_000)

  for (let round = 0; round < 6; round++) {
    test(`headers at both and a transfer, all at once, round ${round}: what has come is one payment's or named as a second`, async () => {
      const id = await openPayment(world, "1")
      const before = await world.balanceOf(receiver)
      const buyer = await world.payer()
      const payers = await Array.fromAsync({ length: 4 }, () => world.payer())
      const headers = await Promise.all(
        payers.map(async (account) => headerV1(await world.authorize(account, amount)))
      )
      await Promise.all([
        ...headers.map((header, index) =>
          fetch(`${at(index)}/api/v1${payPath(world, id)}`, { headers: header })
        ),
        Bun.sleep(round * 40).then(async () =>
          report(world, id, buyer, amount, await transfer(world, buyer, amount))
        )
      ])
      await until(
        async () =>
          (
            await rowsOf(
              world,
              `SELECT 1 FROM x402_settlements s JOIN wallet_transactions t ON t.reference = s.id
               WHERE s.payment_id = '${id}' AND t.ended_at IS NULL`
            )
          ).length === 0,
        40_000
      )
      const [payment] = await rowsOf(world, `SELECT status FROM payments WHERE id = '${id}'`)
      expect(payment?.["status"]).toBe("settled")
      await until(async () => {
        const [open] = await rowsOf(
          world,
          `SELECT 1 FROM x402_settlements s JOIN wallet_transactions t ON t.reference = s.id
           WHERE s.payment_id = '${id}' AND t.outcome = 'moved' AND s.status = 'pending'`
        )
        return open === undefined
      }, 40_000)
      // Of the authorizations at most one was ever relayed; where the transfer came first, none.
      const moved = await rowsOf(
        world,
        `SELECT s.status, s.error_reason FROM x402_settlements s JOIN wallet_transactions t ON t.reference = s.id
         WHERE s.payment_id = '${id}' AND t.outcome = 'moved'`
      )
      expect(moved.length).toBeLessThanOrEqual(1)
      expect(await world.balanceOf(receiver)).toBe(before + amount + BigInt(moved.length) * amount)
      for (const one of moved) {
        expect(["settled null", "failed payment_already_settled"]).toContain(
          `${String(one["status"])} ${String(one["error_reason"])}`
        )
      }
    }, 90_000)
  }
})
