// Decides under the relayer's wallet's lock whether an authorization may be relayed: its settlement and
// payment are still pending, and the budgets of merchant and payer suffice. The same transaction then stores
// the signed transaction.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, toBytes } from "../../chain/ChainBytes.ts"
import {
  budgetWindowMillis,
  type Entry,
  OutboxRepo,
  type OutgoingTransaction
} from "../../chain/wallets/OutboxRepo.ts"
import type { Address, TransactionHash } from "../../domain/Chain.ts"
import type { MerchantId } from "../../domain/Merchant.ts"
import type { RelayBound } from "../../domain/networks.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { SettleReason } from "../../domain/SettleReason.ts"
import { attachLeaseMillis } from "../../payments/attachLeaseMillis.ts"
import { hasOwnTransfer } from "../Settlements/hasOwnTransferSql.ts"

export interface BudgetedRelay {
  readonly merchantId: MerchantId
  readonly payer: Address
  /** The maximum cost of the transaction. */
  readonly wei: bigint
  /** The price for transactions whose cost an earlier release did not record. */
  readonly maxFeePerGas: bigint
  readonly at: Date
  /** The maximum in wei within any 24 hours. */
  readonly bounds: { readonly [B in RelayBound]: bigint }
  /** True if the wallet has only its reserve left, which is for merchants that have relayed little. */
  readonly onlyReserve: boolean
}

export interface RelayOrder extends Omit<Entry, keyof BudgetedRelay>, BudgetedRelay {
  readonly purpose: "settle" | "cancel"
  /** The wallet's next nonce according to the chain. */
  readonly chainNonce: number
}

/** The limit that prevents the relay. */
export type RelayLimit = RelayBound | "reverts" | "reserve"

export type Reservation =
  | { readonly _tag: "Created"; readonly transaction: OutgoingTransaction }
  /** The reference's transaction that is still open or has moved money. */
  | { readonly _tag: "Known"; readonly transaction: OutgoingTransaction }
  /** The settlement has ended or its payment is no longer pending: nothing is sent. */
  | { readonly _tag: "Closed" }
  /** The wallet has signed a transaction that no node accepts: later transactions would wait behind it. */
  | { readonly _tag: "Blocked" }
  | { readonly _tag: "OverBudget"; readonly limit: RelayLimit }

/** After this many reverts within a day, nothing is relayed for a payer. */
const revertsPerDay = 3
/** The reserve serves each merchant only up to this fraction (1/n) of its budget. */
const reservedShare = 20n

const decodeUsage = Schema.decodeUnknownEffect(
  Schema.Struct({
    merchant: Schema.BigIntFromString,
    payer: Schema.BigIntFromString,
    total: Schema.BigIntFromString,
    reverts: Schema.Int
  })
)
const decodeStatus = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ status: Schema.String })))
const decodeSettlement = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({ payment_id: Schema.String, opens_payment: Schema.Boolean, payer: AddressBytes })
  )
)

export class RelayerRepo extends Context.Service<
  RelayerRepo,
  {
    /** Signs and stores inside the lock, unless the reference has an open transaction. */
    readonly take: (wallet: Address, order: RelayOrder) => Effect.Effect<Reservation>
    /** The limit that the order would exceed now, if any. */
    readonly limitOf: (wallet: Address, order: BudgetedRelay) => Effect.Effect<RelayLimit | undefined>
    /**
     * True if a settlement may still move its money with one of these transactions. Either it and its payment
     * are pending and its payer has sent nothing else, or one of these settled it.
     */
    readonly isWanted: (settlementId: string, ids: ReadonlyArray<TransactionHash>) => Effect.Effect<boolean>
    /** True if operators have an open alert that the wallet relays nothing. */
    readonly isStopped: (wallet: Address) => Effect.Effect<boolean>
  }
>()("quittance/x402/RelayerRepo") {
  static readonly layer: Layer.Layer<RelayerRepo, never, SqlClient.SqlClient | OutboxRepo> = Layer.effect(
    RelayerRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const outbox = yield* OutboxRepo

      /** Runs under the settlement's row lock. */
      const endUnsent = Effect.fnUntraced(function* (settlementId: string, reason: SettleReason, at: Date) {
        const transactions = yield* sql`
          SELECT 1 FROM wallet_transactions WHERE reference = ${settlementId} AND purpose = 'settle' LIMIT 1`
        yield* transactions.length === 0
          ? sql`
              UPDATE x402_settlements SET status = 'failed', error_reason = ${reason}, told_reason = NULL,
                finished_at = ${at}, next_look_at = NULL
              WHERE id = ${settlementId} AND status = 'pending'`
          : sql`
              UPDATE x402_settlements SET told_reason = ${reason}
              WHERE id = ${settlementId} AND status = 'pending'`
        return transactions.length === 0 ? "failed" : "reported"
      })

      const statusOf = (rows: ReadonlyArray<unknown>) =>
        Effect.map(decodeStatus(rows), ([row]) => row?.status)
      const lockSettlement = (id: string) =>
        Effect.flatMap(sql`SELECT status FROM x402_settlements WHERE id = ${id} FOR UPDATE`, statusOf)

      /** Locks the payment, then the settlement, in the order that all code uses. */
      const isInFlight = Effect.fnUntraced(function* (settlementId: string, at: Date) {
        const [settlement] = yield* Effect.flatMap(
          sql`SELECT payment_id, opens_payment, payer FROM x402_settlements WHERE id = ${settlementId}`,
          decodeSettlement
        )
        if (settlement === undefined) return false
        const payment = yield* Effect.flatMap(
          sql`SELECT status FROM payments WHERE id = ${settlement.payment_id} FOR NO KEY UPDATE`,
          statusOf
        )
        if ((yield* lockSettlement(settlementId)) !== "pending") return false
        if (payment === undefined && settlement.opens_payment) return true
        if (payment === "pending") {
          // A released settlement reserves the payment again, unless another settlement has it. Nothing is
          // sent if the payer has since paid by a transfer, or may still do so.
          const reserved = yield* sql`
            UPDATE x402_settlements s SET reserves = true
            WHERE s.id = ${settlementId} AND NOT EXISTS (
              SELECT 1 FROM x402_settlements o
              WHERE o.payment_id = s.payment_id AND o.id <> s.id AND o.status <> 'failed' AND o.reserves)
            AND (s.opens_payment OR NOT EXISTS (
              SELECT 1 FROM payments p
              WHERE p.id = s.payment_id AND ${hasOwnTransfer(sql, toBytes(settlement.payer))}))
            -- Nothing is sent either while a person attaches a transfer, of any sender, to the payment.
            AND NOT EXISTS (
              SELECT 1 FROM incoming_transfers t
              WHERE t.attached_to = s.payment_id AND t.payment_id IS NULL AND t.match_at IS NOT NULL
                AND t.handled_at > ${plusMillis(at, -attachLeaseMillis)}::timestamptz)
            RETURNING s.id`
          if (reserved.length > 0) return true
        }
        const reason =
          payment === "pending"
            ? "payment_already_taken"
            : payment === "settled"
              ? "payment_already_settled"
              : "payment_failed"
        yield* endUnsent(settlementId, reason, at)
        return false
      })

      /**
       * Counts only this wallet's transactions: another network has its own budget. A transaction counts with
       * its maximum cost until it has ended and a receipt shows the actual cost.
       */
      const overBudget = Effect.fnUntraced(function* (wallet: Address, order: BudgetedRelay) {
        const { bounds, merchantId, payer, wei } = order
        const since = plusMillis(order.at, -budgetWindowMillis)
        const costs = sql`merchant_id, payer, CASE WHEN outcome = 'lost' THEN 0
          ELSE coalesce(spent_wei, reserved_wei, gas * ${order.maxFeePerGas.toString()}::numeric) END AS wei`
        const [row] = yield* sql`
          SELECT
            coalesce(sum(wei) FILTER (WHERE merchant_id = ${merchantId}), 0)::text AS merchant,
            coalesce(sum(wei) FILTER (WHERE payer = ${toBytes(payer)}), 0)::text AS payer,
            coalesce(sum(wei), 0)::text AS total,
            -- A revert does not count if somebody else had submitted the authorization first: it has paid.
            (SELECT count(*)::int FROM wallet_transactions t
              WHERE t.payer = ${toBytes(payer)} AND t.created_at > ${since} AND t.outcome = 'reverted'
                AND t.wallet = ${toBytes(wallet)}
                AND NOT EXISTS (SELECT 1 FROM x402_settlements s
                  WHERE s.id = t.reference AND s.status = 'settled')) AS reverts
          FROM (
            SELECT ${costs} FROM wallet_transactions WHERE wallet = ${toBytes(wallet)} AND ended_at IS NULL
            UNION ALL
            SELECT ${costs} FROM wallet_transactions WHERE wallet = ${toBytes(wallet)} AND ended_at > ${since}
          ) AS day`
        const usage = yield* decodeUsage(row)
        const limit = (): RelayLimit | undefined => {
          if (usage.reverts >= revertsPerDay) return "reverts"
          if (usage.total + wei > bounds.total) return "total"
          if (usage.payer + wei > bounds.payer) return "payer"
          if (usage.merchant + wei > bounds.merchant) return "merchant"
          if (order.onlyReserve && usage.merchant + wei > bounds.merchant / reservedShare) return "reserve"
          return undefined
        }
        return limit()
      })

      return RelayerRepo.of({
        take: Effect.fn("RelayerRepo.take")(function* (wallet, order) {
          const { at, chainNonce, purpose, reference } = order
          return yield* outbox.locked(
            wallet,
            Effect.gen(function* (): Effect.fn.Return<Reservation, unknown> {
              const latest = yield* outbox.latest(wallet, reference, purpose)
              if (latest !== undefined && (latest.outcome === null || latest.outcome === "moved"))
                return { _tag: "Known", transaction: latest }
              if (purpose === "settle" && !(yield* isInFlight(reference, at))) return { _tag: "Closed" }
              if (yield* outbox.blocked(wallet)) return { _tag: "Blocked" }
              const limit = yield* overBudget(wallet, order)
              if (limit !== undefined) return { _tag: "OverBudget", limit }
              const [transaction] = yield* outbox.append(wallet, chainNonce, [order])
              if (transaction === undefined) return yield* Effect.die(new Error("No row was returned"))
              yield* sql`UPDATE x402_settlements SET told_reason = NULL WHERE id = ${reference}`
              return { _tag: "Created", transaction }
            })
          )
        }, Effect.orDie),

        limitOf: Effect.fn("RelayerRepo.limitOf")(overBudget, Effect.orDie),

        isWanted: Effect.fn("RelayerRepo.isWanted")(function* (settlementId, ids) {
          const rows = yield* sql`
            SELECT 1 FROM x402_settlements s LEFT JOIN payments p ON p.id = s.payment_id
            WHERE s.id = ${settlementId} AND CASE s.status
              WHEN 'settled' THEN s.transaction_id = ANY(${ids.map(toBytes)}::bytea[])
              WHEN 'pending' THEN CASE
                WHEN s.opens_payment THEN p.id IS NULL OR p.status = 'pending'
                ELSE p.status = 'pending' AND NOT ${hasOwnTransfer(sql, sql`s.payer`)}
                  -- A reorganisation reopened this settlement, and another settlement has the payment now.
                  AND NOT EXISTS (
                    SELECT 1 FROM x402_settlements o
                    WHERE o.payment_id = s.payment_id AND o.id <> s.id AND o.status <> 'failed' AND o.reserves) END
              ELSE false END`
          return rows.length > 0
        }, Effect.orDie),

        isStopped: Effect.fn("RelayerRepo.isStopped")(function* (wallet) {
          const rows = yield* sql`
            SELECT 1 FROM alerts
            WHERE kind = 'relaying_stopped' AND subject = ${wallet} AND acknowledged_at IS NULL`
          return rows.length > 0
        }, Effect.orDie)
      })
    })
  )
}
