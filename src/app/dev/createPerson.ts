// Creates a user who signs in to the demo's dashboard.
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { MerchantId } from "../../domain/Merchant.ts"
import { Accounts } from "../../merchants/accounts/Accounts.ts"

/** An operator who is a member of the merchant, with a random password. */
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
