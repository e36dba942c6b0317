// Secrets that are used, and that no key of ENCRYPTION_KEYS opens.
import { Effect } from "effect"
import { AppConfig } from "../platform/AppConfig.ts"
import { SealedSecretRepo } from "./WebhookRepo/SealedSecretRepo.ts"

export const lostSecrets = Effect.gen(function* () {
  const { encryptionKeys } = yield* AppConfig
  const repo = yield* SealedSecretRepo
  return yield* repo.lost(encryptionKeys.map(({ kid }) => kid))
}).pipe(Effect.provide(SealedSecretRepo.layer))
