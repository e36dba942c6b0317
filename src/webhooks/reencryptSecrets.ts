// Re-encrypts the secrets of endpoints, authenticator apps and alert webhooks, and receipt keys, with the newest
// of ENCRYPTION_KEYS, so that older keys can be removed. The secrets do not change; the service keeps
// running.
import { Effect } from "effect"
import { authenticatorContext } from "../merchants/accounts/authenticatorContext.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { SecretBox } from "../platform/SecretBox.ts"
import { type SealedSecret, SealedSecretRepo } from "./SealedSecretRepo.ts"

const batchSize = 500

/** The context to which a secret's ciphertext is bound. */
export const contextOf = ({ id, owner }: SealedSecret): string => {
  switch (owner) {
    case "endpoint":
      return id
    case "authenticator":
      return authenticatorContext(id)
    case "alert_hook":
      return `alert hook ${id}`
    case "receipt_key":
      return id
  }
}

/**
 * Returns the number of re-encrypted secrets, and those that no key of ENCRYPTION_KEYS decrypts: receipt keys, and
 * secrets in use.
 */
export const reencryptSecrets = Effect.fn("reencryptSecrets")(function* () {
  const { encryptionKeys } = yield* AppConfig
  const box = yield* SecretBox
  const repo = yield* SealedSecretRepo
  const kids = encryptionKeys.map(({ kid }) => kid)
  const newest = kids[0] ?? ""
  let count = 0
  while (true) {
    const batch = yield* repo.underOtherKeys(kids, batchSize)
    for (const sealedSecret of batch) {
      const context = contextOf(sealedSecret)
      const secret = yield* box.open(sealedSecret.sealed, context)
      if (yield* repo.replace(sealedSecret, yield* box.seal(secret, context))) count += 1
    }
    if (batch.length < batchSize)
      return {
        count,
        kid: newest,
        retiredReceiptKeys: yield* repo.retiredReceiptKeys(kids),
        lost: yield* repo.lost(kids)
      }
  }
})
