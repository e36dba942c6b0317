// The message format between the event loop and the recovery thread: many recoveries in one buffer.
import type { Recoverable } from "./secp256k1.ts"

const compactLength = 64
const hashLength = 32
const keyLength = 65

/** r and s, the hash, and the parity. */
const askedLength = compactLength + hashLength + 1
/** A byte that says whether there is a key, then the key. */
const answerLength = 1 + keyLength

export const encodeAsked = (asked: ReadonlyArray<Recoverable>): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(asked.length * askedLength)
  for (const [index, { compact, hash, parity }] of asked.entries()) {
    const at = index * askedLength
    bytes.set(compact, at)
    bytes.set(hash, at + compactLength)
    bytes[at + askedLength - 1] = parity
  }
  return bytes
}

export const decodeAsked = (bytes: Uint8Array): ReadonlyArray<Recoverable> =>
  Array.from({ length: bytes.length / askedLength }, (_, index) => {
    const one = bytes.subarray(index * askedLength, (index + 1) * askedLength)
    return {
      compact: one.subarray(0, compactLength),
      hash: one.subarray(compactLength, compactLength + hashLength),
      parity: one[askedLength - 1] === 1 ? 1 : 0
    }
  })

export const encodeKeys = (keys: ReadonlyArray<Uint8Array | undefined>): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(keys.length * answerLength)
  for (const [index, key] of keys.entries()) {
    if (key === undefined) continue
    bytes[index * answerLength] = 1
    bytes.set(key, index * answerLength + 1)
  }
  return bytes
}

export const decodeKeys = (bytes: Uint8Array): ReadonlyArray<Uint8Array | undefined> =>
  Array.from({ length: bytes.length / answerLength }, (_, index) => {
    const at = index * answerLength
    return bytes[at] === 1 ? bytes.subarray(at + 1, at + answerLength) : undefined
  })
