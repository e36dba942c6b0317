// Seals the secrets of endpoints and of authenticator apps under the newest of ENCRYPTION_KEYS, so that older keys
// can go. The secrets themselves do not change; the service keeps running.
import { Effect } from "effect"
import { AppConfig } from "../AppConfig.ts"
import { authenticatorContext } from "../accounts/authenticatorContext.ts"
import { SecretBox } from "../keys/SecretBox.ts"
import { type SealedSecret, SealedSecretRepo } from "./WebhookRepo/SealedSecretRepo.ts"

const batchSize = 500

const contextOf = ({ id, owner }: SealedSecret): string => {
  switch (owner) {
    case "endpoint":
      return id
    case "authenticator":
      return authenticatorContext(id)
    case "alert_hook":
      return `alert hook ${id}`
  }
}

/** Returns how many were re-encrypted. */
export const reencryptSecrets = Effect.fn("reencryptSecrets")(function* () {
  const { encryptionKeys } = yield* AppConfig
  const box = yield* SecretBox
  const repo = yield* SealedSecretRepo
  const newest = encryptionKeys[0]?.kid ?? ""
  let count = 0
  while (true) {
    const batch = yield* repo.underOtherKeys(newest, batchSize)
    for (const one of batch) {
      const context = contextOf(one)
      const secret = yield* box.open(one.sealed, context)
      if (yield* repo.replace(one, yield* box.seal(secret, context))) count += 1
    }
    if (batch.length < batchSize) return { count, kid: newest }
  }
})
