// Which settled payments a transfer stands for whose own transfer a reorganisation has dropped: of two transactions of
// an account with one nonce the chain takes one.
import { Effect } from "effect"
import type { ChainVerifier } from "../chain/ChainVerifier.ts"
import type { DroppedClaim } from "./PaymentRepo/ClaimStore.ts"
import type { PaymentRepo } from "./PaymentRepo.ts"
import type { IncomingTransfer } from "./TransferStore.ts"
import type { TransferSender } from "./TransferWatch/matchOrder.ts"

/** Undefined where it takes the transaction's sender to tell, and the nodes do not say. */
export const replacedClaims = Effect.fnUntraced(function* (
  repo: PaymentRepo["Service"],
  chain: ChainVerifier["Service"],
  transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount" | "transactionId">,
  known: TransferSender
): Effect.fn.Return<ReadonlyArray<DroppedClaim> | undefined> {
  const nonce = known?.address === transfer.payer ? known.nonce : undefined
  const claims = yield* repo.droppedClaims(transfer, nonce)
  if (claims.length === 0) return []
  const sender = known ?? (yield* chain.sender(transfer.env, transfer.transactionId))
  if (sender === undefined) return undefined
  if (sender.address !== transfer.payer) return []
  return yield* Effect.filter(claims, ({ nonces, transactionId }) =>
    Effect.map(chain.sender(transfer.env, transactionId), (former) =>
      // Nodes that have forgotten the dropped one leave the nonce that its payer announced.
      former === undefined
        ? nonces.includes(sender.nonce)
        : former.address === sender.address && former.nonce === sender.nonce
    )
  )
})
