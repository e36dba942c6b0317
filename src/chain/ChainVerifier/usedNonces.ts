// The authorizations that a transaction used, from its logs (EIP-3009).
import { type Hex, isHex, toEventSelector } from "viem"
import type { Address } from "../../domain/Chain.ts"
import type { RawLog } from "./TransferLog.ts"

const usedTopic = toEventSelector("AuthorizationUsed(address,bytes32)")

/** Nonces of the payer's authorizations, in the order of the logs. */
export const usedNonces = (
  token: Address,
  payer: Address,
  logs: ReadonlyArray<RawLog>
): ReadonlyArray<Hex> => {
  const payerTopic = `0x${payer.slice(2).toLowerCase().padStart(64, "0")}`
  return logs.flatMap(({ address, topics: [event, from, nonce] }) =>
    address === token.toLowerCase() && event === usedTopic && from === payerTopic && isHex(nonce)
      ? [nonce]
      : []
  )
}
