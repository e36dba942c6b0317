// Commands by which operators recreate secrets whose encryption key is lost.
import type { LostSecrets } from "../../webhooks/SealedSecretRepo.ts"

/** The kinds of secrets that a lost key can affect, and how to recreate each. */
export const recreateSecrets: { readonly [O in LostSecrets["owner"]]: string } = {
  endpoint: "signing secrets of webhook endpoints (bun run cli webhook regenerate-secret)",
  authenticator: "secrets of authenticator apps (bun run cli user remove-authenticator)",
  alert_hook: "secrets of alert webhooks (add the webhooks again in the dashboard)",
  receipt_key: "keys that sign receipts (nothing to do: the service uses a new one)"
}
