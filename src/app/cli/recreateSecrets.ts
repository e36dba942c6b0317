import type { LostSecrets } from "../../webhooks/WebhookRepo/SealedSecretRepo.ts"

/** What lies under a lost key, and how it is made recreateSecrets. */
export const recreateSecrets: { readonly [O in LostSecrets["owner"]]: string } = {
  endpoint: "of webhook endpoints: bun run cli webhook regenerate-secret",
  authenticator: "of authenticator apps: bun run cli user remove-authenticator",
  alert_hook: "of addresses that alerts are posted to: set them anew in the dashboard",
  receipt_key: "of receipts"
}
