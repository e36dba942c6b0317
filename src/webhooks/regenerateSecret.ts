// Creates, seals and stores an endpoint's new signing secret. The old secret becomes invalid at once; pending
// deliveries are signed with the new one.

import { DateTime, Effect, Option, type Redacted } from "effect"
import { WebhookEndpointNotFound } from "../domain/Errors.ts"
import type { Tenant } from "../domain/Merchant.ts"
import { SecretBox } from "../platform/SecretBox.ts"
import { makeWebhookSecret, secretLastFour } from "./Signature.ts"
import { WebhookRepo } from "./WebhookRepo.ts"

/** A new secret with the fields to store. */
export const newEndpointSecret = Effect.fnUntraced(function* (endpointId: string) {
  const secret: Redacted.Redacted<string> = yield* makeWebhookSecret
  const secrets = yield* SecretBox
  return {
    secret,
    stored: { secret: yield* secrets.seal(secret, endpointId), secretLastFour: secretLastFour(secret) }
  }
})

/** The endpoint with its new secret, shown once. */
export const regenerateSecret = Effect.fn("regenerateSecret")(function* (tenant: Tenant) {
  const repo = yield* WebhookRepo
  const current = yield* repo.findEndpoint(tenant)
  if (Option.isNone(current)) return yield* new WebhookEndpointNotFound()
  const { secret, stored } = yield* newEndpointSecret(current.value.id)
  const endpoint = yield* repo.replaceSecret(tenant, current.value.id, stored, yield* DateTime.nowAsDate)
  if (Option.isNone(endpoint)) return yield* new WebhookEndpointNotFound()
  return { endpoint: endpoint.value, secret }
})
