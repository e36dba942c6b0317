// A token is 32 random bytes that only its holder has. The database stores its SHA-256.
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"

export const newToken = (random: SecureRandom.SecureRandom["Service"]) =>
  Effect.map(random.randomBytes(32), Base64Url.encode)

export const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest()
