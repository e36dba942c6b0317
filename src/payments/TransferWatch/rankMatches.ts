// Ranks the payments that an incoming transfer may settle, most likely first.
import type { Address } from "../../domain/Chain.ts"
import { attemptMatchingMillis, blockTolerance, type MatchAttempt } from "../AttemptRepo/AttemptStore.ts"
import type { IncomingTransfer, Match } from "../TransferRepo/TransferStore.ts"

/** Block times are whole seconds, so a block may be up to this much newer than its time says. */
const blockTimeMillis = 1_000

/** The transaction's sender; undefined if the nodes do not agree. */
export type TransferSender = { readonly address: Address; readonly nonce: bigint } | undefined

type Transfer = Pick<IncomingTransfer, "payer" | "blockNumber" | "blockTime">

const isOfSameBlock = (transfer: Transfer, announcedIn: bigint, sender: TransferSender) =>
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
  if (transfer.blockTime.getTime() - announcedAt.getTime() > attemptMatchingMillis) return false
  if (transfer.blockNumber > blockNumber || isOfSameBlock(transfer, blockNumber, sender)) return true
  return (
    blockNumber - transfer.blockNumber < BigInt(blockTolerance) &&
    sender?.address === transfer.payer &&
    nonce !== null &&
    sender.nonce >= nonce
  )
}

/**
 * The rank of a payment for the transfer, with the attempts that support it:
 * 0. A report contains its transaction.
 * 1. An open attempt has its nonce.
 * 2. An ended attempt has its nonce.
 * 3. An attempt is open.
 * 4. An attempt has ended.
 * 5. Each attempt was announced in the transfer's own block, and another account sent the transfer, as relayers do:
 *    the order is unknown.
 */
const rankOf = (
  transfer: Transfer,
  { attempts, reportedAt }: Match,
  sender: TransferSender
): { readonly rank: number; readonly by: ReadonlyArray<MatchAttempt> } => {
  if (reportedAt !== null) return { rank: 0, by: attempts }
  const isOwn = sender?.address === transfer.payer
  const withNonce = isOwn ? attempts.filter(({ nonce }) => nonce === sender.nonce) : []
  const open = (withNonce.length > 0 ? withNonce : attempts).filter(({ ended }) => ended === null)
  if (withNonce.length > 0) return open.length > 0 ? { rank: 1, by: open } : { rank: 2, by: withNonce }
  if (attempts.every(({ blockNumber }) => isOfSameBlock(transfer, blockNumber, sender)))
    return { rank: 5, by: attempts }
  return open.length > 0 ? { rank: 3, by: open } : { rank: 4, by: attempts }
}

const withCountingAttempts = (transfer: Transfer, match: Match, sender: TransferSender): Match => ({
  ...match,
  attempts: match.attempts.filter((attempt) => isAfter(transfer, attempt, sender))
})

/** True if a report contains the transaction, or an open attempt contains its nonce. */
export const isIdentified = (transfer: Transfer, match: Match, sender: TransferSender): boolean =>
  rankOf(transfer, withCountingAttempts(transfer, match, sender), sender).rank <= 1

/**
 * The matches, most likely first. Within a rank, pending payments come before failed ones, attempts announced by the
 * block's time before later ones, and newer attempts before older ones.
 */
export const rankMatches = (
  transfer: Transfer,
  matches: ReadonlyArray<Match>,
  sender: TransferSender
): ReadonlyArray<Match> =>
  matches
    .map((match) => withCountingAttempts(transfer, match, sender))
    .filter(({ attempts, reportedAt }) => reportedAt !== null || attempts.length > 0)
    .map((match) => {
      const { by, rank } = rankOf(transfer, match, sender)
      return {
        match,
        rank,
        isFailed: match.payment.status === "failed",
        // Compares two clocks, so it only orders matches that are equal otherwise.
        isLater: by.every(
          ({ announcedAt }) => announcedAt.getTime() >= transfer.blockTime.getTime() + blockTimeMillis
        ),
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

/** The senders that the transaction may have if the wallet sent it itself: one per announced nonce. */
const ownSenders = (transfer: Transfer, matches: ReadonlyArray<Match>) =>
  matches
    .flatMap(({ attempts }) => attempts)
    .map(({ nonce }) => ({ address: transfer.payer, nonce: nonce ?? 0n }))

/** True if the order of transfer and attempts depends on the transaction's sender. */
export const dependsOnSender = (transfer: Transfer, matches: ReadonlyArray<Match>): boolean =>
  ownSenders(transfer, matches).some(
    (sender) =>
      rankMatches(transfer, matches, sender).length > rankMatches(transfer, matches, undefined).length
  )

/** True if the first match depends on the sender: two payments of one wallet and amount. */
export const firstDependsOnSender = (transfer: Transfer, matches: ReadonlyArray<Match>): boolean => {
  const [first] = rankMatches(transfer, matches, undefined)
  return ownSenders(transfer, matches).some(
    (sender) => rankMatches(transfer, matches, sender)[0]?.payment.id !== first?.payment.id
  )
}
