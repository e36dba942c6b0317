// The format of API keys: a prefix with kind and environment, 32 random bytes in base62, and a CRC32 that rejects a
// typo without a query.

import { hash } from "node:crypto"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Env } from "../../../domain/Chain.ts"
import type { KeyKind } from "../../../domain/Merchant.ts"
import { envs, isEnv } from "../../../domain/networks.ts"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const bodyLength = 43
const checksumLength = 6

const base62 = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; text.length < length; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text
  return text
}

const checksum = (text: string): string => base62(BigInt(Bun.hash.crc32(text)), checksumLength)

/** True if the key ends in its checksum. Checked for every request, so computed in plain numbers. */
const endsInChecksum = (key: string): boolean => {
  let spelled = 0
  for (let at = key.length - checksumLength; at < key.length; at++)
    spelled = spelled * 62 + digitAt(key.charCodeAt(at))
  return spelled === Bun.hash.crc32(key.slice(0, -checksumLength))
}

/** The value of a base62 digit, by its character code. */
const digitAt = (code: number): number => (code < 58 ? code - 48 : code < 91 ? code - 55 : code - 61)

const kinds = { sk: "secret", pk: "publishable", ak: "agent" } as const satisfies Record<string, KeyKind>
const prefixes = { secret: "sk", publishable: "pk", agent: "ak" } as const satisfies Record<KeyKind, string>

export const keyPrefix = (kind: KeyKind, env: Env): string => `${prefixes[kind]}_${env}_`

/** A new key, for example `sk_test_` and 49 base62 characters. It is shown once and stored as its hash. */
export const generateKey = Effect.fnUntraced(function* (kind: KeyKind, env: Env) {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(32)
  const text = keyPrefix(kind, env) + base62(BigInt(`0x${Buffer.from(bytes).toString("hex")}`), bodyLength)
  return text + checksum(text)
})

const pattern = new RegExp(`^(sk|pk|ak)_(${envs.join("|")})_[0-9A-Za-z]{${bodyLength + checksumLength}}$`)

/** Kind and environment of a well-formed key; undefined if it is malformed or mistyped. */
export const parseKey = (key: string): { readonly kind: KeyKind; readonly env: Env } | undefined => {
  const match = pattern.exec(key)
  const env = match?.[2]
  if (match === null || !isEnv(env) || !endsInChecksum(key)) return undefined
  const kind = kinds[match[1] === "sk" ? "sk" : match[1] === "pk" ? "pk" : "ak"]
  return { kind, env }
}

/** SHA-256 of the key: 256 bits of randomness need no slow hash. */
export const hashKey = (key: string): Uint8Array => hash("sha256", key, "buffer")
