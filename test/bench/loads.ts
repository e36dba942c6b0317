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
  /** New requests for this many seconds. */
  readonly requests: (seconds: number) => ReadonlyArray<LoadRequest>
  /** True if a request does its work only the first time. */
  readonly once: boolean
}

/** More than any server opens in a second. */
const opensPerSecond = 20_000
const buyerTokens = 200

const amountOf = (count: number) => String(100 + (count % 9_000)).replace(/(..)$/, ".$1")

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
const tokenHeader = base64url({ alg: "HS256", typ: "intent+jwt", kid: "bench" })

/** An intent token as each of the servers creates it. */
const intentToken = (merchant: BenchMerchant, count: number) => {
  const iat = Math.floor(Date.now() / 1000)
  const signed = `${tokenHeader}.${base64url({
    jti: Bun.randomUUIDv7(),
    amount: amountOf(count),
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

export const makeLoads = async ({ merchants, payments, buyer }: Dataset): Promise<ReadonlyArray<Load>> => {
  const turns = (count: number, make: (merchant: BenchMerchant, index: number) => LoadRequest) =>
    Array.from({ length: count }, (_, index) => merchants[index % merchants.length])
      .filter((merchant) => merchant !== undefined)
      .map(make)
  const now = Math.floor(Date.now() / 1000)
  const identities = await Promise.all(
    Array.from({ length: buyerTokens }, () =>
      createDidToken(buyer, { audience: baseUrl, lifetimeSeconds: 86_400, now })
    )
  )

  const creates = turns(500, ({ secret }, index) => {
    const body = { amount: amountOf(index), intentUrl: `https://shop.example.com/orders/${index}` }
    return { method: "POST", path: "/api/v1/payment-intents", key: secret, body }
  })
  const opens = (seconds: number) =>
    turns(opensPerSecond * seconds, (merchant, index) => {
      const body = { intentToken: intentToken(merchant, index) }
      return { method: "POST", path: "/api/v1/payments", key: merchant.publishable, body }
    })
  // Every seventh reaches every merchant and every state.
  const retrieves = payments
    .filter((_, index) => index % 7 === 0)
    .map(({ id, merchant }): LoadRequest => {
      return { method: "GET", path: `/api/v1/payments/${id}`, key: merchant.secret }
    })
  const lists = turns(merchants.length, ({ secret }) => ({
    method: "GET",
    path: "/api/v1/payments",
    key: secret
  }))
  // The evidence of the buyer's settled payments, reported again.
  const reports = payments
    .filter(({ payer }) => payer === buyer.address.slice(2).toLowerCase())
    .map(({ id, merchant, transactionId }, index): LoadRequest => {
      const buyerDidToken = identities[index % buyerTokens]
      const body = { buyerDidToken, transactionId: `0x${transactionId}`, tokenChanges }
      return { method: "PATCH", path: `/api/v1/payments/${id}`, key: merchant.publishable, body }
    })

  return [
    { name: "create intent", requests: () => creates, once: false },
    { name: "retrieve", requests: () => retrieves, once: false },
    { name: "list of 20", requests: () => lists, once: false },
    { name: "report, replayed", requests: () => reports, once: false },
    // Last, because it makes the tables grow.
    { name: "open payment", requests: opens, once: true }
  ]
}
