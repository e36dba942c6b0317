// Shared by tests of deliveries: a merchant with an endpoint, settlements that queue deliveries, and leases.

import { Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { parseAddress } from "../../src/chain/Address.ts"
import { type Address, TransactionHash } from "../../src/domain/Chain.ts"
import type { Tenant } from "../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { PaymentId } from "../../src/domain/Payment.ts"
import { settledEvent } from "../../src/domain/Webhook.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import type { SecretBox } from "../../src/platform/SecretBox.ts"
import { newEndpointSecret } from "../../src/webhooks/regenerateSecret.ts"
import type { AttemptResult, LeasedDelivery } from "../../src/webhooks/WebhookRepo/WebhookStore.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { freshAddress } from "../support/freshAddress.ts"

export const hookUrl = "https://shop.example.com/hook"

const address = (digit: string): Address => {
  const parsed = parseAddress(`0x${digit.repeat(40)}`)
  if (parsed === undefined) throw new Error("not an address")
  return parsed
}
const receiver = address("b")
const uuid = Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7())

/** A merchant's test environment, without an endpoint. */
export const newTenant = Effect.gen(function* () {
  const keys = yield* KeyAuth
  const own = freshAddress()
  const { merchant } = yield* Effect.orDie(
    keys.createMerchant({ name: "Shop", receivers: { test: own, live: own } })
  )
  const tenant: Tenant = { merchantId: merchant.id, env: "test" }
  return tenant
})

/** Registers an endpoint with a secret that the service can open. */
export const registerEndpoint = Effect.fnUntraced(function* (tenant: Tenant, at: Date, url = hookUrl) {
  const repo = yield* WebhookRepo
  const id = yield* uuid
  const { secret, stored } = yield* newEndpointSecret(id)
  const endpoint = yield* repo.createEndpoint(tenant, { id, url, ...stored }, at)
  return { endpoint: Option.getOrThrow(endpoint), secret }
})

/** A merchant with an endpoint. */
export const newShop = Effect.fnUntraced(function* (at: Date, url = hookUrl) {
  const tenant = yield* newTenant
  return { tenant, ...(yield* registerEndpoint(tenant, at, url)) }
})

/** Opens and settles a payment; returns the id of the delivery that the settlement queues. */
export const settle = Effect.fnUntraced(function* (tenant: Tenant, at: Date) {
  const payments = yield* PaymentRepo
  const random = yield* SecureRandom.SecureRandom
  const paymentId = PaymentId.make(yield* uuid)
  const amount = AtomicUsdc.make(1_000_000n)
  yield* payments.open({
    payerType: "human",
    ...tenant,
    id: paymentId,
    amount,
    intentUrl: "https://shop.example.com/1",
    receiver,
    at
  })
  const transactionId = TransactionHash.make(
    `0x${Buffer.from(yield* random.randomBytes(32)).toString("hex")}`
  )
  const tokenChanges = [{ amountAtomic: "1000000", chainId: 84532, receiver, tokenAddress: address("a") }]
  const id = yield* uuid
  const body = settledEvent({ id, livemode: false, transactionId, tokenChanges })
  const settled = yield* payments.settle({
    paymentId,
    evidence: { transactionId, payer: address("c"), tokenChanges },
    reportedAt: at,
    at,
    transfer: {
      chainId: 84532,
      transactionId,
      logPosition: 0,
      ordinal: 0,
      blockNumber: 1n,
      blockHash: transactionId
    },
    delivery: { id, body },
    watchAt: at
  })
  Option.getOrThrow(settled)
  return { id, body, paymentId }
})

/** A new lease that lasts 30 seconds. */
export const newLease = Effect.fnUntraced(function* (at: Date) {
  return { leaseId: yield* uuid, at, leaseUntil: new Date(at.getTime() + 30_000) }
})

/** Leases due deliveries as a worker would, with ample capacity. */
export const leaseDue = Effect.fnUntraced(function* (
  at: Date,
  changes: Partial<Parameters<WebhookRepo["Service"]["leaseDue"]>[0]> = {}
) {
  const repo = yield* WebhookRepo
  return yield* repo.leaseDue({
    ...(yield* newLease(at)),
    limit: 100,
    leasedBy: "01a20000-0000-7000-8000-000000000000",
    limitUnproven: 1000,
    perEndpoint: 100,
    capacities: [],
    queueStarts: [],
    ...changes
  })
})

/** The result of an attempt that ended at `at`; accepted unless a failure is given. */
export const resultOf = (
  delivery: LeasedDelivery,
  at: Date,
  change: Partial<AttemptResult> = {}
): AttemptResult => ({
  delivery,
  at,
  durationMs: 12,
  responseStatus: 200,
  failure: null,
  responseBody: null,
  requestHead: null,
  status: "delivered",
  dueAt: null,
  ...change
})

/** A refused attempt that is retried at `dueAt`. */
export const refused = (dueAt: Date): Partial<AttemptResult> => ({
  responseStatus: 500,
  failure: "status",
  status: "pending",
  dueAt
})

export type DeliveryServices = WebhookRepo | PaymentRepo | KeyAuth | SecretBox | SecureRandom.SecureRandom
