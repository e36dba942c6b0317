// The contract of PaymentRepo on memory and Postgres.
import { describe } from "bun:test"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { testDatabase } from "../support/database.ts"
import { paymentOpeningsContract } from "./PaymentRepo.openings.contract.ts"
import { paymentReportsContract } from "./PaymentRepo.reports.contract.ts"
import { paymentSettlementsContract } from "./PaymentRepo.settlements.contract.ts"

const contracts = [paymentOpeningsContract, paymentReportsContract, paymentSettlementsContract]

describe("PaymentRepo in memory", () => {
  const layer = Layer.merge(PaymentRepo.layerMemory, KeyAuth.layerMemory).pipe(
    Layer.provideMerge(WebhookRepo.layerMemory),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )
  for (const contract of contracts) contract(layer)
})

describe("PaymentRepo on Postgres", () => {
  const layer = Layer.mergeAll(PaymentRepo.layer, KeyAuth.layer, WebhookRepo.layer).pipe(
    Layer.provide(testDatabase.layer),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )
  for (const contract of contracts) contract(layer)
})
