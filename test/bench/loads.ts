// The endpoints under load and the requests of each, merchants in turn.
import { createHmac } from "node:crypto"
import { networks } from "../../src/domain/networks.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { type BenchMerchant, type Dataset, receiver, tokenChanges } from "./dataset.ts"
import { baseUrl, tokenSecret } from "./servers.ts"
import type { LoadRequest } from "./wrk.ts"

export const loadNames = [
  "create intent",
  "retrieve",
  "list of 20",
  "report, replayed",
  "open payment"
] as const
export type LoadName = (typeof loadNames)[number]

export interface Load {
  readonly name: LoadName
  /** Fresh requests for so many seconds. */
  readonly requests: (seconds: number) => ReadonlyArray<LoadRequest>
  /** Whether a request is another only the first time. */
  readonly once: boolean
}

/** More than any server opens in a second. */
const opensPerSecond = 20_000
const buyerTokens = 200

const cents = (count: number) => String(100 + (count % 9_000)).replace(/(..)$/, ".$1")

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
const tokenHeader = base64url({ alg: "HS256", typ: "intent+jwt", kid: "bench" })

/** An intent token as each of the servers makes it. */
const intentToken = (merchant: BenchMerchant, count: number) => {
  const iat = Math.floor(Date.now() / 1000)
  const signed = `${tokenHeader}.${base64url({
    jti: Bun.randomUUIDv7(),
    amount: cents(count),
    intentUrl: `https://shop.example.com/orders/${count}`,
    merchant: merchant.id,
    env: "test",
    receiver,
    token: { address: networks.test.usdc.address, chainId: networks.test.chainId },
    iss: baseUrl,
    aud: baseUrl,
    iat,
    exp: iat + 300
  })}`
  return `${signed}.${createHmac("sha256", tokenSecret).update(signed).digest("base64url")}`
}

/** The evidence of the buyer's settled payments again, under so many tokens in turn. */
const reportsWith = async (
  tokens: number,
  { payments, buyer }: Dataset
): Promise<ReadonlyArray<LoadRequest>> => {
  const now = Math.floor(Date.now() / 1000)
  const identities = await Promise.all(
    Array.from({ length: tokens }, () =>
      createDidToken(buyer, { audience: baseUrl, lifetimeSeconds: 86_400, now })
    )
  )
  const paidByBuyer = payments.filter(({ payer }) => payer === buyer.address.slice(2).toLowerCase())
  return Array.from({ length: Math.max(tokens, paidByBuyer.length) }, (_, index) => index).flatMap((index) =>
    paidByBuyer
      .slice(index % paidByBuyer.length, (index % paidByBuyer.length) + 1)
      .map(({ id, merchant, transactionId }): LoadRequest => {
        const buyerDidToken = identities[index % tokens]
        const body = { buyerDidToken, transactionId: `0x${transactionId}`, tokenChanges }
        return { method: "PATCH", path: `/api/v1/payments/${id}`, key: merchant.publishable, body }
      })
  )
}

export const makeLoads = async ({ merchants, payments, buyer }: Dataset): Promise<ReadonlyArray<Load>> => {
  const turns = <A>(count: number, make: (merchant: BenchMerchant, index: number) => A) =>
    Array.from({ length: count }, (_, index) => merchants[index % merchants.length])
      .filter((merchant) => merchant !== undefined)
      .map(make)

  const creates = turns(500, (merchant, index): LoadRequest => {
    const body = { amount: cents(index), intentUrl: `https://shop.example.com/orders/${index}` }
    return { method: "POST", path: "/api/v1/payment-intents", key: merchant.secret, body }
  })
  const opens = (seconds: number) =>
    turns(opensPerSecond * seconds, (merchant, index): LoadRequest => {
      const body = { intentToken: intentToken(merchant, index) }
      return { method: "POST", path: "/api/v1/payments", key: merchant.publishable, body }
    })
  // Every seventh meets every merchant and every state.
  const retrieves = payments
    .filter((_, index) => index % 7 === 0)
    .map(
      ({ id, merchant }): LoadRequest => ({
        method: "GET",
        path: `/api/v1/payments/${id}`,
        key: merchant.secret
      })
    )
  const lists = turns(
    merchants.length,
    (merchant): LoadRequest => ({ method: "GET", path: "/api/v1/payments", key: merchant.secret })
  )

  const reports = await reportsWith(buyerTokens, { merchants, payments, buyer })

  return [
    { name: "create intent", requests: () => creates, once: false },
    { name: "retrieve", requests: () => retrieves, once: false },
    { name: "list of 20", requests: () => lists, once: false },
    { name: "report, replayed", requests: () => reports, once: false },
    // Last, as it makes the tables grow.
    { name: "open payment", requests: opens, once: true }
  ]
}

/** The one that BENCH_LOAD names, to try a change; all of them without it. */
export const chosenLoads = (loads: ReadonlyArray<Load>): ReadonlyArray<Load> => {
  const wanted = process.env["BENCH_LOAD"]
  if (wanted === undefined) return loads
  const chosen = loads.filter(({ name }) => name === wanted)
  if (chosen.length === 0) throw new Error(`BENCH_LOAD must be one of: ${loadNames.join("; ")}`)
  return chosen
}
