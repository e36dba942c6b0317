// Verifies a receipt's signature (JWS, ES256) with the browser's own cryptography.

import type { Env } from "../../../domain/Chain.ts"
import { envs } from "../../../domain/networks.ts"
import { isRecord } from "../../../platform/pages/browser/isRecord.ts"

export interface ReceiptClaims {
  readonly iss: string
  readonly jti: string
  readonly refCode: string
  readonly merchant: string
  readonly amount: string
  readonly env: Env
  readonly settledAt: string
  readonly payer: string
  readonly receiver: string
  readonly transactionId: string
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0))
const jsonOf = (part: string): unknown => JSON.parse(new TextDecoder().decode(bytesOf(part)))

const names = [
  "iss",
  "jti",
  "refCode",
  "merchant",
  "amount",
  "env",
  "settledAt",
  "payer",
  "receiver",
  "transactionId"
] as const

const isClaims = (value: unknown): value is ReceiptClaims =>
  isRecord(value) &&
  names.every((name) => typeof value[name] === "string") &&
  envs.some((env) => env === value["env"])

/** Mail programs break long lines. */
const unbroken = (jws: string): string => jws.replaceAll(/\s+/g, "")

const keyIn = (keys: unknown, kid: unknown): JsonWebKey | undefined => {
  const all: ReadonlyArray<unknown> = isRecord(keys) && Array.isArray(keys["keys"]) ? keys["keys"] : []
  return all.find((key) => isRecord(key) && key["kid"] === kid) ?? undefined
}

/** True if the text's key is none of these. It may be newer. */
export const namesUnknownKey = (jws: string, keys: unknown): boolean => {
  try {
    const header = jsonOf(unbroken(jws).split(".")[0] ?? "")
    return isRecord(header) && typeof header["kid"] === "string" && keyIn(keys, header["kid"]) === undefined
  } catch {
    return false
  }
}

/** The receipt's content; undefined if none of the keys (a JWK set) signed it. */
export const verifyReceipt = async (jws: string, keys: unknown): Promise<ReceiptClaims | undefined> => {
  try {
    const [head = "", body = "", signature = "", more] = unbroken(jws).split(".")
    const header = jsonOf(head)
    if (more !== undefined || !isRecord(header) || header["alg"] !== "ES256") return undefined
    const jwk = keyIn(keys, header["kid"])
    if (jwk === undefined) return undefined
    const algorithm = { name: "ECDSA", namedCurve: "P-256" }
    const key = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["verify"])
    const signed = new TextEncoder().encode(`${head}.${body}`)
    const holds = await crypto.subtle.verify(
      { name: "ECDSA", hash: "SHA-256" },
      key,
      bytesOf(signature),
      signed
    )
    const claims = jsonOf(body)
    return holds && isClaims(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
