// Somebody who signs in to the demo's dashboard, and more payments to look at there:
// settled, waiting, and reported with a transfer that does not pay.
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { MerchantId } from "../../domain/Merchant.ts"
import { walletNetwork } from "../../domain/networks.ts"
import { Accounts } from "../../merchants/accounts/Accounts.ts"
import type { FirstKeys } from "../../merchants/keys/KeyAuth.ts"
import { CreatedIntent, makeApi, Opened } from "./merchantApi.ts"
import { payIntent } from "./payIntent.ts"

export interface DemoPayment {
  readonly baseUrl: string
  readonly keys: FirstKeys["test"]
  /** A buyer, and a transfer of theirs that has paid already. */
  readonly buyerDidToken: string
  readonly transactionId: string
}

/** An operator who belongs to the merchant; the password is made up for this demo. */
export const createPerson = Effect.fn("createPerson")(function* (merchantId: MerchantId) {
  const random = yield* SecureRandom.SecureRandom
  const email = "demo@example.com"
  const password = `demo-${(yield* random.uuidV4()).slice(0, 8)}`
  yield* Effect.gen(function* () {
    const accounts = yield* Accounts
    const link = {
      email,
      merchantId,
      role: "owner" as const,
      resetPassword: true,
      invitedBy: null,
      operator: true
    }
    yield* Effect.orDie(accounts.redeem(yield* accounts.createLink(link), password))
  }).pipe(Effect.provide(Accounts.layer))
  return { email, password }
})

const { usdc, chainId } = walletNetwork

/** Through the same requests as everybody's. */
export const payMore = Effect.fn("payMore")(function* (paid: DemoPayment) {
  const { baseUrl, keys } = paid
  const api = makeApi(baseUrl)
  const open = Effect.fnUntraced(function* (amount: string) {
    const body = { amount, intentUrl: "https://shop.example.com/orders/1043" }
    const made = yield* api("POST", "/api/v1/payment-intents", keys.secret, body, CreatedIntent, [201])
    const { intentToken, intent } = made.body
    const opened = yield* api("POST", "/api/v1/payments", keys.publishable, { intentToken }, Opened, [201])
    return { id: opened.body.payment.id, receiver: intent.receiver }
  })
  const settled = ["18.50", "120.00", "7.25"].map((amount) =>
    payIntent({
      baseUrl,
      secretKey: keys.secret,
      publishableKey: keys.publishable,
      amount,
      onStep: () => Effect.void
    })
  )
  /** Reported with a transfer of another amount: it waits, and its timeline says why. */
  const mismatched = Effect.gen(function* () {
    const { id, receiver } = yield* open("64.00")
    const change = { amountAtomic: "64000000", chainId, receiver, tokenAddress: usdc.address }
    const body = {
      buyerDidToken: paid.buyerDidToken,
      transactionId: paid.transactionId,
      tokenChanges: [change]
    }
    yield* api("PATCH", `/api/v1/payments/${id}`, keys.publishable, body, Schema.Unknown, [202, 422])
  })
  yield* Effect.all([...settled, mismatched, open("33.00")], { concurrency: "unbounded", discard: true })
})
