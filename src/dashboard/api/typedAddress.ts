// Addresses that people type: mixed case must have the right EIP-55 checksum.
import { Effect } from "effect"
import { parseChecksummedAddress } from "../../chain/Address.ts"
import { invalidField } from "../../domain/Errors.ts"

/** The canonical address, or a refusal with the field's name. */
export const typedAddress = (path: string, text: string) => {
  const address = parseChecksummedAddress(text)
  return address === undefined
    ? Effect.fail(
        invalidField(
          path,
          "The letters' case breaks the EIP-55 checksum: one character may be wrong. Copy it again."
        )
      )
    : Effect.succeed(address)
}
