// Storage of payments. Each transition is one guarded statement, so any number of instances may race, and a crash
// leaves no transition half done.
import { Context, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { WebhookRepo } from "../webhooks/WebhookRepo.ts"
import { makePaymentRepoMemory } from "./PaymentRepo/PaymentRepoMemory.ts"
import { makePaymentRepoSql } from "./PaymentRepo/PaymentRepoSql.ts"
import type { PaymentStore } from "./PaymentRepo/PaymentStore.ts"

export class PaymentRepo extends Context.Service<PaymentRepo, PaymentStore>()(
  "quittance/payments/PaymentRepo"
) {
  static readonly layer: Layer.Layer<PaymentRepo, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =
    Layer.effect(PaymentRepo, makePaymentRepoSql)
  /** Includes the webhook store, to which settling writes. */
  static readonly layerMemory: Layer.Layer<PaymentRepo | WebhookRepo, never, SecureRandom.SecureRandom> =
    Layer.effect(PaymentRepo, makePaymentRepoMemory).pipe(Layer.provideMerge(WebhookRepo.layerMemory))
}
