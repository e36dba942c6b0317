// Which settled payments a transfer stands for whose own transfer a reorganisation has dropped: of two transactions of
// an account with one nonce the chain takes one.
import { Effect } from "effect"
import type { ChainVerifier } from "../chain/ChainVerifier.ts"
import type { DroppedClaim } from "./ClaimRepo/ClaimStore.ts"
import type { ClaimRepo } from "./ClaimRepo.ts"
import type { IncomingTransfer } from "./TransferRepo/TransferStore.ts"
import type { TransferSender } from "./TransferWatch/matchOrder.ts"

/**
 * With those whose loss nobody has noted yet where the transfer would else pay another payment, `paysElse`. Undefined
 * where it takes the transaction's sender to tell, and the nodes do not say.
 */
export const replacedClaims = Effect.fnUntraced(function* (
  claimRepo: ClaimRepo["Service"],
  chain: ChainVerifier["Service"],
  transfer: Pick<IncomingTransfer, "env" | "payer" | "receiver" | "amount" | "transactionId">,
  known: TransferSender,
  paysElse: boolean
): Effect.fn.Return<ReadonlyArray<DroppedClaim> | undefined> {
  // While nobody says by which nonce it was sent, it may be any.
  const nonce = known === undefined ? "any" : known.address === transfer.payer ? known.nonce : undefined
  const claims = yield* claimRepo.droppedClaims(transfer, paysElse ? nonce : undefined)
  if (claims.length === 0) return []
  const sender = known ?? (yield* chain.sender(transfer.env, transfer.transactionId))
  if (sender === undefined) return undefined
  if (sender.address !== transfer.payer) return []
  return yield* Effect.filter(
    claims.filter(({ isNoted, nonces }) => isNoted || nonces.includes(sender.nonce)),
    ({ nonces, transactionId }) =>
      Effect.map(chain.sender(transfer.env, transactionId), (former) =>
        // Nodes that have forgotten the dropped one leave the nonce that its payer announced.
        former === undefined
          ? nonces.includes(sender.nonce)
          : former.address === sender.address && former.nonce === sender.nonce
      )
  )
})
