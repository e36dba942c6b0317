// Flags that several commands share.
import { Console, type Effect, Schema, SchemaGetter } from "effect"
import { Flag } from "effect/cli"
import { parseChecksummedAddress } from "../../chain/Address.ts"
import { Address, Env } from "../../domain/Chain.ts"
import { MerchantId } from "../../domain/Merchant.ts"

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON document"),
  Flag.withDefault(false)
)

export const ReceiverAddress = Schema.String.check(
  Schema.makeFilter(
    (text) =>
      parseChecksummedAddress(text) !== undefined ||
      "an address: 0x and 40 hex digits, with a valid EIP-55 checksum if the case is mixed"
  )
).pipe(
  Schema.decodeTo(Address, {
    decode: SchemaGetter.transform(
      (text) => parseChecksummedAddress(text) ?? Address.make(`0x${text.slice(2)}`)
    ),
    encode: SchemaGetter.transform((address) => address)
  })
)

const nameLength = { message: "1 to 100 characters" }
/** The name of a key or an agent. */
export const Name = Schema.String.check(
  Schema.isMinLength(1, nameLength),
  Schema.isMaxLength(100, nameLength)
)

export const address = (name: string) => Flag.String(name).pipe(Flag.withSchema(ReceiverAddress))

export const merchantId = Flag.String("merchant").pipe(
  Flag.withDescription("The merchant's id"),
  Flag.withSchema(MerchantId)
)

export const env = Flag.Literals("env", Env.literals).pipe(Flag.withDescription("The environment"))

/** Prints the document for machines, or the lines for people. */
export const print = (
  asJson: boolean,
  document: unknown,
  lines: ReadonlyArray<string>
): Effect.Effect<void> => (asJson ? Console.log(JSON.stringify(document)) : Console.log(lines.join("\n")))
