// Stored endpoints, deliveries and attempts. Each lease of a delivery has a new id. A delivery
// can be finished only with the id of its latest lease, so a worker that wakes up late overwrites nothing.

import { Context, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { makeWebhookRepoMemory } from "./WebhookRepo/WebhookRepoMemory.ts"
import { makeWebhookRepoSql } from "./WebhookRepo/WebhookRepoSql.ts"
import type { WebhookStore } from "./WebhookRepo/WebhookStore.ts"

export class WebhookRepo extends Context.Service<WebhookRepo, WebhookStore>()(
  "quittance/webhooks/WebhookRepo"
) {
  static readonly layer: Layer.Layer<WebhookRepo, never, SqlClient.SqlClient> = Layer.effect(
    WebhookRepo,
    makeWebhookRepoSql
  )
  static readonly layerMemory: Layer.Layer<WebhookRepo> = Layer.effect(WebhookRepo, makeWebhookRepoMemory)
}
