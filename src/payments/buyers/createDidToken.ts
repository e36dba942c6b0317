// Creates a buyer's DID token from any account that signs messages. It uses only web-standard APIs, because the
// checkout in the browser, the demo and the tests share it.

import { toJson } from "../../platform/pages/browser/json.ts"

/** A viem LocalAccount, or any wallet behind the same two members. */
export interface MessageSigner {
  readonly address: string
  readonly signMessage: (parameters: { readonly message: string }) => Promise<string>
}

export interface DidTokenOptions {
  /** Origin of the service, or the merchant's configured audience. */
  readonly audience: string
  readonly lifetimeSeconds: number
  /** Unix time in seconds. */
  readonly now: number
  /** Unique id of the token; random by default. */
  readonly id?: string
}

const textOfBytes = (bytes: Uint8Array): string => {
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

/** Base64 of the text's UTF-8 bytes. */
export const base64OfUtf8 = (text: string): string => btoa(textOfBytes(new TextEncoder().encode(text)))

/**
 * Base64 of `[proof, claim]`, where `proof` is the account's EIP-191 signature
 * of the exact claim string (Magic's DID token format).
 */
export const createDidToken = async (account: MessageSigner, options: DidTokenOptions): Promise<string> => {
  const claim = toJson({
    iat: options.now,
    ext: options.now + options.lifetimeSeconds,
    iss: `did:ethr:${account.address}`,
    sub: account.address,
    aud: options.audience,
    nbf: options.now,
    tid: options.id ?? crypto.randomUUID()
  })
  const proof = await account.signMessage({ message: claim })
  return base64OfUtf8(toJson([proof, claim]))
}
