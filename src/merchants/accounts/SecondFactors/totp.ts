// Time-based codes (RFC 6238): HMAC-SHA-1, 30 seconds, six digits, as authenticator apps use them.
import { createHmac, timingSafeEqual } from "node:crypto"

const stepSeconds = 30

/** The number of steps by which a clock may differ, in either direction. */
const tolerance = 1

export const stepAt = (millis: number): number => Math.floor(millis / 1000 / stepSeconds)

/** The code of a step. */
export const codeOf = (secret: Uint8Array, step: number, digits = 6): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac("sha1", secret).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits
  return String(number).padStart(digits, "0")
}

/** The step of this code; undefined if no step within the tolerance has it. */
export const stepOf = (secret: Uint8Array, code: string, millis: number): number | undefined => {
  const now = stepAt(millis)
  const entered = Buffer.from(code)
  let match: number | undefined
  for (let step = now - tolerance; step <= now + tolerance; step++) {
    const expected = Buffer.from(codeOf(secret, step))
    if (entered.length === expected.length && timingSafeEqual(entered, expected)) match = step
  }
  return match
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

/** Base32 by RFC 4648, without padding. */
export const base32 = (bytes: Uint8Array): string => {
  let text = ""
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet.charAt((value >> bits) & 31)
    }
  }
  return bits === 0 ? text : text + alphabet.charAt((value << (5 - bits)) & 31)
}
