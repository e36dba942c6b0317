// The address from which the dashboard says to send a refund, if the address that received the money has moved to
// another merchant: a transfer from there no longer proves the refund.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { toBytes } from "../../src/chain/ChainBytes.ts"
import type { Address } from "../../src/domain/Chain.ts"
import { buyer, makeShop, type Shop, stranger } from "../platform/http/shop.ts"
import { testDatabase } from "../support/database.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { startService, type TestService } from "../support/service.ts"
import { type Person, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const scope = Effect.runSync(Scope.make())
let service: TestService
let person: Person
let shop: Shop

beforeAll(async () => {
  service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
  person = await signUp(service.baseUrl)
  shop = await makeShop(service, { ...person, id: person.merchantId })
}, 120_000)
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 120_000)

const sql = (run: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, run).pipe(Effect.provideContext(service.context), Effect.orDie)
  )
const has = (merchantId: string, address: Address) =>
  sql(
    (run) => run`
      INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
      VALUES ('test', ${toBytes(address)}, ${merchantId}, now(), now())
      ON CONFLICT (env, address) DO UPDATE SET merchant_id = excluded.merchant_id, since = now()`
  )

test("a refund is sent from the address that received the money, or another that is still the merchant's", async () => {
  const at = `/merchants/${person.merchantId}/test`
  const { payment } = await shop.settle("12.00", 12_000_000n)
  const hash = await shop.transfer(1_230_000n, { from: stranger })
  const transfer = async (): Promise<{ readonly id: string }> => {
    const { body } = await person.call("GET", `${at}/incoming-transfers?status=all`)
    const found = body.transfers.find((one: { transactionId: string }) => one.transactionId === hash)
    if (found !== undefined) return found
    await Bun.sleep(100)
    return transfer()
  }
  const { id } = await transfer()
  const senders = async () =>
    Promise.all(
      [`payments/${payment.id}`, `incoming-transfers/${id}`].map(
        async (path) => (await person.call("GET", `${at}/${path}`)).body.refunds.from
      )
    )
  const came = shop.merchant.receiver
  expect(await senders()).toEqual([came, came])
  // Another address replaces it, but it still belongs to the merchant.
  const present = freshAddress()
  await has(person.merchantId, present)
  await sql(
    (run) => run`UPDATE merchants SET receiver_test = ${toBytes(present)} WHERE id = ${person.merchantId}`
  )
  expect(await senders()).toEqual([came, came])
  const other = await signUp(service.baseUrl)
  await has(other.merchantId, came)
  expect(await senders()).toEqual([present, present])
  const made = await person.call("POST", `${at}/refunds`, { paymentId: payment.id, amount: "12.00" })
  const back = await shop.transfer(12_000_000n, { from: present, to: buyer })
  const named = await person.call("POST", `${at}/refunds/${made.body.refund.id}/transaction`, {
    transactionId: back
  })
  expect(named.body.refund?.status).toBe("proven")
  // No address belongs to the merchant any more.
  await has(other.merchantId, present)
  expect(await senders()).toEqual([null, null])
})
