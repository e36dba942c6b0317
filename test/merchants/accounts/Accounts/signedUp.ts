// A person who has signed up and owns a merchant, and the account services on a database of their own.
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Accounts } from "../../../../src/merchants/accounts/Accounts.ts"
import { MemberRepo } from "../../../../src/merchants/accounts/MemberRepo.ts"
import { AuditLog } from "../../../../src/merchants/audit/AuditLog.ts"
import { KeyAuth } from "../../../../src/merchants/keys/KeyAuth.ts"
import { testDatabase } from "../../../support/database.ts"
import { freshAddress } from "../../../support/freshAddress.ts"
import { testConfig } from "../../../support/memory.ts"

export const accounts = Layer.merge(Accounts.layer, MemberRepo.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(KeyAuth.layer, AuditLog.layer)),
  Layer.provideMerge(Layer.mergeAll(testDatabase.layer, testConfig({}), SecureRandom.layerWebCrypto))
)

export const signedUp = Effect.fnUntraced(function* (password: string) {
  const people = yield* Accounts
  const email = `owner-${crypto.randomUUID()}@example.com`
  const { session } = yield* people.signUp({
    email,
    password,
    merchantName: "Shop",
    receiver: freshAddress()
  })
  const [merchant] = session.merchants
  if (merchant === undefined) return yield* Effect.die(new Error("no merchant"))
  return { email, merchantId: merchant.id, people, session, user: session.user }
})
