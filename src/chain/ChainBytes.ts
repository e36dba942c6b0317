// Addresses and hashes are bytes in the database and canonical text in the code.
import { Schema, SchemaGetter } from "effect"
import { bytesToHex, getAddress, hexToBytes, isHex } from "viem"
import { Address, TransactionHash } from "../domain/Chain.ts"

const bytes = (length: number) =>
  Schema.Uint8Array.check(Schema.makeFilter((value) => value.length === length))

/** 20 bytes to and from the EIP-55 spelling. */
export const AddressBytes = bytes(20).pipe(
  Schema.decodeTo(Address, {
    decode: SchemaGetter.transform((value) => Address.make(getAddress(bytesToHex(value)))),
    encode: SchemaGetter.transform((address) => hexToBytes(address))
  })
)

/** 32 bytes to and from lower-case hex. */
export const HashBytes = bytes(32).pipe(
  Schema.decodeTo(TransactionHash, {
    decode: SchemaGetter.transform((value) => TransactionHash.make(bytesToHex(value))),
    encode: SchemaGetter.transform((hash) => hexToBytes(hash))
  })
)

/** The bytes of canonical hex text. */
export const toBytes = (value: Address | TransactionHash): Uint8Array => hexToBytes(value)

/** A transaction hash in any letter case, or undefined. */
export const parseTransactionHash = (text: string): TransactionHash | undefined => {
  const lower = text.toLowerCase()
  return lower.length === 66 && isHex(lower) ? TransactionHash.make(lower) : undefined
}
