// A new key: its text, shown once, and the row to store.
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Env } from "../../domain/Chain.ts"
import type { KeyKind, Permission } from "../../domain/Merchant.ts"
import { generateKey, hashKey, keyPrefix } from "./KeyAuth/KeyFormat.ts"
import type { NewKey } from "./KeyAuth/KeyRepo.ts"

export interface KeyTerms {
  readonly kind: KeyKind
  readonly env: Env
  readonly permission: Permission
  readonly name?: string | null
}

export const issueKey = Effect.fnUntraced(function* ({ kind, env, name, permission }: KeyTerms) {
  const random = yield* SecureRandom.SecureRandom
  const key = yield* generateKey(kind, env)
  const newKey: NewKey = {
    id: yield* random.uuidV7(),
    kind,
    env,
    permission,
    hash: hashKey(key),
    prefix: keyPrefix(kind, env),
    lastFour: key.slice(-4),
    name: name ?? null,
    publicKey: kind === "publishable" ? key : null
  }
  return { key, newKey }
})
