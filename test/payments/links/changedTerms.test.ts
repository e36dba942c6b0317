// A link that is paid once gives the same payment id to everybody who opens it: if its terms change before the payment
// is opened, tokens of both terms exist, and a wallet pays the receiver in its own token.

import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { decodeJwt } from "jose"
import { toBytes } from "../../../src/chain/ChainBytes.ts"
import { makeShop } from "../../platform/http/shop.ts"
import { serviceForFile } from "../../support/forFile.ts"
import { freshAddress } from "../../support/freshAddress.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()
const shop = await makeShop(service)

const newLink = async (amounts: object) => {
  const made = await shop.call({
    ...{ method: "POST", path: "/api/v1/payment-links", key: shop.keys.full },
    body: { description: "Chair", once: true, ...amounts }
  })
  return async (body: object = {}): Promise<string> =>
    (await shop.call({ method: "POST", path: `/api/v1/links/${made.body.link.id}`, body })).body.intentToken
}
const open = (intentToken: string) =>
  shop.call({ method: "POST", path: "/api/v1/payments", key: shop.keys.publishable, body: { intentToken } })
const code = ({ body, status }: Awaited<ReturnType<typeof open>>) => `${status} ${body.error?.code}`
const termsOf = (token: string) => {
  const { amount, jti, receiver } = decodeJwt(token)
  return { amount, id: jti, receiver }
}

test("a token with another receiver than the payment's opens nothing; the link gives a valid one", async () => {
  const visit = await newLink({ amount: "10.00" })
  const early = await visit()
  const present = freshAddress()
  await Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(
        sql`
          INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
          VALUES ('test', ${toBytes(present)}, ${shop.merchant.id}, now(), now())`,
        sql`UPDATE merchants SET receiver_test = ${toBytes(present)} WHERE id = ${shop.merchant.id}`
      )
    ).pipe(Effect.provideContext(service.context), Effect.orDie)
  )
  const late = await visit()
  expect(termsOf(late)).toEqual({ ...termsOf(early), receiver: present })
  expect((await open(early)).status).toBe(201)
  expect(code(await open(late))).toBe("400 INTENT_TOKEN_EXPIRED")
  const again = await visit()
  expect(termsOf(again)).toEqual(termsOf(early))
  expect((await open(again)).status).toBe(200)
})

test("a token with another amount than the payment's opens nothing", async () => {
  const visit = await newLink({ minAmount: "5.00", maxAmount: "50.00" })
  const [ten, twenty] = [await visit({ amount: "10.00" }), await visit({ amount: "20.00" })]
  expect(termsOf(ten).id).toBe(termsOf(twenty).id)
  expect((await open(twenty)).body.payment.amount).toBe("20.00")
  expect(code(await open(ten))).toBe("400 INTENT_TOKEN_EXPIRED")
  expect((await open(twenty)).status).toBe(200)
})
