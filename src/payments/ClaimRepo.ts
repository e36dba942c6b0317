// Moves a settled payment's claim to another transfer after a reorganisation, on Postgres.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { HashBytes, toBytes } from "../chain/ChainBytes.ts"
import { networks } from "../domain/networks.ts"
import { isUniqueViolation } from "../platform/database/isUniqueViolation.ts"
import type { ClaimReplacement, ClaimStore, DroppedClaim } from "./ClaimRepo/ClaimStore.ts"
import { explainTransfer, isClaimable, lockedTransfer } from "./claimingSql.ts"
import { ownRows, PaymentRow, paymentColumns, toPayment } from "./PaymentRow.ts"
import { TransferAlreadyUsed } from "./TransferAlreadyUsed.ts"

const decodeDropped = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      ...PaymentRow.fields,
      claimed_transaction_id: HashBytes,
      is_recorded: Schema.Boolean,
      nonces: Schema.Array(Schema.BigIntFromString)
    })
  ),
  ownRows
)

const decodeClaims = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ transaction_id: HashBytes, dropped_at: Schema.NullOr(Schema.Date) }))
)

/** The number of a payer's newest attempts that are searched for a nonce. */
const comparedAttempts = 100

const make = (sql: SqlClient.SqlClient): ClaimStore => {
  const replacement = (claiming: ClaimReplacement) => {
    const { at, env, paymentId, payer, transfer } = claiming
    return sql`
      WITH locked_payment AS (
        SELECT p.id AS locked_id, p.receiver AS locked_receiver, p.amount AS locked_amount, p.intent_url AS locked_url,
          p.merchant_id AS locked_merchant
        FROM payments p
        WHERE p.id = ${paymentId} AND p.env = ${env} AND p.status = 'settled' AND p.payer_address = ${toBytes(payer)}
        FOR NO KEY UPDATE
      ), locked_transfer AS (${lockedTransfer(sql, claiming)}
      ), former_transfer AS (
        -- Locked: the chain reader has recorded its return before, or reads it again afterwards.
        SELECT t.id, t.dropped_at
        FROM locked_payment JOIN claimed_transfers c ON c.payment_id = locked_id JOIN incoming_transfers t
          ON t.chain_id = c.chain_id AND t.transaction_id = c.transaction_id AND t.payer = c.payer
            AND t.receiver = c.receiver AND t.amount = c.amount AND t.ordinal = c.ordinal
        FOR NO KEY UPDATE OF t
      ), dropped_claim AS (
        SELECT c.chain_id, c.transaction_id, c.payer, c.receiver, c.amount, c.ordinal, c.payment_id
        FROM locked_payment JOIN claimed_transfers c ON c.payment_id = locked_id
        WHERE c.dropped_at IS NOT NULL AND c.transaction_id <> ${toBytes(transfer.transactionId)}
          AND NOT EXISTS (SELECT 1 FROM former_transfer WHERE dropped_at IS NULL)
        FOR UPDATE OF c
      ), replaced_claim AS (
        UPDATE claimed_transfers c SET transaction_id = ${toBytes(transfer.transactionId)},
          ordinal = ${transfer.ordinal}, log_position = ${transfer.logPosition},
          block_number = ${transfer.blockNumber.toString()}::bigint, block_hash = ${toBytes(transfer.blockHash)},
          dropped_at = NULL,
          -- Due immediately, because the check closes the alert.
          watch_at = ${at}
        FROM dropped_claim WHERE c.payment_id = dropped_claim.payment_id AND ${isClaimable(sql, claiming)}
        RETURNING c.chain_id, c.transaction_id, c.payer, c.receiver, c.amount, c.ordinal, c.payment_id
      ), explained_transfer AS (${explainTransfer(sql, sql`replaced_claim c CROSS JOIN locked_payment`, sql`locked_merchant`)}
      ), closed_remainder_links AS (
        UPDATE payment_links SET closed_at = ${at}
        WHERE rest_of IN (SELECT id FROM explained_transfer) AND closed_at IS NULL
      ), released_transfer AS (
        -- If the transfer returns, it is read and matched again.
        UPDATE incoming_transfers t SET payment_id = NULL, match_at = NULL,
          handled_at = NULL, handled_by = NULL, note = NULL, attached_to = NULL
        FROM former_transfer CROSS JOIN replaced_claim WHERE t.id = former_transfer.id
      )
      SELECT payment_id FROM replaced_claim`
  }

  return {
    claimOf: Effect.fn("ClaimRepo.claimOf")(function* (paymentId) {
      const [row] = yield* decodeClaims(
        yield* sql`SELECT transaction_id, dropped_at FROM claimed_transfers WHERE payment_id = ${paymentId}`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ dropped_at, transaction_id }) => ({
        transactionId: transaction_id,
        droppedAt: dropped_at
      }))
    }, Effect.orDie),

    droppedClaims: Effect.fn("ClaimRepo.droppedClaims")(function* (
      { amount, env, payer, receiver, transactionId },
      nonce
    ) {
      const hasNonce = nonce === "any" ? sql`nonce IS NOT NULL` : sql`nonce = ${String(nonce)}::bigint`
      const announced =
        nonce === undefined
          ? sql``
          : sql`UNION SELECT payment_id FROM (
              SELECT payment_id, nonce FROM payment_attempts WHERE payer_address = ${toBytes(payer)}
              ORDER BY announced_at DESC LIMIT ${comparedAttempts}
            ) newest WHERE ${hasNonce}`
      const rows = yield* sql`
        SELECT ${sql.literal(paymentColumns("p."))}, c.transaction_id AS claimed_transaction_id,
          c.dropped_at IS NOT NULL AS is_recorded, coalesce((
            SELECT array_agg(DISTINCT a.nonce::text) FROM payment_attempts a
            WHERE a.payment_id = p.id AND a.payer_address = p.payer_address AND a.nonce IS NOT NULL), '{}') AS nonces
        FROM (
          SELECT payment_id FROM claimed_transfers WHERE dropped_at IS NOT NULL AND payer = ${toBytes(payer)} ${announced}
        ) candidate_claims JOIN claimed_transfers c ON c.payment_id = candidate_claims.payment_id JOIN payments p ON p.id = c.payment_id
        WHERE c.chain_id = ${networks[env].chainId} AND c.payer = ${toBytes(payer)}
          AND c.receiver = ${toBytes(receiver)} AND c.amount = ${amount.toString()}::numeric
          AND c.transaction_id <> ${toBytes(transactionId)} AND p.env = ${env}
          AND p.payer_address = ${toBytes(payer)}
        ORDER BY p.settled_at LIMIT 10`
      return (yield* decodeDropped(rows)).map(
        (row): DroppedClaim => ({
          payment: toPayment(row),
          transactionId: row.claimed_transaction_id,
          isRecorded: row.is_recorded,
          nonces: row.nonces
        })
      )
    }, Effect.orDie),

    replaceClaim: Effect.fn("ClaimRepo.replaceClaim")(
      function* (input) {
        return (yield* replacement(input)).length > 0
      },
      Effect.catch((error) =>
        SqlError.isSqlError(error) && isUniqueViolation(error)
          ? Effect.fail(new TransferAlreadyUsed())
          : Effect.die(error)
      )
    )
  }
}

export class ClaimRepo extends Context.Service<ClaimRepo, ClaimStore>()("quittance/payments/ClaimRepo") {
  static readonly layer: Layer.Layer<ClaimRepo, never, SqlClient.SqlClient> = Layer.effect(
    ClaimRepo,
    Effect.map(SqlClient.SqlClient, make)
  )
  /** Stores no claims. */
  static readonly layerNone: Layer.Layer<ClaimRepo> = Layer.succeed(ClaimRepo, {
    claimOf: () => Effect.succeedNone,
    droppedClaims: () => Effect.succeed([]),
    replaceClaim: () => Effect.succeed(false)
  })
}
