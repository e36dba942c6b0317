// Payments at rest. Every transition is one guarded statement, so that any number
// of instances may race and a crash between two lines leaves nothing half done.
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
  /** With the store of webhooks that settling writes to. */
  static readonly layerMemory: Layer.Layer<PaymentRepo | WebhookRepo, never, SecureRandom.SecureRandom> =
    Layer.effect(PaymentRepo, makePaymentRepoMemory).pipe(Layer.provideMerge(WebhookRepo.layerMemory))
}
