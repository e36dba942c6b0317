// Reads the transfers of one network that reach or leave a receiver, up to the head, block by block near it. One
// instance reads at a time; the cursor and its lease are a row.
import { Array as Arr, Clock, Duration, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChainHeights } from "../../chain/ChainHeights.ts"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import { batchSize, everyTransfer, maxFiltered, receiverFilter } from "../../chain/ReceiverFilter.ts"
import type { RangeReading } from "../../chain/Verification.ts"
import type { Env } from "../../domain/Chain.ts"
import { formatUsd } from "../../domain/Money.ts"
import { minNoticeableAmount } from "../../domain/minNoticeableAmount.ts"
import { blocksIn, networks } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Alerts } from "../../platform/alerts/Alerts.ts"
import { DueWork } from "../../platform/workers/DueWork.ts"
import { startWorker } from "../../platform/workers/startWorker.ts"
import { WorkerProgress } from "../../platform/workers/WorkerProgress.ts"
import type { ChainCursor } from "../TransferRepo/TransferStore.ts"
import { TransferRepo } from "../TransferRepo.ts"
import { makeCursorLease } from "./cursorLease.ts"
import { makeLogRangeSize } from "./logRangeSize.ts"

/** Blocks this close to the head may still be replaced. A reorganisation is read again from this far back. */
const nearMillis = 128_000
/** The period that the first start reads back. */
const firstBackfillMillis = 24 * 3_600_000
/** A sweep that takes longer is aborted and restarted. */
const maxSweepTime = Duration.minutes(5)
/** Blocks read before the lease is renewed and the head is queried again. */
const blocksPerSweep = 256n
/** Transfers that reached an address before it became a receiver are ignored, with a margin for clock differences. */
const beforeReceiverMillis = 3_600_000
/** Ranges that are read at once, far from the head. */
const rangesAtOnce = 3
/** The nodes must lack the next block for this long, because one machine of several may be without old blocks. */
const gapMillis = 30_000
/** Nodes that refuse a single block's logs for this long, but not those of newer blocks, lack them. */
const refusedMillis = 10 * 60_000

type Reading = Extract<RangeReading, { _tag: "Read" }>

/** Reads the network's transfers until its scope closes. `matchDue` settles payments by the transfers that arrived. */
export const readNetwork = Effect.fnUntraced(function* <E, R>(
  env: Env,
  matchDue: Effect.Effect<unknown, E, R>
) {
  const { logRange: maxRange, name, pollMillis, readsHeadByHash } = networks[env]
  const nearBlocks = blocksIn(env, nearMillis)
  const firstBackfill = blocksIn(env, firstBackfillMillis)
  const { confirmations } = yield* AppConfig
  const transferRepo = yield* TransferRepo
  const due = yield* DueWork
  const chain = yield* ChainVerifier
  const chainHeights = yield* ChainHeights
  const random = yield* SecureRandom.SecureRandom
  const cursor = makeCursorLease(transferRepo, env, yield* random.uuidV7())
  const alerts = yield* Alerts
  const progress = yield* WorkerProgress
  /** The subject under which `WorkerProgress` reports why blocks are not read. */
  const subject = `transfers ${env}`
  const logRangeSize = makeLogRangeSize(maxRange)
  let filter = { key: "not read yet", far: everyTransfer, near: everyTransfer }
  /** The times since which the nodes lack the next block, and since which they refuse its logs, in milliseconds. */
  let missingSince: number | undefined
  let refusedSince: number | undefined
  /** True if transfers to match have been stored since the last pass. */
  let hasNewTransfers = false
  /** The height up to which replaced blocks are read again. Stored transfers that these blocks lack have dropped. */
  let rereadUntil = -1n

  const timeOf = (seconds: bigint) => new Date(Number(seconds) * 1000)

  const cursorOf = (blockNumber: bigint, { blockHash, blockTime }: Reading): ChainCursor => ({
    blockNumber,
    blockHash,
    blockTime: timeOf(blockTime)
  })

  /** Read after the head: an address is registered before a buyer sees it, and so before any block that pays it. */
  const readFilter = Effect.gen(function* () {
    const receivers = yield* transferRepo.receivers(env, maxFiltered + 1)
    const key = receivers.toSorted().join(" ")
    if (key === filter.key) return
    filter = { key, far: receiverFilter(receivers), near: receiverFilter(receivers, batchSize) }
  })

  const cursorAt = Effect.fnUntraced(function* (height: bigint) {
    const reading = yield* chain.readTransfers(env, height, height, receiverFilter([]))
    return reading._tag === "Read" ? Option.some(cursorOf(height, reading)) : Option.none()
  })

  /** The oldest readable block above one that the nodes lack or refuse; none if the nodes do not say. */
  const oldestAbove = Effect.fnUntraced(function* (missing: bigint, target: bigint) {
    let low = missing
    let high = target
    let oldest = yield* chain.readTransfers(env, high, high, filter.near)
    if (oldest._tag !== "Read") return Option.none()
    while (high - low > 1n) {
      const middle = (low + high) / 2n
      const reading = yield* chain.readTransfers(env, middle, middle, filter.near)
      if (reading._tag === "Read") [high, oldest] = [middle, reading]
      else if (reading._tag === "Missing" || (reading._tag === "Unread" && reading.refused)) low = middle
      else return Option.none()
    }
    return Option.some({ height: high, reading: oldest })
  })

  /** A reading's transfers that reach or leave one of our receivers, with their owners. */
  const receiverTransfersOf = Effect.fnUntraced(function* (reading: Reading) {
    const addresses = Arr.dedupe(reading.transfers.flatMap(({ payer, receiver }) => [receiver, payer]))
    const receivers =
      addresses.length === 0 ? new Map<never, never>() : yield* transferRepo.receiversAmong(env, addresses)
    const receiverTransfers = reading.transfers.filter(
      ({ payer, receiver }) => receivers.has(receiver) || receivers.has(payer)
    )
    const times = new Map<bigint, Date>()
    for (const height of Arr.dedupe(receiverTransfers.map(({ blockNumber }) => blockNumber))) {
      const own = receiverTransfers.find(({ blockNumber }) => blockNumber === height)
      if (own?.blockHash === reading.blockHash) {
        times.set(height, timeOf(reading.blockTime))
        continue
      }
      const block = yield* cursorAt(height)
      if (Option.isNone(block) || block.value.blockHash !== own?.blockHash) return Option.none()
      times.set(height, block.value.blockTime)
    }
    /** Transfers that had a receiver on this side when they happened. */
    const withOwner = (side: "payer" | "receiver") =>
      receiverTransfers.flatMap((transfer) => {
        const owner = receivers.get(transfer[side])
        const blockTime = times.get(transfer.blockNumber)
        return owner === undefined ||
          blockTime === undefined ||
          blockTime.getTime() < owner.since.getTime() - beforeReceiverMillis
          ? []
          : [{ ...transfer, merchantId: owner.merchantId, blockTime }]
      })
    const transfers = yield* Effect.forEach(withOwner("receiver"), (transfer) =>
      Effect.map(random.uuidV7(), (id) => ({ ...transfer, id }))
    )
    return Option.some({ transfers, outgoing: withOwner("payer") })
  })

  /** Alerts merchants about transfers of other tokens: these pay nothing, and must be sent back. */
  const alertOtherTokens = Effect.fnUntraced(function* ({ others }: Reading) {
    const large = others.filter(({ amount }) => amount >= minNoticeableAmount)
    if (large.length === 0) return
    const receivers = yield* transferRepo.receiversAmong(
      env,
      Arr.dedupe(large.map((transfer) => transfer.receiver))
    )
    for (const { amount, ordinal, payer, receiver, symbol, transactionId } of large) {
      const owner = receivers.get(receiver)
      if (owner === undefined) continue
      yield* alerts.raise({
        since: new Date(0),
        kind: "other_token",
        tenant: Option.some({ merchantId: owner.merchantId, env }),
        subject: `${transactionId} ${receiver} ${amount} ${ordinal}`,
        message: `${formatUsd(amount)} ${symbol} reached ${receiver} from ${payer}, in transaction ${transactionId}. ${symbol} is not USDC and settles no payment. Return it from your wallet, and ask for USDC.`
      })
    }
  })

  const reportObstacle = (words: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => progress.recordFailure(subject, now, words))

  /** Stores a range that follows the cursor. Returns the new cursor, or none if this sweep ends. */
  const store = Effect.fnUntraced(function* (last: bigint, reading: Reading, immediately: boolean) {
    const receiverTransfers = yield* receiverTransfersOf(reading)
    if (Option.isNone(receiverTransfers)) return Option.none<ChainCursor>()
    yield* alertOtherTokens(reading)
    const to = cursorOf(last, reading)
    const isAdvanced = yield* cursor.advance(to, receiverTransfers.value, immediately || due.isAwaited(env))
    if (receiverTransfers.value.transfers.length > 0) hasNewTransfers = true
    return isAdvanced ? Option.some(to) : Option.none<ChainCursor>()
  })

  /** The nodes no longer have the block after the cursor: continues with their oldest block, and alerts. */
  const skipGap = Effect.fnUntraced(function* (from: ChainCursor, target: bigint) {
    const now = yield* Clock.currentTimeMillis
    missingSince ??= now
    yield* reportObstacle(`the nodes lack block ${from.blockNumber + 1n}`)
    if (now - missingSince < gapMillis) return Option.none<ChainCursor>()
    const oldest = yield* oldestAbove(from.blockNumber + 1n, target)
    if (Option.isNone(oldest)) return Option.none<ChainCursor>()
    const { height, reading } = oldest.value
    const next = yield* store(height, reading, true)
    if (Option.isNone(next)) return next
    const [first, last] = [from.blockNumber + 1n, height - 1n]
    yield* alerts.raise({
      kind: "chain_gap",
      tenant: Option.none(),
      env,
      subject: `${env} ${first}`,
      message: `The nodes of ${name} no longer return blocks ${first} to ${last} (${from.blockTime.toISOString()} to ${next.value.blockTime.toISOString()}), which have not been read. Transfers in them settle only payments that are reported, and are not listed: compare the balances of the receiving addresses with the books. Configure a node that keeps logs for longer than an outage may last.`
    })
    return next
  })

  /** Reads on from the cursor. Returns the new cursor, or none if this sweep ends. */
  const step = Effect.fnUntraced(function* (from: ChainCursor, target: bigint) {
    const first = from.blockNumber + 1n
    const far = !readsHeadByHash || target - first >= nearBlocks
    const now = yield* Clock.currentTimeMillis
    const blocks = far ? logRangeSize.at(now) : 1n
    const lastBlock = !far ? first : readsHeadByHash ? target - nearBlocks : target
    /** Ranges that are read at once: a distant provider answers them in the time of one. */
    const ends = Arr.makeBy(far ? rangesAtOnce : 1, (index) => first + blocks * BigInt(index + 1) - 1n)
      .map((end) => (end < lastBlock ? end : lastBlock))
      .filter((end, index, all) => index === 0 || end > (all[index - 1] ?? end))
    const readings = yield* Effect.forEach(
      ends,
      (end, index) => {
        const begin = index === 0 ? first : (ends[index - 1] ?? first) + 1n
        return Effect.map(
          chain.readTransfers(env, begin, end, far ? filter.far : filter.near),
          (reading) => ({
            begin,
            end,
            reading
          })
        )
      },
      { concurrency: "unbounded" }
    )
    let at = from
    for (const { begin, end, reading } of readings) {
      if (reading._tag === "Missing") return yield* skipGap(at, target)
      if (
        reading._tag === "Unread" &&
        reading.refused &&
        far &&
        logRangeSize.recordRefusal(end - begin + 1n, now)
      )
        return Option.some(at)
      if (reading._tag === "Unread")
        yield* reportObstacle(
          `blocks ${begin} to ${end}: ${reading.refused ? "the nodes refuse to return their logs" : "the nodes do not answer, or contradict each other"}`
        )
      if (reading._tag === "Unread" && reading.refused && begin === end) {
        refusedSince ??= now
        if (now - refusedSince >= refusedMillis) return yield* skipGap(at, target)
      }
      if (reading._tag !== "Read") return Option.none<ChainCursor>()
      missingSince = undefined
      refusedSince = undefined
      progress.recordSuccess(subject)
      if (far) logRangeSize.recordAnswer(end - begin + 1n)
      if (reading.parentHash !== at.blockHash) {
        rereadUntil = at.blockNumber
        yield* cursor.rewind(at.blockNumber - nearBlocks, cursorAt)
        return Option.none<ChainCursor>()
      }
      const next = yield* store(end, reading, far || begin <= rereadUntil)
      if (Option.isNone(next)) return next
      at = next.value
    }
    return Option.some(at)
  })

  const firstCursor = Effect.fnUntraced(function* (target: bigint) {
    const height = target > firstBackfill ? target - firstBackfill : 0n
    const reading = yield* chain.readTransfers(env, height, height, receiverFilter([]))
    if (reading._tag === "Read") return yield* transferRepo.startCursor(env, cursorOf(height, reading))
    const oldest = reading._tag === "Missing" ? yield* oldestAbove(height, target) : Option.none()
    if (Option.isNone(oldest)) return
    yield* Effect.logInfo(
      `The nodes of ${name} have no block before ${oldest.value.height}: transfers are read from there on`
    )
    yield* transferRepo.startCursor(env, cursorOf(oldest.value.height, oldest.value.reading))
  })

  /** Another instance is reading, or none has started yet. */
  const seedCursor = Effect.fnUntraced(function* (target: bigint) {
    const cursorNow = yield* transferRepo.cursor(env)
    if (Option.isNone(cursorNow)) yield* firstCursor(target)
    return false
  })

  /** True if more blocks are waiting. */
  const read = Effect.gen(function* () {
    const recordHeight = chainHeights.beginReading(env)
    const head = yield* Effect.option(chain.headBlock(env))
    if (Option.isNone(head)) return false
    const target = head.value.number - BigInt(confirmations[env])
    if (target < 0n) return false
    // The height of the chain, not of what was read: only transfers above it pay a payment that opens now.
    recordHeight(target, head.value.time)
    const lease = yield* cursor.take(due.isAwaited(env))
    yield* readFilter
    if (Option.isNone(lease)) return yield* seedCursor(target)
    let at = lease.value
    // Another chain, or a restarted one: reads from below its head.
    if (at.blockNumber > target + nearBlocks) {
      yield* cursor.rewind(target - nearBlocks, cursorAt)
      return false
    }
    if (at.blockNumber >= rereadUntil) rereadUntil = -1n
    const began = at.blockNumber
    while (at.blockNumber < target && at.blockNumber < began + blocksPerSweep) {
      const next = yield* step(at, target)
      if (Option.isNone(next)) break
      at = next.value
    }
    if (hasNewTransfers) yield* matchDue
    hasNewTransfers = false
    return at.blockNumber >= began + blocksPerSweep
  })

  /** A payment that is opened while the reader idles ends the pause. */
  const untilNextPoll = Effect.gen(function* () {
    for (let slept = 0; slept < pollMillis.idle; slept += pollMillis.awaited) {
      yield* Effect.sleep(pollMillis.awaited)
      if (due.isAwaited(env) || rereadUntil >= 0n) return
    }
  })

  yield* Effect.addFinalizer(() => cursor.release.pipe(Effect.timeout("2 seconds"), Effect.ignoreCause))
  yield* startWorker(`Reading the transfers of ${name}`, untilNextPoll, Effect.timeout(read, maxSweepTime))
})
