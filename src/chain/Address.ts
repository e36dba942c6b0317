// Converts addresses from outside to the one canonical EIP-55 spelling, so that equal addresses are equal strings
// everywhere else.
import { bytesToHex, getAddress } from "viem"
import { Address } from "../domain/Chain.ts"

const hexPattern = /^0x[0-9a-fA-F]{40}$/
const oneCasePattern = /^0x(?:[0-9a-f]{40}|[0-9A-F]{40})$/

/**
 * The canonical address for any spelling of its 40 hex digits; the letters' case is ignored. Undefined if the text is
 * not an address.
 * @example parseAddress("0x036cbd53842c5426634e7929541ec2318f3dcf7e")
 */
export const parseAddress = (text: string): Address | undefined =>
  hexPattern.test(text) ? Address.make(getAddress(text.toLowerCase())) : undefined

/** Like `parseAddress`, but mixed case must have a valid EIP-55 checksum, so that one mistyped letter is rejected. */
export const parseChecksummedAddress = (text: string): Address | undefined => {
  const address = parseAddress(text)
  return address !== undefined && (text === address || oneCasePattern.test(text)) ? address : undefined
}

/** The canonical address of its 20 bytes; undefined for any other length. */
export const parseAddressBytes = (bytes: Uint8Array): Address | undefined =>
  bytes.length === 20 ? parseAddress(bytesToHex(bytes)) : undefined

/** True if two spellings are of the same address. */
export const isSameAddress = (one: Address, other: Address): boolean =>
  one.toLowerCase() === other.toLowerCase()
