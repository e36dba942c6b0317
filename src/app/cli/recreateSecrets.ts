// Commands by which operators recreate secrets whose encryption key is lost.
import type { LostSecrets } from "../../webhooks/SealedSecretRepo.ts"

/** The kinds of secrets that a lost key can affect, and how to recreate each. */
export const recreateSecrets: { readonly [O in LostSecrets["owner"]]: string } = {
  endpoint: "of webhook endpoints: bun run cli webhook regenerate-secret",
  authenticator: "of authenticator apps: bun run cli user remove-authenticator",
  alert_hook: "of alert webhooks: add them again in the dashboard",
  receipt_key: "of receipts"
}
