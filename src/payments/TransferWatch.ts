// Reads every USDC transfer of each network that executes, block by block, and settles what announced or
// reported payers have sent. What no payment claims is kept for a person to explain. One
// instance reads at a time; the cursor and its lease are a row.

import { Array as Arr, DateTime, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChainReach } from "../chain/ChainReach.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import type { RangeReading } from "../chain/Verification.ts"
import type { Env } from "../domain/Chain.ts"
import { networks } from "../domain/networks.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import { Networks } from "../platform/Networks.ts"
import { DueWork } from "../platform/workers/DueWork.ts"
import { leased } from "../platform/workers/leased.ts"
import { periodic, supervised } from "../platform/workers/supervised.ts"
import { ClaimRepo } from "./ClaimRepo.ts"
import { Payments } from "./Payments.ts"
import type { ChainCursor } from "./TransferRepo/TransferStore.ts"
import { TransferRepo } from "./TransferRepo.ts"
import { makeHeldCursor } from "./TransferWatch/heldCursor.ts"
import { makeMatchTransfer } from "./TransferWatch/matchTransfer.ts"

/** Polling interval for new blocks; longer while no payment is expected. */
const checkEvery = "1 second"
const checkSeldom = "5 seconds"
/** Closer to the head than this, blocks are read one by one, by their hashes. */
const nearMillis = 128_000
/** How far back the first start reads. */
const firstBackfillMillis = 24 * 3_600_000
/** A sweep that takes longer is aborted and restarted. */
const longestSweep = Duration.minutes(5)
/** Blocks read before the lease is renewed and the head asked again. */
const blocksPerSweep = 256n
/** What reached an address before it became a receiver is not ours to explain; clocks may differ. */
const beforeReceiverMillis = 3_600_000
const matchLeaseMillis = 30_000
/** Grace period for reports before an unclaimed transfer raises an alert. */
const alertGrace = Duration.minutes(2)

/** Reads one network. `matchDue` settles what has arrived. */
const readNetwork = Effect.fnUntraced(function* <E, R>(env: Env, matchDue: Effect.Effect<unknown, E, R>) {
  const { blockMillis, logRange: longestRange, name } = networks[env]
  const nearBlocks = BigInt(Math.ceil(nearMillis / blockMillis))
  const firstBackfill = BigInt(Math.ceil(firstBackfillMillis / blockMillis))
  const { confirmations } = yield* AppConfig
  const transferRepo = yield* TransferRepo
  const due = yield* DueWork
  const chain = yield* ChainVerifier
  const reach = yield* ChainReach
  const random = yield* SecureRandom.SecureRandom
  const cursor = makeHeldCursor(transferRepo, env, yield* random.uuidV7())
  let range: bigint = longestRange
  /** Transfers to match have been stored since the last pass. */
  let arrived = false
  /** Up to where blocks are read again, after others have taken their places: what they lack has dropped. */
  let rereadUntil = -1n

  const timeOf = (seconds: bigint) => new Date(Number(seconds) * 1000)

  const cursorAt = Effect.fnUntraced(function* (height: bigint) {
    const reading = yield* chain.readTransfers(env, height, height)
    return reading._tag === "Read"
      ? Option.some<ChainCursor>({
          blockNumber: height,
          blockHash: reading.blockHash,
          blockTime: timeOf(reading.blockTime)
        })
      : Option.none()
  })

  /** Transfers of a reading that reach or leave a receiver of ours, with their owners. */
  const oursOf = Effect.fnUntraced(function* (reading: Extract<RangeReading, { _tag: "Read" }>) {
    const addresses = Arr.dedupe(reading.transfers.flatMap(({ payer, receiver }) => [receiver, payer]))
    const receivers =
      addresses.length === 0 ? new Map<never, never>() : yield* transferRepo.receiversAmong(env, addresses)
    const ours = reading.transfers.filter(
      ({ payer, receiver }) => receivers.has(receiver) || receivers.has(payer)
    )
    const times = new Map<bigint, Date>()
    for (const height of Arr.dedupe(ours.map(({ blockNumber }) => blockNumber))) {
      const own = ours.find(({ blockNumber }) => blockNumber === height)
      if (own?.blockHash === reading.blockHash) {
        times.set(height, timeOf(reading.blockTime))
        continue
      }
      const block = yield* cursorAt(height)
      if (Option.isNone(block) || block.value.blockHash !== own?.blockHash) return Option.none()
      times.set(height, block.value.blockTime)
    }
    /** Those whose address on one side was a receiver by then. */
    const withOwner = (side: "payer" | "receiver") =>
      ours.flatMap((transfer) => {
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

  /** Reads on from the cursor; the new cursor, or none where this sweep ends. */
  const step = Effect.fnUntraced(function* (from: ChainCursor, target: bigint) {
    if (from.blockNumber >= target) return Option.none<ChainCursor>()
    const first = from.blockNumber + 1n
    const far = target - first >= nearBlocks
    const farEnd = target - nearBlocks
    const last = far ? (first + range - 1n < farEnd ? first + range - 1n : farEnd) : first
    const reading = yield* chain.readTransfers(env, first, last)
    if (reading._tag !== "Read") {
      if (reading._tag === "Unread" && far) range = range > 1n ? range / 2n : 1n
      return Option.none<ChainCursor>()
    }
    if (far && range < longestRange) range = range * 2n > longestRange ? longestRange : range * 2n
    if (reading.parentHash !== from.blockHash) {
      rereadUntil = from.blockNumber
      yield* cursor.rewind(from.blockNumber - nearBlocks, cursorAt)
      return Option.none<ChainCursor>()
    }
    const found = yield* oursOf(reading)
    if (Option.isNone(found)) return Option.none<ChainCursor>()
    const to: ChainCursor = {
      blockNumber: last,
      blockHash: reading.blockHash,
      blockTime: timeOf(reading.blockTime)
    }
    const noted = yield* cursor.advance(to, found.value, far || first <= rereadUntil || due.isAwaited())
    if (found.value.transfers.length > 0) arrived = true
    return noted ? Option.some(to) : Option.none<ChainCursor>()
  })

  const firstCursor = Effect.fnUntraced(function* (target: bigint) {
    const start = yield* cursorAt(target > firstBackfill ? target - firstBackfill : 0n)
    if (Option.isSome(start)) yield* transferRepo.startCursor(env, start.value)
  })

  /** Another instance reads, or none has yet. */
  const readByOthers = Effect.fnUntraced(function* (target: bigint) {
    const known = yield* transferRepo.cursor(env)
    if (Option.isNone(known)) yield* firstCursor(target)
    return false
  })

  /** True where more blocks wait. */
  const read = Effect.gen(function* () {
    const reached = reach.reading(env)
    const head = yield* Effect.option(chain.headBlock(env))
    if (Option.isNone(head)) return false
    const target = head.value.number - BigInt(confirmations[env])
    if (target < 0n) return false
    // Whatever has been read of it: what is older than a payment lies below, after an outage as well.
    reached(target)
    const held = yield* cursor.take(due.isAwaited())
    if (Option.isNone(held)) return yield* readByOthers(target)
    let at = held.value
    // Another chain, or a restarted one: read from below its head.
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
    if (arrived) yield* matchDue
    arrived = false
    return at.blockNumber >= began + blocksPerSweep
  })

  yield* Effect.addFinalizer(() => cursor.release.pipe(Effect.timeout("2 seconds"), Effect.ignoreCause))
  yield* periodic(
    `Reading the transfers of ${name}`,
    Effect.suspend(() => Effect.sleep(due.isAwaited() || rereadUntil >= 0n ? checkEvery : checkSeldom)),
    Effect.timeout(read, longestSweep)
  )
})

const make = Effect.gen(function* () {
  const { executing } = yield* Networks
  const transferRepo = yield* TransferRepo
  const claimRepo = yield* ClaimRepo
  const due = yield* DueWork
  const payments = yield* Payments
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts

  // In the order of the chain: of two transfers for one payment, the first settles it.
  const matchDue = leased({
    what: "Matching an incoming transfer",
    leaseMillis: matchLeaseMillis,
    batch: 50,
    concurrency: 1,
    take: transferRepo.takeUnmatched,
    each: makeMatchTransfer({ transferRepo, claimRepo, payments, chain }),
    annotations: ({ transactionId }) => ({ transactionId })
  })

  /** One alert a merchant and day. */
  const alert = Effect.gen(function* () {
    const at = yield* DateTime.nowAsDate
    const storedBefore = new Date(at.getTime() - Duration.toMillis(alertGrace))
    for (const { count, ...tenant } of yield* transferRepo.unalerted(storedBefore)) {
      yield* alerts.raise({
        since: new Date(0),
        kind: "incoming_transfer",
        tenant: Option.some(tenant),
        subject: `${tenant.merchantId} ${tenant.env} ${at.toISOString().slice(0, 10)}`,
        message: `${count === 1 ? "A transfer" : `${count} transfers`} reached your receiving address and no payment claims ${count === 1 ? "it" : "them"}. Attach each to its payment, or mark it as handled.`
      })
      yield* transferRepo.noteAlerted(tenant, storedBefore, at)
    }
  })

  yield* Effect.forEach(executing, (env) => readNetwork(env, matchDue), { discard: true })
  yield* supervised("Matching incoming transfers", due.next("incoming transfers", "2 seconds"), matchDue)
  yield* periodic("Alerting about incoming transfers", Effect.sleep("30 seconds"), alert)
})

/** Runs until its scope closes; any number of instances share the work. */
export const layer: Layer.Layer<
  never,
  never,
  | AppConfig
  | ClaimRepo
  | TransferRepo
  | Payments
  | ChainVerifier
  | ChainReach
  | Alerts
  | SecureRandom.SecureRandom
> = Layer.effectDiscard(make)
