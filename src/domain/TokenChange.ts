// A movement of tokens to an address: declared in a report, found on the chain, and sent in the webhook
// (docs/contract.md 4.3 and 6.1).
import { Schema } from "effect"
import { Address } from "./Chain.ts"
import { networks } from "./networks.ts"

export const TokenChange = Schema.Struct({
  amountAtomic: Schema.String.check(
    Schema.isPattern(/^(0|[1-9][0-9]{0,77})$/u, {
      message: "the amount in the token's smallest units, as decimal digits"
    })
  ).annotate({
    description: "Amount in the token's smallest units (USDC has 6 decimals).",
    examples: ["10000000"]
  }),
  chainId: Schema.Int.annotate({ description: "EIP-155 chain id.", examples: [networks.test.chainId] }),
  receiver: Address.annotate({ description: "The merchant's receiving address." }),
  tokenAddress: Address.annotate({
    description: "The token contract.",
    examples: [networks.test.usdc.address]
  })
})
export type TokenChange = typeof TokenChange.Type

const canonical = (change: TokenChange) =>
  `${change.chainId} ${change.tokenAddress.toLowerCase()} ${change.receiver.toLowerCase()} ${change.amountAtomic}`

/** A canonical text: equal for lists of the same movements, in any order and letter case. */
export const canonicalTokenChanges = (changes: ReadonlyArray<TokenChange>): string =>
  changes.map(canonical).sort().join("\n")

/** True if two lists contain the same movements, in any order and letter case. */
export const isSameTokenChanges = (
  left: ReadonlyArray<TokenChange>,
  right: ReadonlyArray<TokenChange>
): boolean => canonicalTokenChanges(left) === canonicalTokenChanges(right)
