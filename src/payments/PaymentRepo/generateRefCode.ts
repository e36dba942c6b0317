// The human-readable reference code: `PAY-` and 8 of A-Z 0-9.
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

export const generateRefCode = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  // 252 is the largest multiple of 36 in a byte: taking only bytes below it keeps every character equally likely.
  let code = ""
  while (code.length < 8) {
    for (const byte of yield* random.randomBytes(16)) {
      if (byte < 252 && code.length < 8) code += alphabet.charAt(byte % 36)
    }
  }
  return `PAY-${code}`
})
