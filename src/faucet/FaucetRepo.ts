// The SQL of the faucet: limits and nonces are taken together under one lock, and a
// signed transaction is stored before it is broadcast, so that a crash neither pays
// twice nor forgets.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, hexToBytes, keccak256 } from "viem"
import { HashBytes, toBytes } from "../chain/ChainBytes.ts"
import type { Ending } from "../chain/HotWallet.ts"
import type { Address, TransactionHash } from "../domain/Chain.ts"
import type { GrantRequest } from "./Faucet.ts"
import { type FaucetLimit, faucetLimits, type Held, longestWait } from "./limits.ts"

export type FaucetAsset = "usdc" | "gas"

/** A stored, signed transaction of the wallet. */
export interface OutgoingTransaction {
  readonly nonce: number
  readonly grantId: string
  /** A filler spends the nonce of what was given back. */
  readonly asset: FaucetAsset | "filler"
  readonly raw: Hex
  readonly transactionId: TransactionHash
  /** Versions at a lower fee, of which each may still be the one that is mined. */
  readonly earlier: ReadonlyArray<TransactionHash>
  /** Null while no block has passed its nonce. */
  readonly outcome: Ending | null
  readonly createdAt: Date
}

/** The ids under which it can be in a block. */
export const versionsOf = ({
  transactionId,
  earlier
}: OutgoingTransaction): ReadonlyArray<TransactionHash> => [transactionId, ...earlier]

export interface Reservation {
  readonly grantId: string
  readonly wallet: Address
  readonly request: GrantRequest
  readonly usdcAtomic: bigint
  readonly gasWei: bigint
  readonly at: Date
  /** The wallet's next nonce as the chain tells it. */
  readonly chainNonce: number
  /** Signs locally; called inside the lock. */
  readonly sign: (asset: FaucetAsset, nonce: number) => Effect.Effect<Hex>
}

export type Reserved =
  | { readonly _tag: "Reserved"; readonly transactions: ReadonlyArray<OutgoingTransaction> }
  | ({ readonly _tag: "Limited" } & Held)

const LimitRow = Schema.Struct({
  recipient: Schema.NullOr(Schema.Date),
  merchant: Schema.NullOr(Schema.Date),
  ip: Schema.NullOr(Schema.Date)
})
const TransactionRow = Schema.Struct({
  nonce: Schema.BigInt,
  grant_id: Schema.String,
  asset: Schema.Literals(["usdc", "gas", "filler"]),
  raw: Schema.Uint8Array,
  transaction_id: HashBytes,
  earlier_ids: Schema.Array(HashBytes),
  outcome: Schema.NullOr(Schema.Literals(["moved", "reverted", "lost"])),
  created_at: Schema.Date
})
// Named: a statement that Postgres has planned with `*` fails once a later release adds a column.
const transactionColumns = Object.keys(TransactionRow.fields).join(", ")
const decodeLimit = Schema.decodeUnknownEffect(LimitRow)
const decodeNonce = Schema.decodeUnknownEffect(Schema.Struct({ next: Schema.BigInt }))
const decodeTransactions = Schema.decodeUnknownEffect(Schema.Array(TransactionRow))

const toTransaction = (row: typeof TransactionRow.Type): OutgoingTransaction => ({
  nonce: Number(row.nonce),
  grantId: row.grant_id,
  asset: row.asset,
  raw: `0x${Buffer.from(row.raw).toString("hex")}`,
  transactionId: row.transaction_id,
  earlier: row.earlier_ids,
  outcome: row.outcome,
  createdAt: row.created_at
})

const hashOf = (raw: Hex): Uint8Array => hexToBytes(keccak256(raw))

export class FaucetRepo extends Context.Service<
  FaucetRepo,
  {
    /** The limit that holds a request back now, if any. Takes nothing. */
    readonly held: (request: GrantRequest, at: Date) => Effect.Effect<Held | undefined>
    /** Takes all three limits and the nonces in one step, or says which limit holds and for how long. */
    readonly reserve: (reservation: Reservation) => Effect.Effect<Reserved>
    /** Transactions whose nonce no block has passed yet, by nonce. */
    readonly open: (wallet: Address) => Effect.Effect<ReadonlyArray<OutgoingTransaction>>
    /** A grant's transaction as it is stored now, with the versions of other instances. */
    readonly find: (transaction: OutgoingTransaction) => Effect.Effect<OutgoingTransaction | undefined>
    /**
     * Ends an open transaction under the version that was mined. The grant is `sent` once its USDC has
     * moved, `returned` where that reverted or nothing moved, and `gas_only` where the USDC alone was lost.
     */
    readonly end: (
      wallet: Address,
      transaction: OutgoingTransaction,
      outcome: Ending,
      at: Date
    ) => Effect.Effect<void>
    /** Replaces the signed bytes of an open transaction; false where another instance was first. */
    readonly replace: (
      wallet: Address,
      transaction: OutgoingTransaction,
      raw: Hex,
      at: Date
    ) => Effect.Effect<boolean>
    /**
     * Gives a refused grant back; where its gas was sent (`counted`) it stays counted as `gas_only`.
     * Its nonces are freed where they are the wallet's last,
     * otherwise filled with what `fill` signs, so that later transactions are not stuck.
     */
    readonly giveBack: (
      wallet: Address,
      grantId: string,
      refused: ReadonlyArray<OutgoingTransaction>,
      counted: boolean,
      fill: (nonce: number) => Effect.Effect<Hex>
    ) => Effect.Effect<void>
  }
>()("quittance/faucet/FaucetRepo") {
  static readonly layer: Layer.Layer<FaucetRepo, never, SqlClient.SqlClient> = Layer.effect(
    FaucetRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const lock = sql`SELECT pg_advisory_xact_lock(hashtext('quittance faucet'))`

      /** The grant that keeps each limit full: its end of window is when there is room again. */
      const blocking = (request: GrantRequest, at: Date) => {
        const since = (limit: FaucetLimit) => new Date(at.getTime() - faucetLimits[limit].windowMillis)
        const nth = (limit: FaucetLimit) => faucetLimits[limit].grants - 1
        return sql`
          SELECT
            (SELECT created_at FROM faucet_grants WHERE status <> 'returned'
              AND recipient = ${toBytes(request.recipient)} AND created_at > ${since("recipient")}
              ORDER BY created_at DESC OFFSET ${nth("recipient")} LIMIT 1) AS recipient,
            (SELECT created_at FROM faucet_grants WHERE status <> 'returned'
              AND merchant_id = ${request.merchantId} AND created_at > ${since("merchant")}
              ORDER BY created_at DESC OFFSET ${nth("merchant")} LIMIT 1) AS merchant,
            (SELECT created_at FROM faucet_grants WHERE status <> 'returned'
              AND client_address = ${request.clientAddress} AND created_at > ${since("ip")}
              ORDER BY created_at DESC OFFSET ${nth("ip")} LIMIT 1) AS ip`
      }

      const limited = Effect.fnUntraced(function* (request: GrantRequest, at: Date) {
        const row = yield* decodeLimit((yield* blocking(request, at))[0])
        return longestWait(row, at)
      })

      const insertTransaction = (
        wallet: Address,
        {
          nonce,
          grantId,
          asset,
          raw,
          createdAt
        }: Omit<OutgoingTransaction, "transactionId" | "earlier" | "outcome">
      ) => sql`
        INSERT INTO faucet_transactions (wallet, nonce, grant_id, asset, raw, transaction_id, created_at)
        VALUES (${toBytes(wallet)}, ${nonce}, ${grantId}, ${asset}, ${hexToBytes(raw)}, ${hashOf(raw)}, ${createdAt})
        RETURNING ${sql.literal(transactionColumns)}`

      return FaucetRepo.of({
        held: Effect.fn("FaucetRepo.held")(limited, Effect.orDie),

        reserve: Effect.fn("FaucetRepo.reserve")(function* (reservation) {
          const { grantId, wallet, request, at } = reservation
          return yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* lock
              const held = yield* limited(request, at)
              if (held !== undefined) return { _tag: "Limited", ...held } as const
              yield* sql`
                INSERT INTO faucet_grants
                  (id, merchant_id, recipient, client_address, status, usdc_atomic, gas_wei, created_at)
                VALUES (${grantId}, ${request.merchantId}, ${toBytes(request.recipient)}, ${request.clientAddress},
                  'reserved', ${reservation.usdcAtomic.toString()}::numeric, ${reservation.gasWei.toString()}::numeric, ${at})`
              const [row] = yield* sql`
                SELECT greatest(${reservation.chainNonce}::bigint, coalesce(max(nonce) + 1, 0)) AS next
                FROM faucet_transactions WHERE wallet = ${toBytes(wallet)}`
              const next = Number((yield* decodeNonce(row)).next)
              const transactions: Array<OutgoingTransaction> = []
              for (const [index, asset] of (["gas", "usdc"] as const).entries()) {
                const nonce = next + index
                const raw = yield* reservation.sign(asset, nonce)
                const rows = yield* insertTransaction(wallet, { nonce, grantId, asset, raw, createdAt: at })
                transactions.push(...(yield* decodeTransactions(rows)).map(toTransaction))
              }
              return { _tag: "Reserved", transactions } as const
            })
          )
        }, Effect.orDie),

        open: Effect.fn("FaucetRepo.open")(function* (wallet) {
          const rows = yield* sql`
            SELECT ${sql.literal(transactionColumns)} FROM faucet_transactions WHERE wallet = ${toBytes(wallet)} AND mined_at IS NULL
            ORDER BY nonce LIMIT 100`
          return (yield* decodeTransactions(rows)).map(toTransaction)
        }, Effect.orDie),

        find: Effect.fn("FaucetRepo.find")(function* ({ grantId, nonce }) {
          const rows = yield* sql`
            SELECT ${sql.literal(transactionColumns)} FROM faucet_transactions WHERE grant_id = ${grantId} AND nonce = ${nonce}`
          return (yield* decodeTransactions(rows)).map(toTransaction)[0]
        }, Effect.orDie),

        end: Effect.fn("FaucetRepo.end")(function* (wallet, { grantId, nonce, transactionId }, outcome, at) {
          yield* sql.withTransaction(
            Effect.gen(function* () {
              // Gas and USDC may end at once, in two instances: the second sees what the first has noted.
              yield* sql`SELECT id FROM faucet_grants WHERE id = ${grantId} FOR UPDATE`
              yield* sql`
                UPDATE faucet_transactions
                SET mined_at = ${at}, outcome = ${outcome}, transaction_id = ${toBytes(transactionId)}
                WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND mined_at IS NULL`
              yield* sql`
                UPDATE faucet_grants SET status = CASE
                  WHEN ended.usdc = 'moved' THEN 'sent'
                  WHEN ended.usdc = 'reverted' OR ended.gas IN ('reverted', 'lost') THEN 'returned'
                  ELSE 'gas_only' END
                FROM (
                  SELECT
                    max(outcome) FILTER (WHERE asset = 'usdc') AS usdc,
                    max(outcome) FILTER (WHERE asset = 'gas') AS gas,
                    count(*) FILTER (WHERE asset = 'usdc' AND outcome IS NULL) AS open
                  FROM faucet_transactions WHERE grant_id = ${grantId}
                ) AS ended
                WHERE id = ${grantId} AND status <> 'returned' AND ended.open = 0`
            })
          )
        }, Effect.orDie),

        replace: Effect.fn("FaucetRepo.replace")(function* (wallet, { nonce, raw: old }, raw, at) {
          const rows = yield* sql`
            UPDATE faucet_transactions
            SET raw = ${hexToBytes(raw)}, transaction_id = ${hashOf(raw)}, created_at = ${at},
              earlier_ids = array_prepend(transaction_id, earlier_ids)
            WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND mined_at IS NULL
              AND transaction_id = ${hashOf(old)}
            RETURNING nonce`
          return rows.length > 0
        }, Effect.orDie),

        giveBack: Effect.fn("FaucetRepo.giveBack")(function* (wallet, grantId, refused, counted, fill) {
          yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* lock
              yield* sql`
                UPDATE faucet_grants SET status = ${counted ? "gas_only" : "returned"}
                WHERE id = ${grantId} AND status = 'reserved'`
              // From the last nonce down: what is last is freed, what others have built on is filled.
              for (const { nonce } of [...refused].reverse()) {
                const freed = yield* sql`
                  DELETE FROM faucet_transactions
                  WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce} AND NOT EXISTS (
                    SELECT 1 FROM faucet_transactions later
                    WHERE later.wallet = ${toBytes(wallet)} AND later.nonce > ${nonce})
                  RETURNING nonce`
                if (freed.length > 0) continue
                const raw = yield* fill(nonce)
                yield* sql`
                  UPDATE faucet_transactions
                  SET asset = 'filler', raw = ${hexToBytes(raw)}, transaction_id = ${hashOf(raw)}
                  WHERE wallet = ${toBytes(wallet)} AND nonce = ${nonce}`
              }
            })
          )
        }, Effect.orDie)
      })
    })
  )
}
