// The contract of PaymentRepo on memory, PGlite and Postgres.
import { describe } from "bun:test"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { KeyAuth } from "../../src/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { onEachDatabase } from "../support/database.ts"
import { paymentRepoContract } from "./PaymentRepo.contract.ts"

describe("PaymentRepo in memory", () => {
  paymentRepoContract(
    Layer.merge(PaymentRepo.layerMemory, KeyAuth.layerMemory).pipe(
      Layer.provideMerge(WebhookRepo.layerMemory),
      Layer.provideMerge(SecureRandom.layerWebCrypto)
    )
  )
})

onEachDatabase("PaymentRepo", (database) => {
  paymentRepoContract(
    Layer.mergeAll(PaymentRepo.layer, KeyAuth.layer, WebhookRepo.layer).pipe(
      Layer.provide(database.layer),
      Layer.provideMerge(SecureRandom.layerWebCrypto)
    )
  )
})
