// Addresses and hashes are bytes in the database and canonical text in the code.
import { Brand, Schema, SchemaGetter } from "effect"
import { getAddress } from "viem"
import { BoundedMap } from "../domain/BoundedMap.ts"
import { Address, TransactionHash } from "../domain/Chain.ts"

/** Each checksum costs a hash, and a deployment's merchants and buyers use the same addresses again and again. */
const checksummed = new BoundedMap<string, Address>(10_000)

/** 20 bytes in the EIP-55 spelling. */
export const addressFromBytes = (value: Uint8Array): Address => {
  const hex = value.toHex()
  const cached = checksummed.get(hex)
  if (cached !== undefined) return cached
  const address = Address.make(getAddress(`0x${hex}`))
  checksummed.set(hex, address)
  return address
}

/** Hex from bytes always has the right form; the column fixes its length. */
const wellFormed = Brand.nominal<TransactionHash>()

/** 32 bytes in lower-case hex. */
export const hashFromBytes = (value: Uint8Array): TransactionHash => wellFormed(`0x${value.toHex()}`)

export const hexToBytes = (hex: string): Uint8Array => Uint8Array.fromHex(hex.slice(2))

const bytes = (length: number) =>
  Schema.Uint8Array.check(Schema.makeFilter((value) => value.length === length))

/** 20 bytes to and from the EIP-55 spelling. */
export const AddressBytes = bytes(20).pipe(
  Schema.decodeTo(Address, {
    decode: SchemaGetter.transform(addressFromBytes),
    encode: SchemaGetter.transform(hexToBytes)
  })
)

/** 32 bytes to and from lower-case hex. */
export const HashBytes = bytes(32).pipe(
  Schema.decodeTo(TransactionHash, {
    decode: SchemaGetter.transform(hashFromBytes),
    encode: SchemaGetter.transform(hexToBytes)
  })
)

/** The bytes of canonical hex text. */
export const toBytes = (value: Address | TransactionHash): Uint8Array => hexToBytes(value)
