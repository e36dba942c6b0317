// The message format between the event loop and the recovery thread: many recoveries in one buffer.
import type { Recoverable } from "./secp256k1.ts"

const compactLength = 64
const hashLength = 32
const keyLength = 65

/** r and s, the hash, and the parity. */
const requestLength = compactLength + hashLength + 1
/** A byte that marks whether there is a key, then the key. */
const answerLength = 1 + keyLength

export const encodeRequest = (recoveries: ReadonlyArray<Recoverable>): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(recoveries.length * requestLength)
  for (const [index, { compact, hash, parity }] of recoveries.entries()) {
    const at = index * requestLength
    bytes.set(compact, at)
    bytes.set(hash, at + compactLength)
    bytes[at + requestLength - 1] = parity
  }
  return bytes
}

export const decodeRequest = (bytes: Uint8Array): ReadonlyArray<Recoverable> =>
  Array.from({ length: bytes.length / requestLength }, (_, index) => {
    const request = bytes.subarray(index * requestLength, (index + 1) * requestLength)
    return {
      compact: request.subarray(0, compactLength),
      hash: request.subarray(compactLength, compactLength + hashLength),
      parity: request[requestLength - 1] === 1 ? 1 : 0
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
