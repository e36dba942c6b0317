// Checks for `doctor` that this configuration's secrets match the stored data.
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SecretBox } from "../../../platform/SecretBox.ts"
import { compareSecrets } from "../../secrets/secretMismatches.ts"
import { failure, warning } from "./Finding.ts"

/**
 * One finding for each secret that does not match the stored data: every secret is decrypted, and every agent's
 * wallet derived.
 */
export const secretFindings = Effect.map(compareSecrets(true), ({ mismatches }) =>
  mismatches.map(({ level, message }) => (level === "lost" ? warning : failure)("secrets", message))
).pipe(Effect.provide(SecretBox.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto))))
