// The relaying wallet's outbox: nonces are taken under one lock and a signed transaction is
// stored before it is broadcast, so that a crash neither forgets nor doubles it.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, hexToBytes, keccak256 } from "viem"
import { HashBytes, toBytes } from "../chain/ChainBytes.ts"
import type { Ending } from "../chain/HotWallet.ts"
import type { Address, TransactionHash } from "../domain/Chain.ts"

export type RelayPurpose = "settle" | "cancel"

export interface RelayedTransaction {
  readonly nonce: number
  readonly purpose: RelayPurpose
  /** What it is sent for: a settlement or an agent's payment. */
  readonly reference: string
  readonly raw: Hex
  readonly transactionId: TransactionHash
  /** Versions at a lower fee, of which each may still be the one that is mined. */
  readonly earlier: ReadonlyArray<TransactionHash>
  /** Null while no block has passed its nonce. */
  readonly outcome: Ending | null
  readonly createdAt: Date
}

const Row = Schema.Struct({
  nonce: Schema.BigInt,
  purpose: Schema.Literals(["settle", "cancel"]),
  reference: Schema.String,
  raw: Schema.Uint8Array,
  transaction_id: HashBytes,
  earlier_ids: Schema.Array(HashBytes),
  outcome: Schema.NullOr(Schema.Literals(["moved", "reverted", "lost"])),
  created_at: Schema.Date
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const decodeNonce = Schema.decodeUnknownEffect(Schema.Struct({ next: Schema.BigInt }))

// Named: a statement that Postgres has planned with `*` fails once a later release adds a column.
const columns = Object.keys(Row.fields).join(", ")

const toTransaction = (row: typeof Row.Type): RelayedTransaction => ({
  nonce: Number(row.nonce),
  purpose: row.purpose,
  reference: row.reference,
  raw: `0x${Buffer.from(row.raw).toString("hex")}`,
  transactionId: row.transaction_id,
  earlier: row.earlier_ids,
  outcome: row.outcome,
  createdAt: row.created_at
})

const hashOf = (raw: Hex): Uint8Array => hexToBytes(keccak256(raw))

export class RelayerRepo extends Context.Service<
  RelayerRepo,
  {
    /**
     * The reference's transaction that is still open or has moved something; otherwise a new one,
     * signed inside the lock with the wallet's next nonce.
     */
    readonly take: (input: {
      readonly wallet: Address
      readonly purpose: RelayPurpose
      readonly reference: string
      /** The wallet's next nonce as the chain tells it. */
      readonly chainNonce: number
      readonly at: Date
      readonly sign: (nonce: number) => Effect.Effect<Hex>
    }) => Effect.Effect<{ readonly transaction: RelayedTransaction; readonly created: boolean }>
    /** The newest transaction sent for a reference. */
    readonly latest: (reference: string) => Effect.Effect<RelayedTransaction | undefined>
    /** Transactions whose nonce no block has passed yet, by nonce. */
    readonly open: (wallet: Address) => Effect.Effect<ReadonlyArray<RelayedTransaction>>
    readonly end: (
      wallet: Address,
      nonce: number,
      transactionId: TransactionHash,
      outcome: Ending,
      at: Date
    ) => Effect.Effect<void>
    /** Replaces the signed bytes of an open transaction; false where another instance was first. */
    readonly replace: (
      wallet: Address,
      transaction: RelayedTransaction,
      raw: Hex,
      at: Date
    ) => Effect.Effect<boolean>
    /** Forgets a transaction that every node refused, where its nonce is the wallet's last; otherwise it stays open. */
    readonly withdraw: (wallet: Address, nonce: number) => Effect.Effect<boolean>
  }
>()("quittance/x402/RelayerRepo") {
  static readonly layer: Layer.Layer<RelayerRepo, never, SqlClient.SqlClient> = Layer.effect(
    RelayerRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const lock = sql`SELECT pg_advisory_xact_lock(hashtext('quittance relayer'))`
      const decode = (rows: ReadonlyArray<unknown>) =>
        Effect.map(decodeRows(rows), (all) => all.map(toTransaction))

      return RelayerRepo.of({
        take: Effect.fn("RelayerRepo.take")(function* ({ wallet, purpose, reference, chainNonce, at, sign }) {
          return yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* lock
              const [known] = yield* Effect.flatMap(
                sql`
                  SELECT ${sql.literal(columns)} FROM relayer_transactions
                  WHERE reference = ${reference} AND (mined_at IS NULL OR outcome = 'moved')
                  ORDER BY created_at DESC LIMIT 1`,
                decode
              )
              if (known !== undefined) return { transaction: known, created: false }
              const [row] = yield* sql`
                SELECT greatest(${chainNonce}::bigint, coalesce(max(nonce) + 1, 0)) AS next
                FROM relayer_transactions WHERE wallet = ${toBytes(wallet)}`
              const nonce = Number((yield* decodeNonce(row)).next)
              const raw = yield* sign(nonce)
              const [transaction] = yield* Effect.flatMap(
                sql`
                  INSERT INTO relayer_transactions
                    (wallet, nonce, purpose, reference, raw, transaction_id, created_at)
                  VALUES (${toBytes(wallet)}, ${nonce}, ${purpose}, ${reference}, ${hexToBytes(raw)},
                    ${hashOf(raw)}, ${at})
                  RETURNING ${sql.literal(columns)}`,
                decode
              )
              if (transaction === undefined) return yield* Effect.die(new Error("No row was returned"))
              return { transaction, created: true }
            })
          )
        }, Effect.orDie),

        latest: Effect.fn("RelayerRepo.latest")(function* (reference) {
          const rows = yield* sql`
            SELECT ${sql.literal(columns)} FROM relayer_transactions WHERE reference = ${reference} ORDER BY created_at DESC LIMIT 1`
          return (yield* decode(rows))[0]
        }, Effect.orDie),

        open: Effect.fn("RelayerRepo.open")(function* (wallet) {
          const rows = yield* sql`
            SELECT ${sql.literal(columns)} FROM relayer_transactions WHERE wallet = ${toBytes(wallet)} AND mined_at IS NULL
            ORDER BY nonce LIMIT 100`
          return yield* decode(rows)
        }, Effect.orDie),

        end: Effect.fn("RelayerRepo.end")(function* (wallet, nonce, transactionId, outcome, at) {
          yield* sql`
            UPDATE relayer_transactions
            SET mined_at = ${at}, outcome = ${outcome}, transaction_id = ${toBytes(transactionId)}
            WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND mined_at IS NULL`
        }, Effect.orDie),

        replace: Effect.fn("RelayerRepo.replace")(function* (wallet, { nonce, raw: old }, raw, at) {
          const rows = yield* sql`
            UPDATE relayer_transactions
            SET raw = ${hexToBytes(raw)}, transaction_id = ${hashOf(raw)}, created_at = ${at},
              earlier_ids = array_prepend(transaction_id, earlier_ids)
            WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND mined_at IS NULL
              AND transaction_id = ${hashOf(old)}
            RETURNING nonce`
          return rows.length > 0
        }, Effect.orDie),

        withdraw: Effect.fn("RelayerRepo.withdraw")(function* (wallet, nonce) {
          return yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* lock
              const rows = yield* sql`
                DELETE FROM relayer_transactions
                WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND mined_at IS NULL AND NOT EXISTS (
                  SELECT 1 FROM relayer_transactions later
                  WHERE later.wallet = ${toBytes(wallet)} AND later.nonce > ${nonce})
                RETURNING nonce`
              return rows.length > 0
            })
          )
        }, Effect.orDie)
      })
    })
  )
}
