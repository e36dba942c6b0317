// A wallet's outbox: what is stored is broadcast until a block has passed its nonce, by any
// instance. What no node takes is filled, never forgotten: the bytes may be under way somewhere. What
// a reorganisation takes out of its block is broadcast again.
import { Clock, DateTime, Duration, Effect, Option, Schedule } from "effect"
import type { Hex } from "viem"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import type { TransactionHash } from "../../domain/Chain.ts"
import { DueWork } from "../../platform/workers/DueWork.ts"
import { periodic } from "../../platform/workers/supervised.ts"
import type { RpcUnavailable } from "../Verification.ts"
import type { HotWallet, Sighting } from "./HotWallet.ts"
import { addedWei, feesOf, fillingFees, mostWeiOf, reprice } from "./Outbox/fees.ts"
import {
  countedMillis,
  type Ended,
  idOf,
  idsOf,
  mostFilled,
  type OutboxRepo,
  type Outcome,
  type OutgoingTransaction
} from "./OutboxRepo.ts"

export interface OutboxTiming {
  /** Between checks of open transactions. */
  readonly checkEvery: Duration.Input
  /** Age at which an open transaction is sent again, as after a crash. */
  readonly sendAgainAfter: Duration.Input
  /** Age at which the next transaction in line counts as stuck, so that its fee is reviewed. */
  readonly stuckAfter: Duration.Input
  /** A transaction counts as lost if its nonce is used without one of its receipts for this long. */
  readonly lostAfter: Duration.Input
}

export const defaultOutboxTiming: OutboxTiming = {
  checkEvery: "3 seconds",
  sendAgainAfter: "5 seconds",
  stuckAfter: "1 minute",
  lostAfter: "2 seconds"
}

/** A transaction's state. */
export type TransactionStanding =
  | { readonly outcome: "open" }
  | {
      readonly outcome: Outcome
      readonly transactionId: TransactionHash | null
      readonly blockNumber: bigint | null
    }

/** The outcome of a broadcast. `taken`: a foreign transaction has the nonce. */
export type Offer = "sent" | "unknown" | "no_funds" | "taken"

export interface OutboxOptions {
  readonly wallet: HotWallet
  readonly repo: OutboxRepo["Service"]
  readonly timing: OutboxTiming
  /** The wallet cannot pay the gas of what it has signed. */
  readonly onEmpty: Effect.Effect<void>
  /** Something else sends from the wallet. */
  readonly onLost: Effect.Effect<void>
  /** Notes an end, with what hangs on it. */
  readonly end: (transaction: OutgoingTransaction, ended: Ended, at: Date) => Effect.Effect<void>
  /**
   * True if the transaction still serves its purpose; otherwise its nonce is filled instead of being sent again.
   * Default true.
   */
  readonly isWanted?: (transaction: OutgoingTransaction) => Effect.Effect<boolean>
  /** Called by the supervised fiber after a transaction has ended. */
  readonly onEnd?: (transaction: OutgoingTransaction, outcome: Outcome) => Effect.Effect<void>
}

const fillTries = 5
/** A caller waits: nodes that are silent are not asked five times. */
const offeredFor = "3 seconds"
/** For how long a block may still be replaced by another. */
const replacedMillis = 30 * 60_000
/** With nothing open, every so many checks are of what has ended; and seldom where nothing has. */
const checksBetween = 5
const seldomMillis = 5 * 60_000
/** Blocks that must come before a price counts as refused by them. */
const patientBlocks = 2n

const endedOf = ({ outcome, transactionId, blockNumber }: OutgoingTransaction): TransactionStanding =>
  outcome === null ? { outcome: "open" } : { outcome, transactionId, blockNumber }

export const makeOutbox = ({
  wallet,
  repo,
  timing,
  onEmpty,
  onLost,
  end,
  isWanted,
  onEnd
}: OutboxOptions) => {
  const millis = (input: Duration.Input) => Duration.toMillis(input)
  const endedCheckAfter = checksBetween * millis(timing.checkEvery)
  /** The next time at which `finishOpen` checks ended transactions while none is open. */
  let endedCheckAt = 0
  /** The last time at which this process read mined transactions; blocks may have been replaced since. */
  let heardAt: number | undefined
  const stored = (transaction: OutgoingTransaction) =>
    Effect.map(repo.find(transaction.wallet, transaction.nonce), (found) => found ?? transaction)

  /** A receipt is believed at once; a vanished nonce only when most nodes say so for a while. */
  const sight = Effect.fnUntraced(function* (transaction: OutgoingTransaction) {
    const early = yield* wallet.sight(transaction.nonce, idsOf(transaction))
    if (early.outcome !== "lost") return early
    return yield* stored(transaction).pipe(
      Effect.flatMap((now): Effect.Effect<Sighting> => wallet.sightOnAll(transaction.nonce, idsOf(now))),
      Effect.repeat({
        schedule: Schedule.spaced(millis(timing.lostAfter) / 4),
        times: 4,
        while: ({ outcome }) => outcome === "lost"
      })
    )
  })

  /** A version whose bytes an earlier release has not kept counts as what it was signed for. */
  const isFilled = (transaction: OutgoingTransaction, id: TransactionHash) =>
    transaction.purpose === "filler" ||
    transaction.versions.some((raw) => idOf(raw) === id && wallet.isFiller(raw))

  /** Checks its state by every version of any instance, and records its outcome. */
  const check = Effect.fn("Outbox.check")(function* (
    given: OutgoingTransaction
  ): Effect.fn.Return<TransactionStanding, RpcUnavailable> {
    if (given.outcome !== null) return endedOf(given)
    const transaction = yield* stored(given)
    if (transaction.outcome !== null) return endedOf(transaction)
    const seen = yield* sight(transaction)
    if (seen.outcome === "open") return { outcome: "open" }
    const newest = yield* stored(transaction)
    const ended: Ended =
      seen.outcome === "lost"
        ? { outcome: "lost", transactionId: null, blockNumber: null }
        : {
            outcome: isFilled(newest, seen.transactionId) ? "filled" : seen.outcome,
            transactionId: seen.transactionId,
            blockNumber: seen.blockNumber
          }
    const now = yield* DateTime.nowAsDate
    yield* end(newest, ended, now)
    endedCheckAt = Math.min(endedCheckAt, now.getTime() + endedCheckAfter)
    if (ended.outcome === "lost") yield* onLost
    return ended
  })

  /**
   * Broadcasts the newest version, for some seconds: a lost answer and a lagging node look like a taken nonce at
   * first, and a node that declines it may accept it with the next block.
   */
  const offer = Effect.fn("Outbox.offer")(function* (
    transaction: OutgoingTransaction
  ): Effect.fn.Return<Offer> {
    let tries = 0
    // What it pays may have been paid otherwise between two tries.
    const isUnwanted = Effect.suspend(() =>
      tries++ === 0 || isWanted === undefined
        ? Effect.succeed(false)
        : Effect.map(isWanted(transaction), (wanted) => !wanted)
    )
    const broadcast = wallet.broadcast(transaction.versions[0], idsOf(transaction))
    const answer = yield* Effect.flatMap(isUnwanted, (unwanted) =>
      unwanted ? Effect.succeed("unwanted" as const) : broadcast
    ).pipe(
      Effect.repeat({
        schedule: Schedule.spaced(millis(timing.lostAfter) / 4).pipe(
          Schedule.upTo({ times: 4, duration: offeredFor })
        ),
        until: (answer) => answer !== "taken" && answer !== "unknown"
      })
    )
    if (answer === "unwanted") return "unknown"
    return answer === "accepted" ? "sent" : answer
  })

  /**
   * Puts another version first and broadcasts it; none where another instance was faster. What it may cost more is
   * reserved whatever the budgets are: all that is sent later waits for its nonce.
   */
  const offerVersion = Effect.fnUntraced(function* (transaction: OutgoingTransaction, raw: Hex) {
    const wei = addedWei(transaction.versions, raw)
    const next = yield* repo.addVersion(transaction, raw, yield* DateTime.nowAsDate, wei)
    if (next === undefined) return undefined
    return yield* wallet.broadcast(raw, idsOf(next))
  })

  /** Spends the nonce on nothing, unless an earlier version is mined after all. */
  const fill = Effect.fn("Outbox.fill")(function* (given: OutgoingTransaction) {
    const state = yield* Effect.option(wallet.state)
    // Another instance may store a version of its own first.
    for (let time = 0; time < fillTries; time++) {
      const transaction = yield* stored(given)
      if (transaction.outcome !== null || wallet.isFiller(transaction.versions[0])) return
      const fees = fillingFees(feesOf(transaction.versions[0]), Option.getOrUndefined(state))
      const raw = yield* wallet.signFiller(fees, transaction.nonce)
      const answer = yield* offerVersion(transaction, raw)
      if (answer === undefined) continue
      if (answer === "no_funds") {
        yield* repo.noteRefusal(transaction, yield* DateTime.nowAsDate)
        yield* onEmpty
      }
      return
    }
  })

  /** Offers again what no node took; false while that holds, and then nothing behind it would go. */
  const unblock = Effect.fn("Outbox.unblock")(function* () {
    const waiting = (yield* repo.open(wallet.address)).filter(({ refusedAt }) => refusedAt !== null)
    for (const transaction of waiting) {
      const answer = yield* wallet.broadcast(transaction.versions[0], idsOf(transaction))
      if (answer === "no_funds") return false
      yield* repo.noteRefusal(transaction, null)
    }
    return true
  })

  /** The block that was newest when this process first saw a version open. */
  const firstSeen = new BoundedMap<TransactionHash, bigint>(1000)
  const blocksSince = (transaction: OutgoingTransaction, head: bigint) => {
    const id = idOf(transaction.versions[0])
    const since = firstSeen.get(id)
    if (since === undefined) {
      firstSeen.set(id, head)
      return 0n
    }
    return head - since
  }

  /** Re-signs it with a higher fee if the fee keeps it out of blocks; whether it did. */
  const repriced = Effect.fnUntraced(function* (transaction: OutgoingTransaction, head: bigint) {
    const { known, state } = yield* Effect.all({
      known: wallet.knows(idsOf(transaction)),
      state: wallet.state
    })
    const next = reprice(transaction.versions[0], state, {
      known: known === "unknown" ? undefined : known === "accepted",
      blocksCome: blocksSince(transaction, head) >= patientBlocks
    })
    if (next === "empty") yield* onEmpty
    if (next === "empty" || next === "keep") return false
    const answer = yield* offerVersion(transaction, yield* wallet.signAgain(next, transaction.versions[0]))
    if (answer === "no_funds") yield* onEmpty
    else if (transaction.refusedAt !== null) yield* repo.noteRefusal(transaction, null)
    return true
  })

  const finishOne = Effect.fnUntraced(function* (
    transaction: OutgoingTransaction,
    next: number,
    head: bigint
  ) {
    if (transaction.nonce < next) {
      const { outcome } = yield* check(transaction)
      if (outcome !== "open" && onEnd !== undefined) yield* onEnd(transaction, outcome)
      return
    }
    const now = yield* DateTime.nowAsDate
    const age = now.getTime() - transaction.signedAt.getTime()
    blocksSince(transaction, head)
    if (age < millis(timing.sendAgainAfter)) return
    if (
      isWanted !== undefined &&
      !wallet.isFiller(transaction.versions[0]) &&
      !(yield* isWanted(transaction))
    ) {
      return yield* fill(transaction)
    }
    const isStuck = transaction.nonce === next && age >= millis(timing.stuckAfter)
    if (isStuck && (yield* repriced(transaction, head))) return
    // A taken nonce is left until a block has passed it: only then is it certain whose it was.
    const answer = yield* wallet.broadcast(transaction.versions[0], idsOf(transaction))
    if (answer === "no_funds") yield* onEmpty
    if (transaction.refusedAt !== null && answer !== "no_funds") yield* repo.noteRefusal(transaction, null)
  })

  /** Reopens a transaction whose outcome was reorganised away. The version that was mined goes first. */
  const reopen = (transaction: OutgoingTransaction) =>
    Effect.gen(function* () {
      const { nonce, transactionId, versions } = transaction
      yield* Effect.logWarning("A transaction was reorganised out of its block; it is pending again").pipe(
        Effect.annotateLogs({ transactionId: transactionId ?? "", nonce })
      )
      const wasMined = (raw: Hex) => Number(idOf(raw) === transactionId)
      yield* repo.reopen(
        transaction,
        versions.toSorted((one, other) => wasMined(other) - wasMined(one))
      )
    })

  /**
   * Fills nonces before our first that no node has a transaction for: what another user of the key, or the
   * service before its database was restored, had sent with them has left the pools. Nothing goes before they have.
   */
  const fillGap = Effect.fnUntraced(function* (first: OutgoingTransaction, next: number) {
    const now = yield* DateTime.nowAsDate
    if (first.nonce <= next || now.getTime() - first.signedAt.getTime() < millis(timing.stuckAfter)) return
    const state = yield* wallet.state
    const from = Math.max(next, state.nonce)
    // A node that lies about a nonce costs the wallet no gas for all that lie before it.
    if (first.nonce - from > mostFilled) return
    const l1Fee = yield* wallet.l1Fee(0)
    for (let nonce = from; nonce < first.nonce; nonce++) {
      const raw = yield* wallet.signFiller(state.fees, nonce)
      const filler = yield* repo.fillGap(wallet.address, nonce, raw, now, mostWeiOf(raw) + l1Fee)
      if (filler !== undefined && (yield* wallet.broadcast(raw, idsOf(filler))) === "no_funds") yield* onEmpty
    }
  })

  /** What ended transactions had reserved becomes what they cost, once a majority shows their receipts. */
  const noteCosts = Effect.fnUntraced(function* (now: Date) {
    const since = new Date(now.getTime() - countedMillis)
    for (const { nonce, transactionId } of yield* repo.withoutCost(wallet.address, since)) {
      const cost = yield* wallet.minedCost(transactionId)
      if (cost !== undefined) yield* repo.noteCost(wallet.address, nonce, transactionId, cost)
    }
  })

  /** Finishes what is open: notes the mined, repeats the lost, prices the stuck. */
  const finishOpen = Effect.gen(function* () {
    const open = yield* repo.open(wallet.address)
    const now = yield* DateTime.nowAsDate
    if (open.length === 0 && now.getTime() < endedCheckAt) return
    yield* noteCosts(now)
    const hasEnded = yield* repo.hasEndedSince(
      wallet.address,
      new Date(heardAt === undefined ? 0 : heardAt - replacedMillis)
    )
    const quiet = open.length === 0 && !hasEnded
    endedCheckAt = now.getTime() + (quiet ? seldomMillis : endedCheckAfter)
    if (quiet) return
    const { next, head } = yield* Effect.all(
      { next: wallet.minedNonce, head: wallet.head },
      { concurrency: "unbounded" }
    )
    // Their blocks were replaced: nothing behind them goes before they have gone again.
    const left = yield* repo.endedFrom(wallet.address, next)
    yield* Effect.forEach(left, reopen, { discard: true })
    heardAt = now.getTime()
    const due = left.length === 0 ? open : yield* repo.open(wallet.address)
    yield* Effect.forEach(due, (transaction) => finishOne(transaction, next, head), { discard: true })
    const first = due[0]
    if (first !== undefined) yield* fillGap(first, next)
  })

  return {
    check,
    offer,
    fill,
    unblock,
    reopen,
    /** Runs `finishOpen` until its scope closes. */
    worker: Effect.gen(function* () {
      const due = yield* DueWork
      // Sooner if a transaction ends before that.
      const untilEndedCheck = Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.sleep(Math.min(endedCheckAfter, Math.max(millis(timing.checkEvery), endedCheckAt - now)))
      ).pipe(Effect.andThen(Clock.currentTimeMillis), Effect.repeat({ until: (now) => now >= endedCheckAt }))
      const pause = Effect.raceFirst(due.next("wallet transactions", timing.checkEvery), untilEndedCheck)
      // Nothing is checked at once: the wallet's key is derived beside the first requests, not before them.
      yield* periodic("Checking a wallet's open transactions", Effect.void, Effect.andThen(pause, finishOpen))
    })
  }
}

export type Outbox = ReturnType<typeof makeOutbox>
