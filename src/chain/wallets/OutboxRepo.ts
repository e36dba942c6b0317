// Storage of the transactions that the service's wallets sign. Nonces are assigned under one lock per wallet, a
// transaction is stored before its broadcast, and no signed version is ever deleted.
import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Hex, hexToBytes, keccak256 } from "viem"
import { type Address, TransactionHash } from "../../domain/Chain.ts"
import type { MerchantId } from "../../domain/Merchant.ts"
import { HashBytes, toBytes } from "../ChainBytes.ts"

/** The longest run of lost nonces that is filled. */
export const maxFilled = 64
/** The cost of a transaction counts in the day's budgets for this long after its end. */
export const budgetWindowMillis = 24 * 3_600_000

export type Purpose = "settle" | "cancel" | "gas" | "usdc" | "filler"

/**
 * The end of a nonce: its transaction moved the money or reverted, a filler used it, or a foreign transaction did.
 */
export type Outcome = "moved" | "reverted" | "filled" | "lost"

/** A stored, signed transaction of a wallet. */
export interface OutgoingTransaction {
  readonly wallet: Address
  readonly nonce: number
  readonly purpose: Purpose
  /** The object that the transaction serves: a settlement, an agent's payment or a grant. */
  readonly reference: string
  /** Signed bytes, newest first. Each may be the one that is mined. */
  readonly versions: readonly [Hex, ...ReadonlyArray<Hex>]
  /** Versions of which only the id is stored. */
  readonly earlier: ReadonlyArray<TransactionHash>
  /** The time since which all nodes refuse its newest version because the wallet cannot pay for it. */
  readonly refusedAt: Date | null
  /** Null while no block has passed its nonce. */
  readonly outcome: Outcome | null
  /** The version in a block. */
  readonly transactionId: TransactionHash | null
  readonly blockNumber: bigint | null
  readonly createdAt: Date
  /** The time at which its newest version was signed. */
  readonly signedAt: Date
}

export interface Entry {
  readonly purpose: Exclude<Purpose, "filler">
  readonly reference: string
  /** The merchant whose budget pays for it, if any. */
  readonly merchantId: MerchantId | null
  readonly payer: Address | null
  /** The gas limit. */
  readonly gas: bigint
  /** The most wei that it may cost, which counts until its outcome is known. */
  readonly wei: bigint
  readonly at: Date
  /** Signs locally; called inside the lock. */
  readonly sign: (nonce: number) => Effect.Effect<Hex>
}

export interface TransactionEnd {
  readonly outcome: Outcome
  readonly transactionId: TransactionHash | null
  readonly blockNumber: bigint | null
}

export const idOf = (raw: Hex): TransactionHash => TransactionHash.make(keccak256(raw))

/** The ids under which it can be in a block, newest first. */
export const idsOf = ({ versions, earlier }: OutgoingTransaction): ReadonlyArray<TransactionHash> => [
  ...versions.map(idOf),
  ...earlier
]

const Row = Schema.Struct({
  nonce: Schema.BigInt,
  purpose: Schema.Literals(["settle", "cancel", "gas", "usdc", "filler"]),
  reference: Schema.String,
  versions: Schema.NonEmptyArray(Schema.Uint8Array),
  earlier_ids: Schema.Array(HashBytes),
  refused_at: Schema.NullOr(Schema.Date),
  outcome: Schema.NullOr(Schema.Literals(["moved", "reverted", "filled", "lost"])),
  transaction_id: Schema.NullOr(HashBytes),
  block_number: Schema.NullOr(Schema.BigInt),
  created_at: Schema.Date,
  signed_at: Schema.Date
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const decodeMined = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ nonce: Schema.BigInt, transaction_id: HashBytes }))
)
const decodeSpent = Schema.decodeUnknownEffect(Schema.Struct({ wei: Schema.NullOr(Schema.BigIntFromString) }))
const decodeNonce = Schema.decodeUnknownEffect(Schema.Struct({ next: Schema.BigInt }))

// Listed by name: a prepared statement with `*` fails after a later release adds a column.
const columns = Object.keys(Row.fields).join(", ")

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`

const toTransaction =
  (wallet: Address) =>
  (row: typeof Row.Type): OutgoingTransaction => {
    const [newest, ...older] = row.versions
    return {
      wallet,
      nonce: Number(row.nonce),
      purpose: row.purpose,
      reference: row.reference,
      versions: [hexOf(newest), ...older.map(hexOf)],
      earlier: row.earlier_ids,
      refusedAt: row.refused_at,
      outcome: row.outcome,
      transactionId: row.transaction_id,
      blockNumber: row.block_number,
      createdAt: row.created_at,
      signedAt: row.signed_at
    }
  }

export class OutboxRepo extends Context.Service<
  OutboxRepo,
  {
    /** Runs statements in one transaction under the wallet's lock, so that deciding and appending are one step. */
    readonly locked: <A, E, R>(
      wallet: Address,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | SqlError.SqlError, R>
    /**
     * True if the wallet cannot pay for an open transaction, which blocks all later nonces. Call it within `locked`.
     */
    readonly blocked: (wallet: Address) => Effect.Effect<boolean>
    /**
     * Signs and stores under the wallet's next nonces, in this order. If a gap of lost nonces is longer than
     * `maxFilled`, these are the first nonces of the gap. Call it within `locked`.
     */
    readonly append: (
      wallet: Address,
      /** The wallet's next nonce according to the chain. */
      chainNonce: number,
      entries: ReadonlyArray<Entry>
    ) => Effect.Effect<ReadonlyArray<OutgoingTransaction>>
    /** Stores a filler under a nonce without a transaction of ours; undefined if another instance was first. */
    readonly fillGap: (
      wallet: Address,
      nonce: number,
      raw: Hex,
      at: Date,
      wei: bigint
    ) => Effect.Effect<OutgoingTransaction | undefined>
    /** The newest transaction sent for a reference. */
    readonly latest: (
      wallet: Address,
      reference: string,
      purpose: Purpose
    ) => Effect.Effect<OutgoingTransaction | undefined>
    readonly find: (wallet: Address, nonce: number) => Effect.Effect<OutgoingTransaction | undefined>
    /** Transactions whose nonce no block has passed yet, by nonce. */
    readonly open: (wallet: Address) => Effect.Effect<ReadonlyArray<OutgoingTransaction>>
    /** True if any transaction has ended since then: its block may still be replaced. */
    readonly hasEndedSince: (wallet: Address, since: Date) => Effect.Effect<boolean>
    /** Ended transactions whose nonce is no longer passed by a block, the first hundred by nonce. */
    readonly endedFrom: (
      wallet: Address,
      nextNonce: number
    ) => Effect.Effect<ReadonlyArray<OutgoingTransaction>>
    /** Reopens a transaction that was reorganised away; `versions` in broadcast order. */
    readonly reopen: (transaction: OutgoingTransaction, versions: ReadonlyArray<Hex>) => Effect.Effect<void>
    /**
     * Puts another signed version first and reserves its additional cost; undefined if another instance was first, or
     * the transaction has ended.
     */
    readonly addVersion: (
      transaction: OutgoingTransaction,
      raw: Hex,
      at: Date,
      wei: bigint
    ) => Effect.Effect<OutgoingTransaction | undefined>
    /** Records since when the wallet cannot pay for its newest version; null once it can. */
    readonly recordRefusal: (transaction: OutgoingTransaction, refusedAt: Date | null) => Effect.Effect<void>
    /** Ends an open transaction; an outcome is never overwritten. */
    readonly end: (transaction: OutgoingTransaction, ended: TransactionEnd, at: Date) => Effect.Effect<void>
    /** Mined transactions that ended since then and whose cost is not known yet, the newest hundred. */
    readonly withoutCost: (
      wallet: Address,
      since: Date
    ) => Effect.Effect<ReadonlyArray<{ readonly nonce: number; readonly transactionId: TransactionHash }>>
    /** Records the cost of the mined version, unless it is no longer mined. */
    readonly recordCost: (
      wallet: Address,
      nonce: number,
      transactionId: TransactionHash,
      wei: bigint
    ) => Effect.Effect<void>
    /** The wallet's average spending per day since then, in wei; undefined if it spent nothing. */
    readonly spentADay: (wallet: Address, since: Date, at: Date) => Effect.Effect<bigint | undefined>
  }
>()("quittance/chain/OutboxRepo") {
  static readonly layer: Layer.Layer<OutboxRepo, never, SqlClient.SqlClient> = Layer.effect(
    OutboxRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const all = sql.literal(columns)
      const turn = Semaphore.makeUnsafe(1)
      const decode = (wallet: Address) => (rows: ReadonlyArray<unknown>) =>
        Effect.map(decodeRows(rows), (decoded) => decoded.map(toTransaction(wallet)))

      return OutboxRepo.of({
        // Within this process, callers wait for their turn without a connection; only instances wait for the lock.
        locked: (wallet, effect) =>
          turn.withPermit(
            sql.withTransaction(
              Effect.andThen(
                sql`SELECT pg_advisory_xact_lock(hashtext(${`quittance wallet ${wallet}`}))`,
                effect
              )
            )
          ),

        blocked: Effect.fn("OutboxRepo.blocked")(function* (wallet) {
          const rows = yield* sql`
            SELECT 1 FROM wallet_transactions
            WHERE wallet = ${toBytes(wallet)} AND ended_at IS NULL AND refused_at IS NOT NULL LIMIT 1`
          return rows.length > 0
        }, Effect.orDie),

        append: Effect.fn("OutboxRepo.append")(function* (wallet, chainNonce, entries) {
          // After the last nonce, or before the first gap that is too long to fill.
          const [row] = yield* sql`
            SELECT coalesce(min(free) FILTER (WHERE nonce - free > ${maxFilled}), max(nonce) + 1, ${chainNonce}::bigint) AS next
            FROM (
              SELECT nonce, lag(nonce + 1, 1, ${chainNonce}::bigint) OVER (ORDER BY nonce) AS free
              FROM wallet_transactions WHERE wallet = ${toBytes(wallet)} AND nonce >= ${chainNonce}
            ) ahead`
          const next = Number((yield* decodeNonce(row)).next)
          const stored: Array<OutgoingTransaction> = []
          for (const [index, entry] of entries.entries()) {
            const raw = yield* entry.sign(next + index)
            const rows = yield* sql`
              INSERT INTO wallet_transactions
                (wallet, nonce, purpose, reference, merchant_id, payer, gas, reserved_wei, versions, created_at, signed_at)
              VALUES (${toBytes(wallet)}, ${next + index}, ${entry.purpose}, ${entry.reference},
                ${entry.merchantId}, ${entry.payer === null ? null : toBytes(entry.payer)},
                ${entry.gas.toString()}::bigint, ${entry.wei.toString()}::numeric, ARRAY[${hexToBytes(raw)}::bytea], ${entry.at}, ${entry.at})
              RETURNING ${all}`
            stored.push(...(yield* decode(wallet)(rows)))
          }
          return stored
        }, Effect.orDie),

        fillGap: Effect.fn("OutboxRepo.fillGap")(function* (wallet, nonce, raw, at, wei) {
          const rows = yield* sql`
            INSERT INTO wallet_transactions
              (wallet, nonce, purpose, reference, gas, reserved_wei, versions, created_at, signed_at)
            VALUES (${toBytes(wallet)}, ${nonce}, 'filler', gen_random_uuid(), 21000, ${wei.toString()}::numeric,
              ARRAY[${hexToBytes(raw)}::bytea], ${at}, ${at})
            ON CONFLICT (wallet, nonce) DO NOTHING RETURNING ${all}`
          return (yield* decode(wallet)(rows))[0]
        }, Effect.orDie),

        latest: Effect.fn("OutboxRepo.latest")(function* (wallet, reference, purpose) {
          const rows = yield* sql`
            SELECT ${all} FROM wallet_transactions
            WHERE reference = ${reference} AND purpose = ${purpose} AND wallet = ${toBytes(wallet)}
            ORDER BY created_at DESC, nonce DESC LIMIT 1`
          return (yield* decode(wallet)(rows))[0]
        }, Effect.orDie),

        find: Effect.fn("OutboxRepo.find")(function* (wallet, nonce) {
          const rows = yield* sql`
            SELECT ${all} FROM wallet_transactions WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce}`
          return (yield* decode(wallet)(rows))[0]
        }, Effect.orDie),

        open: Effect.fn("OutboxRepo.open")(function* (wallet) {
          const rows = yield* sql`
            SELECT ${all} FROM wallet_transactions WHERE wallet = ${toBytes(wallet)} AND ended_at IS NULL
            ORDER BY nonce LIMIT 100`
          return yield* decode(wallet)(rows)
        }, Effect.orDie),

        hasEndedSince: Effect.fn("OutboxRepo.hasEndedSince")(function* (wallet, since) {
          const rows = yield* sql`
            SELECT 1 FROM (
              SELECT ended_at FROM wallet_transactions
              WHERE wallet = ${toBytes(wallet)} ORDER BY nonce DESC LIMIT 100
            ) newest WHERE ended_at > ${since} LIMIT 1`
          return rows.length > 0
        }, Effect.orDie),

        endedFrom: Effect.fn("OutboxRepo.endedFrom")(function* (wallet, nextNonce) {
          const rows = yield* sql`
            SELECT ${all} FROM wallet_transactions
            WHERE wallet = ${toBytes(wallet)} AND nonce >= ${nextNonce} AND ended_at IS NOT NULL
            ORDER BY nonce LIMIT 100`
          return yield* decode(wallet)(rows)
        }, Effect.orDie),

        reopen: Effect.fn("OutboxRepo.reopen")(function* ({ nonce, transactionId, wallet }, versions) {
          yield* sql`
            UPDATE wallet_transactions SET ended_at = NULL, outcome = NULL, transaction_id = NULL,
              block_number = NULL, spent_wei = NULL, versions = ${versions.map((raw) => hexToBytes(raw))}::bytea[]
            WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND ended_at IS NOT NULL
              AND transaction_id IS NOT DISTINCT FROM ${transactionId === null ? null : toBytes(transactionId)}::bytea`
        }, Effect.orDie),

        addVersion: Effect.fn("OutboxRepo.addVersion")(function* ({ wallet, nonce, versions }, raw, at, wei) {
          const rows = yield* sql`
            UPDATE wallet_transactions
            SET versions = array_prepend(${hexToBytes(raw)}::bytea, versions), signed_at = ${at},
              reserved_wei = reserved_wei + ${wei.toString()}::numeric
            WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND ended_at IS NULL
              AND versions[1] = ${hexToBytes(versions[0])}::bytea
            RETURNING ${all}`
          return (yield* decode(wallet)(rows))[0]
        }, Effect.orDie),

        recordRefusal: Effect.fn("OutboxRepo.recordRefusal")(function* ({ wallet, nonce }, refusedAt) {
          yield* sql`
            UPDATE wallet_transactions SET refused_at = ${refusedAt}
            WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND ended_at IS NULL`
        }, Effect.orDie),

        end: Effect.fn("OutboxRepo.end")(function* ({ wallet, nonce }, ended, at) {
          yield* sql`
            UPDATE wallet_transactions SET ended_at = ${at}, outcome = ${ended.outcome}, refused_at = NULL,
              transaction_id = ${ended.transactionId === null ? null : toBytes(ended.transactionId)},
              block_number = ${ended.blockNumber === null ? null : ended.blockNumber.toString()}::bigint
            WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND ended_at IS NULL`
        }, Effect.orDie),

        withoutCost: Effect.fn("OutboxRepo.withoutCost")(function* (wallet, since) {
          const rows = yield* sql`
            SELECT nonce, transaction_id FROM wallet_transactions
            WHERE wallet = ${toBytes(wallet)} AND ended_at > ${since} AND spent_wei IS NULL
              AND transaction_id IS NOT NULL
            ORDER BY ended_at DESC LIMIT 100`
          return (yield* decodeMined(rows)).map(({ nonce, transaction_id }) => ({
            nonce: Number(nonce),
            transactionId: transaction_id
          }))
        }, Effect.orDie),

        recordCost: Effect.fn("OutboxRepo.recordCost")(function* (wallet, nonce, transactionId, wei) {
          yield* sql`
            UPDATE wallet_transactions SET spent_wei = ${wei.toString()}::numeric
            WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND transaction_id = ${toBytes(transactionId)}`
        }, Effect.orDie),

        spentADay: Effect.fn("OutboxRepo.spentADay")(function* (wallet, since, at) {
          // A wallet's first transaction has its lowest nonce.
          const [row] = yield* sql`
            SELECT trunc(sum(spent_wei) / greatest(1, extract(epoch FROM ${at}::timestamptz - greatest(${since}::timestamptz,
              (SELECT created_at FROM wallet_transactions WHERE wallet = ${toBytes(wallet)} ORDER BY nonce LIMIT 1))) / 86400))::text AS wei
            FROM wallet_transactions WHERE wallet = ${toBytes(wallet)} AND ended_at > ${since}`
          const { wei } = yield* decodeSpent(row)
          return wei === null || wei === 0n ? undefined : wei
        }, Effect.orDie)
      })
    })
  )
}
