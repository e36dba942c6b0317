// Converts a transfer read from the chain into evidence that it pays.
import { networks } from "../domain/networks.ts"
import type { Evidence } from "../domain/Payment.ts"
import type { IncomingTransfer } from "./TransferRepo/TransferStore.ts"

export const evidenceOf = ({
  amount,
  env,
  payer,
  receiver,
  transactionId
}: Pick<IncomingTransfer, "amount" | "env" | "payer" | "receiver" | "transactionId">): Evidence => {
  const { chainId, usdc } = networks[env]
  return {
    transactionId,
    payer,
    tokenChanges: [{ amountAtomic: amount.toString(), chainId, receiver, tokenAddress: usdc.address }]
  }
}
