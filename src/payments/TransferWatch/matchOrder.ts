// Which payments an incoming transfer settles, the likeliest first: one that a report of this transaction
// names, one whose attempt has the transaction's nonce, one whose attempt is open, then the newest that was
// announced before the transfer's block, by its time; last,
// what lies in an attempt's own block and was sent by another account, as relayed transfers are: nothing
// there tells which was first.
import type { Address } from "../../domain/Chain.ts"
import { attemptCountsMillis, blockTolerance, type MatchAttempt } from "../AttemptRepo/AttemptStore.ts"
import type { IncomingTransfer, Match } from "../TransferRepo/TransferStore.ts"

/** The transaction's sender; undefined if the nodes do not agree. */
export type TransferSender = { readonly address: Address; readonly nonce: bigint } | undefined

type Transfer = Pick<IncomingTransfer, "payer" | "blockNumber" | "blockTime">

const isOfItsBlock = (transfer: Transfer, announcedIn: bigint, sender: TransferSender) =>
  transfer.blockNumber === announcedIn && sender !== undefined && sender.address !== transfer.payer

/**
 * True if the transfer arrived within a day after the attempt: by height, or by the wallet's own nonce after a
 * reorganisation.
 */
const isAfter = (
  transfer: Transfer,
  { announcedAt, blockNumber, nonce }: MatchAttempt,
  sender: TransferSender
) => {
  if (transfer.blockTime.getTime() - announcedAt.getTime() > attemptCountsMillis) return false
  if (transfer.blockNumber > blockNumber || isOfItsBlock(transfer, blockNumber, sender)) return true
  return (
    blockNumber - transfer.blockNumber < BigInt(blockTolerance) &&
    sender?.address === transfer.payer &&
    nonce !== null &&
    sender.nonce >= nonce
  )
}

/** Ranks how likely the transfer belongs to a payment, with the attempts that support it. */
const standingOf = (
  transfer: Transfer,
  { attempts, reportedAt }: Match,
  sender: TransferSender
): { readonly rank: number; readonly by: ReadonlyArray<MatchAttempt> } => {
  if (reportedAt !== null) return { rank: 0, by: attempts }
  const isOwn = sender?.address === transfer.payer
  const named = isOwn ? attempts.filter(({ nonce }) => nonce === sender.nonce) : []
  const open = (named.length > 0 ? named : attempts).filter(({ ended }) => ended === null)
  if (named.length > 0) return open.length > 0 ? { rank: 1, by: open } : { rank: 2, by: named }
  if (attempts.every(({ blockNumber }) => isOfItsBlock(transfer, blockNumber, sender)))
    return { rank: 5, by: attempts }
  return open.length > 0 ? { rank: 3, by: open } : { rank: 4, by: attempts }
}

const counted = (transfer: Transfer, match: Match, sender: TransferSender): Match => ({
  ...match,
  attempts: match.attempts.filter((attempt) => isAfter(transfer, attempt, sender))
})

/** True if a report contains the transaction, or an open attempt contains its nonce. */
export const isNamed = (transfer: Transfer, match: Match, sender: TransferSender): boolean =>
  standingOf(transfer, counted(transfer, match, sender), sender).rank <= 1

export const matchOrder = (
  transfer: Transfer,
  matches: ReadonlyArray<Match>,
  sender: TransferSender
): ReadonlyArray<Match> =>
  matches
    .map((match) => counted(transfer, match, sender))
    .filter(({ attempts, reportedAt }) => reportedAt !== null || attempts.length > 0)
    .map((match) => {
      const { by, rank } = standingOf(transfer, match, sender)
      return {
        match,
        rank,
        isFailed: match.payment.status === "failed",
        // By two clocks, which only order what nothing else tells apart.
        isLater: by.every(({ announcedAt }) => announcedAt > transfer.blockTime),
        newest: Math.max(0, ...by.map(({ announcedAt }) => announcedAt.getTime()))
      }
    })
    .toSorted(
      (left, right) =>
        left.rank - right.rank ||
        Number(left.isFailed) - Number(right.isFailed) ||
        Number(left.isLater) - Number(right.isLater) ||
        right.newest - left.newest
    )
    .map(({ match }) => match)

/** Each of the senders that would be a wallet's own, by the nonces of its attempts. */
const ownSenders = (transfer: Transfer, matches: ReadonlyArray<Match>) =>
  matches
    .flatMap(({ attempts }) => attempts)
    .map(({ nonce }) => ({ address: transfer.payer, nonce: nonce ?? 0n }))

/** True if the order of transfer and attempts depends on the transaction's sender. */
export const dependsOnSender = (transfer: Transfer, matches: ReadonlyArray<Match>): boolean =>
  ownSenders(transfer, matches).some(
    (sender) => matchOrder(transfer, matches, sender).length > matchOrder(transfer, matches, undefined).length
  )

/** True if the first match depends on the sender: two payments of one wallet and amount. */
export const firstDependsOnSender = (transfer: Transfer, matches: ReadonlyArray<Match>): boolean => {
  const [first] = matchOrder(transfer, matches, undefined)
  return ownSenders(transfer, matches).some(
    (sender) => matchOrder(transfer, matches, sender)[0]?.payment.id !== first?.payment.id
  )
}
