// A wallet's outbox. Any instance broadcasts the stored transactions until a block has passed their nonces. A
// transaction that no node accepts has its nonce filled and is never forgotten, because its bytes may still be in some
// pool. A transaction that a reorganisation removes from its block is broadcast again.
import { Clock, DateTime, Duration, Effect, Option, Schedule } from "effect"
import type { Hex } from "viem"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import type { TransactionHash } from "../../domain/Chain.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { DueWork } from "../../platform/workers/DueWork.ts"
import { startPeriodic } from "../../platform/workers/startWorker.ts"
import type { RpcUnavailable } from "../Verification.ts"
import { maxWeiOf } from "./HotWallet/costs.ts"
import type { HotWallet, NonceState } from "./HotWallet.ts"
import { addedWei, feesOf, fillerFees, reprice } from "./Outbox/fees.ts"
import {
  budgetWindowMillis,
  idOf,
  idsOf,
  maxFilled,
  type OutboxRepo,
  type Outcome,
  type OutgoingTransaction,
  type TransactionEnd
} from "./OutboxRepo.ts"

export interface OutboxTiming {
  /** The pause between checks of open transactions. */
  readonly checkEvery: Duration.Input
  /** The age at which an open transaction is sent again, for example after a crash. */
  readonly sendAgainAfter: Duration.Input
  /** The age at which the next transaction in line counts as stuck and its fee is reviewed. */
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
export type TransactionState =
  | { readonly outcome: "open" }
  | {
      readonly outcome: Outcome
      readonly transactionId: TransactionHash | null
      readonly blockNumber: bigint | null
    }

/** The outcome of a broadcast. `taken`: another user's transaction has the nonce. */
export type OfferOutcome = "sent" | "unknown" | "no_funds" | "taken"

export interface OutboxOptions {
  readonly wallet: HotWallet
  readonly repo: OutboxRepo["Service"]
  readonly timing: OutboxTiming
  /** The wallet cannot pay the gas of a transaction that it signed. */
  readonly onEmpty: Effect.Effect<void>
  /** Something else sends from the wallet. */
  readonly onLost: Effect.Effect<void>
  /** Records an outcome, with everything that depends on it. */
  readonly end: (transaction: OutgoingTransaction, ended: TransactionEnd, at: Date) => Effect.Effect<void>
  /**
   * True if the transaction still serves its purpose; otherwise its nonce is filled instead of being sent again.
   * Default true.
   */
  readonly isWanted?: (transaction: OutgoingTransaction) => Effect.Effect<boolean>
  /** Called by the worker after a transaction has ended. */
  readonly onEnd?: (transaction: OutgoingTransaction, outcome: Outcome) => Effect.Effect<void>
}

const maxFillAttempts = 5
/** A caller is waiting, so silent nodes are not queried five times. */
const offerTimeLimit = "3 seconds"
/** A block may be replaced by another for this long. */
const replacedMillis = 30 * 60_000
/** With nothing open, ended transactions are checked once in this many checks; rarely if none has ended lately. */
const endedCheckInterval = 5
const idleEndedCheckMillis = 5 * 60_000
/** The number of blocks after which a price counts as refused. */
const refusedAfterBlocks = 2n

const stateOf = ({ outcome, transactionId, blockNumber }: OutgoingTransaction): TransactionState =>
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
  const endedCheckAfter = endedCheckInterval * millis(timing.checkEvery)
  /** The next time at which `finishOpen` checks ended transactions while none is open. */
  let endedCheckAt = 0
  /** The last time at which this process read mined transactions; blocks may have been replaced since. */
  let minedReadAt: number | undefined
  const reload = (transaction: OutgoingTransaction) =>
    Effect.map(repo.find(transaction.wallet, transaction.nonce), (stored) => stored ?? transaction)

  /** A receipt is believed immediately; a nonce used without one only after most nodes have shown it for a while. */
  const nonceState = Effect.fnUntraced(function* (transaction: OutgoingTransaction) {
    const early = yield* wallet.nonceState(transaction.nonce, idsOf(transaction))
    if (early.outcome !== "lost") return early
    return yield* reload(transaction).pipe(
      Effect.flatMap(
        (now): Effect.Effect<NonceState> => wallet.nonceStateOnAll(transaction.nonce, idsOf(now))
      ),
      Effect.repeat({
        schedule: Schedule.spaced(millis(timing.lostAfter) / 4),
        times: 4,
        while: ({ outcome }) => outcome === "lost"
      })
    )
  })

  /** A version whose bytes an earlier release did not store counts as serving its original purpose. */
  const isFilled = (transaction: OutgoingTransaction, id: TransactionHash) =>
    transaction.purpose === "filler" ||
    transaction.versions.some((raw) => idOf(raw) === id && wallet.isFiller(raw))

  /** Checks a transaction's state by its versions from all instances, and records its outcome. */
  const check = Effect.fn("Outbox.check")(function* (
    input: OutgoingTransaction
  ): Effect.fn.Return<TransactionState, RpcUnavailable> {
    if (input.outcome !== null) return stateOf(input)
    const transaction = yield* reload(input)
    if (transaction.outcome !== null) return stateOf(transaction)
    const state = yield* nonceState(transaction)
    if (state.outcome === "open") return { outcome: "open" }
    const newest = yield* reload(transaction)
    const ended: TransactionEnd =
      state.outcome === "lost"
        ? { outcome: "lost", transactionId: null, blockNumber: null }
        : {
            outcome: isFilled(newest, state.transactionId) ? "filled" : state.outcome,
            transactionId: state.transactionId,
            blockNumber: state.blockNumber
          }
    const now = yield* DateTime.nowAsDate
    yield* end(newest, ended, now)
    endedCheckAt = Math.min(endedCheckAt, now.getTime() + endedCheckAfter)
    if (ended.outcome === "lost") yield* onLost
    return ended
  })

  const isUnwanted = (transaction: OutgoingTransaction) =>
    isWanted === undefined || wallet.isFiller(transaction.versions[0])
      ? Effect.succeed(false)
      : Effect.map(isWanted(transaction), (wanted) => !wanted)

  /**
   * Broadcasts the newest version for some seconds: a lost response or a lagging node looks like a taken nonce at
   * first, and a node that declines it may accept it with the next block.
   */
  const offer = Effect.fn("Outbox.offer")(function* (
    transaction: OutgoingTransaction
  ): Effect.fn.Return<OfferOutcome> {
    // Its payment may have been paid otherwise between two tries.
    const answer = yield* Effect.flatMap(isUnwanted(transaction), (unwanted) =>
      unwanted
        ? Effect.succeed("unwanted" as const)
        : wallet.broadcast(transaction.versions[0], idsOf(transaction))
    ).pipe(
      Effect.repeat({
        schedule: Schedule.spaced(millis(timing.lostAfter) / 4).pipe(
          Schedule.upTo({ times: 4, duration: offerTimeLimit })
        ),
        until: (answer) => answer !== "taken" && answer !== "unknown"
      })
    )
    if (answer === "unwanted") return "unknown"
    return answer === "accepted" ? "sent" : answer
  })

  /**
   * Puts another version first and broadcasts it; undefined if another instance was faster. Its additional cost is
   * reserved regardless of the budgets, because all later transactions wait for its nonce.
   */
  const offerVersion = Effect.fnUntraced(function* (transaction: OutgoingTransaction, raw: Hex) {
    const wei = addedWei(transaction.versions, raw)
    const next = yield* repo.addVersion(transaction, raw, yield* DateTime.nowAsDate, wei)
    if (next === undefined) return undefined
    return yield* wallet.broadcast(raw, idsOf(next))
  })

  /** Spends the nonce on an empty transfer, unless an earlier version is mined after all. */
  const fill = Effect.fn("Outbox.fill")(function* (input: OutgoingTransaction) {
    const state = yield* Effect.option(wallet.state)
    // Another instance may store its own version first.
    for (let time = 0; time < maxFillAttempts; time++) {
      const transaction = yield* reload(input)
      if (transaction.outcome !== null || wallet.isFiller(transaction.versions[0])) return
      const fees = fillerFees(feesOf(transaction.versions[0]), Option.getOrUndefined(state))
      const raw = yield* wallet.signFiller(fees, transaction.nonce)
      const answer = yield* offerVersion(transaction, raw)
      if (answer === undefined) continue
      if (answer === "no_funds") {
        yield* repo.recordRefusal(transaction, yield* DateTime.nowAsDate)
        yield* onEmpty
      }
      return
    }
  })

  /** Offers refused transactions again. False while one is still refused, because nothing after it would be mined. */
  const unblock = Effect.fn("Outbox.unblock")(function* () {
    const waiting = (yield* repo.open(wallet.address)).filter(({ refusedAt }) => refusedAt !== null)
    for (const transaction of waiting) {
      const answer = yield* wallet.broadcast(transaction.versions[0], idsOf(transaction))
      if (answer === "no_funds") return false
      yield* repo.recordRefusal(transaction, null)
    }
    return true
  })

  /** The newest block when this process first saw a version open. */
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

  /** Re-signs it with a higher fee if its fee keeps it out of blocks. Returns true if it did. */
  const tryReprice = Effect.fnUntraced(function* (transaction: OutgoingTransaction, head: bigint) {
    const { known, state } = yield* Effect.all({
      known: wallet.knows(idsOf(transaction)),
      state: wallet.state
    })
    const next = reprice(transaction.versions[0], state, {
      known: known === "unknown" ? undefined : known === "accepted",
      blocksCome: blocksSince(transaction, head) >= refusedAfterBlocks
    })
    if (next === "empty") yield* onEmpty
    if (next === "empty" || next === "keep") return false
    const answer = yield* offerVersion(transaction, yield* wallet.signWithFees(next, transaction.versions[0]))
    if (answer === "no_funds") yield* onEmpty
    else if (transaction.refusedAt !== null) yield* repo.recordRefusal(transaction, null)
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
    if (yield* isUnwanted(transaction)) return yield* fill(transaction)
    const isStuck = transaction.nonce === next && age >= millis(timing.stuckAfter)
    if (isStuck && (yield* tryReprice(transaction, head))) return
    // A taken nonce is left until a block has passed it: only then is its owner certain.
    const answer = yield* wallet.broadcast(transaction.versions[0], idsOf(transaction))
    if (answer === "no_funds") yield* onEmpty
    if (transaction.refusedAt !== null && answer !== "no_funds") yield* repo.recordRefusal(transaction, null)
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
   * Fills nonces before our first one for which no node has a transaction: transactions of another user of the key, or
   * of the service before its database was restored, have left the pools. Nothing is mined until they are filled.
   */
  const fillGap = Effect.fnUntraced(function* (first: OutgoingTransaction, next: number) {
    const now = yield* DateTime.nowAsDate
    if (first.nonce <= next || now.getTime() - first.signedAt.getTime() < millis(timing.stuckAfter)) return
    const state = yield* wallet.state
    const from = Math.max(next, state.nonce)
    // A node that lies about a nonce cannot make the wallet pay gas for all nonces before it.
    if (first.nonce - from > maxFilled) return
    const l1Fee = yield* wallet.l1Fee(0)
    for (let nonce = from; nonce < first.nonce; nonce++) {
      const raw = yield* wallet.signFiller(state.fees, nonce)
      const filler = yield* repo.fillGap(wallet.address, nonce, raw, now, maxWeiOf(raw) + l1Fee)
      if (filler !== undefined && (yield* wallet.broadcast(raw, idsOf(filler))) === "no_funds") yield* onEmpty
    }
  })

  /** Replaces the reserved cost of ended transactions by their actual cost, once a majority shows their receipts. */
  const recordCosts = Effect.fnUntraced(function* (now: Date) {
    const since = plusMillis(now, -budgetWindowMillis)
    for (const { nonce, transactionId } of yield* repo.withoutCost(wallet.address, since)) {
      const cost = yield* wallet.minedCost(transactionId)
      if (cost !== undefined) yield* repo.recordCost(wallet.address, nonce, transactionId, cost)
    }
  })

  /** Finishes open transactions: records mined ones, rebroadcasts older ones, and raises the fees of stuck ones. */
  const finishOpen = Effect.gen(function* () {
    const open = yield* repo.open(wallet.address)
    const now = yield* DateTime.nowAsDate
    if (open.length === 0 && now.getTime() < endedCheckAt) return
    yield* recordCosts(now)
    const hasEnded = yield* repo.hasEndedSince(
      wallet.address,
      new Date(minedReadAt === undefined ? 0 : minedReadAt - replacedMillis)
    )
    const isIdle = open.length === 0 && !hasEnded
    endedCheckAt = now.getTime() + (isIdle ? idleEndedCheckMillis : endedCheckAfter)
    if (isIdle) return
    const { next, head } = yield* Effect.all(
      { next: wallet.nextMinedNonce, head: wallet.head },
      { concurrency: "unbounded" }
    )
    // Their blocks were replaced: nothing after them is mined until they are mined again.
    const reorganised = yield* repo.endedFrom(wallet.address, next)
    yield* Effect.forEach(reorganised, reopen, { discard: true })
    minedReadAt = now.getTime()
    const due = reorganised.length === 0 ? open : yield* repo.open(wallet.address)
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
    /** Repeats `finishOpen` until its scope closes. */
    worker: Effect.gen(function* () {
      const due = yield* DueWork
      // Earlier if a transaction ends before that.
      const untilEndedCheck = Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.sleep(Math.min(endedCheckAfter, Math.max(millis(timing.checkEvery), endedCheckAt - now)))
      ).pipe(Effect.andThen(Clock.currentTimeMillis), Effect.repeat({ until: (now) => now >= endedCheckAt }))
      const pause = Effect.raceFirst(due.next("wallet transactions", timing.checkEvery), untilEndedCheck)
      // The first check waits, so that the wallet's key is derived beside the first requests and not before them.
      yield* startPeriodic(
        "Checking a wallet's open transactions",
        Effect.void,
        Effect.andThen(pause, finishOpen)
      )
    })
  }
}

export type Outbox = ReturnType<typeof makeOutbox>
