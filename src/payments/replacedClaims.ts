// Finds the settled payments whose transfer a reorganisation dropped and this transfer replaces: of two transactions
// of an account with the same nonce, the chain takes one.
import { Effect } from "effect"
import type { ChainVerifier } from "../chain/ChainVerifier.ts"
import type { DroppedClaim } from "./ClaimRepo/ClaimStore.ts"
import type { ClaimRepo } from "./ClaimRepo.ts"
import type { IncomingTransfer } from "./TransferRepo/TransferStore.ts"
import type { TransferSender } from "./TransferWatch/rankMatches.ts"

/**
 * With `hasOtherMatch`, the transfer would otherwise pay another payment: includes payments whose loss nobody has recorded
 * yet. Undefined if the result depends on the transaction's sender and the nodes do not report it.
 */
export const replacedClaims = Effect.fnUntraced(function* (
  claimRepo: ClaimRepo["Service"],
  chain: ChainVerifier["Service"],
  transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount" | "transactionId">,
  knownSender: TransferSender,
  hasOtherMatch: boolean
): Effect.fn.Return<ReadonlyArray<DroppedClaim> | undefined> {
  // While the nonce is unknown, it may be any.
  const nonce =
    knownSender === undefined ? "any" : knownSender.address === transfer.payer ? knownSender.nonce : undefined
  const claims = yield* claimRepo.droppedClaims(transfer, hasOtherMatch ? nonce : undefined)
  if (claims.length === 0) return []
  const sender = knownSender ?? (yield* chain.sender(transfer.env, transfer.transactionId))
  if (sender === undefined) return undefined
  if (sender.address !== transfer.payer) return []
  return yield* Effect.filter(
    claims.filter(({ isRecorded, nonces }) => isRecorded || nonces.includes(sender.nonce)),
    ({ nonces, transactionId }) =>
      Effect.map(chain.sender(transfer.env, transactionId), (former) =>
        // If nodes have forgotten the dropped transaction, the nonce that its payer announced counts.
        former === undefined
          ? nonces.includes(sender.nonce)
          : former.address === sender.address && former.nonce === sender.nonce
      )
  )
})
