// The account that signed a hash.
import { Effect } from "effect"
import { type Hex, hexToBytes, keccak256 } from "viem"
import type { Address } from "../domain/Chain.ts"
import { parseAddressBytes } from "./Address.ts"
import { isLoaded, loadSecp256k1, type Recoverable, recoverKey } from "./SignatureRecovery/secp256k1.ts"

/** Hex of r, s and v. As with viem, v may be one digit. */
const signaturePattern = /^0x[0-9a-fA-F]{128}([0-9a-fA-F]{1,2})$/
const hashPattern = /^0x[0-9a-fA-F]{64}$/

/** By v: the parity itself, or 27 plus the parity, as in Bitcoin. */
const parities: ReadonlyMap<number, 0 | 1> = new Map([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1]
])

/** Undefined unless the signature is 65 bytes with a v of 0, 1, 27 or 28: no key produces anything else. */
export const recoverableOf = (hash: Hex, signature: Hex): Recoverable | undefined => {
  const parity = parities.get(Number.parseInt(signaturePattern.exec(signature)?.[1] ?? "", 16))
  if (parity === undefined || !hashPattern.test(hash)) return undefined
  return { compact: hexToBytes(`0x${signature.slice(2, 130)}`), parity, hash: hexToBytes(hash) }
}

/** The address of an uncompressed public key. */
export const addressOfKey = (key: Uint8Array): Address | undefined =>
  parseAddressBytes(keccak256(key.subarray(1), "bytes").subarray(12))

const recover = (recoverable: Recoverable): Address | undefined => {
  const key = recoverKey(recoverable)
  return key === undefined ? undefined : addressOfKey(key)
}

/**
 * The address whose key signed the 32-byte `hash`; undefined for bytes that no key produces. Accepts a high s, and
 * only 65 bytes with a v of 0, 1, 27 or 28: EIP-2098's 64 bytes are for contract wallets.
 */
export const recoverAddress = (hash: Hex, signature: Hex): Effect.Effect<Address | undefined> =>
  Effect.suspend(() => {
    const recoverable = recoverableOf(hash, signature)
    if (recoverable === undefined) return Effect.succeed(undefined)
    return isLoaded()
      ? Effect.succeed(recover(recoverable))
      : Effect.map(Effect.promise(loadSecp256k1), () => recover(recoverable))
  })
