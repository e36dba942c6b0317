// The account that signed a hash, by libsecp256k1 as WASM: less than half the time of viem's recovery,
// and the same verdict on every signature.
import { Effect } from "effect"
import { type Hex, hexToBytes, keccak256 } from "viem"
import type { Address } from "../domain/Chain.ts"
import { addressFromBytes } from "./Address.ts"

/** Hex of r, s and v. As with viem, v may be one digit. */
const form = /^0x[0-9a-fA-F]{128}([0-9a-fA-F]{1,2})$/
const hashForm = /^0x[0-9a-fA-F]{64}$/

/** By v: the parity itself, or with the 27 of Bitcoin added. */
const parities: ReadonlyMap<number, 0 | 1> = new Map([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1]
])

const instantiate = async () => {
  // Not the package's own entry, which loads all of Bitcoin Cash.
  const { instantiateSecp256k1 } = await import("@bitauth/libauth/build/lib/crypto/secp256k1.js")
  return instantiateSecp256k1()
}
type Secp256k1 = Awaited<ReturnType<typeof instantiate>>

const recoverWith = (secp256k1: Secp256k1, hash: Hex, signature: Hex): Address | undefined => {
  const parity = parities.get(Number.parseInt(form.exec(signature)?.[1] ?? "", 16))
  if (parity === undefined || !hashForm.test(hash)) return undefined
  const compact = hexToBytes(`0x${signature.slice(2, 130)}`)
  const key = secp256k1.recoverPublicKeyUncompressed(compact, parity, hexToBytes(hash))
  // A text says what is wrong with r or s.
  return typeof key === "string"
    ? undefined
    : addressFromBytes(keccak256(key.subarray(1), "bytes").subarray(12))
}

let loaded: Promise<Secp256k1> | undefined
let ready: Secp256k1 | undefined

/** Loaded with the first signature: a service that checks none does not hold it. */
const load = async () => {
  loaded ??= instantiate().catch((error) => {
    loaded = undefined
    throw error
  })
  ready = await loaded
  return ready
}

/**
 * The address whose key made `signature` of the 32-byte `hash`; undefined for bytes that no key makes. A high
 * s and a v of 0, 1, 27 or 28 are accepted, and 65 bytes alone: EIP-2098's 64 are for contract wallets.
 */
export const recoverAddress = (hash: Hex, signature: Hex): Effect.Effect<Address | undefined> =>
  Effect.suspend(() =>
    ready === undefined
      ? Effect.map(Effect.promise(load), (secp256k1) => recoverWith(secp256k1, hash, signature))
      : Effect.succeed(recoverWith(ready, hash, signature))
  )
