// Creates and proves refunds on Postgres, within the received amount.
import { Effect, Option, Schema } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { toBytes } from "../../../chain/ChainBytes.ts"
import type { Tenant } from "../../../domain/Merchant.ts"
import { plusMillis } from "../../../domain/plusMillis.ts"
import { isUniqueViolation } from "../../../platform/database/isUniqueViolation.ts"
import { attachLeaseMillis } from "../../attachLeaseMillis.ts"
import { TransferAlreadyUsed } from "../../TransferAlreadyUsed.ts"
import { decodeRefundRows, refundColumns } from "./RefundRow.ts"
import type {
  NewRefund,
  RefundBalance,
  RefundCreation,
  RefundProof,
  RefundStore,
  RefundTarget,
  ShownProof
} from "./RefundStore.ts"

const decodePaid = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      state: Schema.Literals(["open", "explained", "unsettled"]),
      paid: Schema.BigIntFromString,
      since_block: Schema.BigInt
    })
  )
)
const decodeSum = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ sum: Schema.BigIntFromString })]))

/** The refunds of a payment, or of a transfer. */
export const isRefundOf = (sql: SqlClient.SqlClient, of: RefundTarget) =>
  "paymentId" in of ? sql`payment_id = ${of.paymentId}` : sql`transfer_id = ${of.transferId}`

export const makeRefundCreationSql = (
  sql: SqlClient.SqlClient
): Pick<RefundStore, "createRefund" | "refundBalance" | "proveRefund"> => {
  const columns = sql.literal(refundColumns())
  const ofTenant = ({ merchantId, env }: Tenant) => sql`merchant_id = ${merchantId} AND env = ${env}`

  const equalClaim = sql`
    SELECT 1 FROM claimed_transfers c WHERE c.chain_id = t.chain_id AND c.transaction_id = t.transaction_id
      AND c.payer = t.payer AND c.receiver = t.receiver AND c.amount = t.amount AND c.ordinal = t.ordinal
      AND c.payment_id IS NOT NULL`

  /** The received amount, locked. */
  const lockTarget = (tenant: Tenant, of: RefundTarget, at: Date) =>
    "paymentId" in of
      ? sql`
          SELECT CASE WHEN p.status = 'settled' THEN 'open' ELSE 'unsettled' END AS state,
            CASE WHEN p.status <> 'settled' OR c.dropped_at IS NOT NULL THEN '0' ELSE p.amount::text END AS paid,
            coalesce(c.block_number, 0) AS since_block
          FROM payments p LEFT JOIN claimed_transfers c ON c.payment_id = p.id
          WHERE p.id = ${of.paymentId} AND p.merchant_id = ${tenant.merchantId} AND p.env = ${tenant.env}
          FOR NO KEY UPDATE OF p`
      : sql`
          SELECT CASE WHEN t.payment_id IS NOT NULL OR t.dropped_at IS NOT NULL OR EXISTS (${equalClaim})
              OR (t.attached_to IS NOT NULL
                AND t.handled_at > ${plusMillis(at, -attachLeaseMillis)}::timestamptz)
            THEN 'explained' ELSE 'open' END AS state,
            CASE WHEN t.dropped_at IS NULL THEN t.amount::text ELSE '0' END AS paid, t.block_number AS since_block
          FROM incoming_transfers t
          WHERE t.id = ${of.transferId} AND t.merchant_id = ${tenant.merchantId} AND t.env = ${tenant.env}
          FOR NO KEY UPDATE OF t`

  const sumOf = Effect.fnUntraced(function* (of: RefundTarget) {
    const [{ sum }] = yield* decodeSum(
      yield* sql`
        SELECT coalesce(sum(amount), 0)::text AS sum FROM refunds
        WHERE ${isRefundOf(sql, of)} AND status IN ('pending', 'proven')`
    )
    return sum
  })

  const insert = (refund: NewRefund, sinceBlock: bigint) => sql`
    INSERT INTO refunds (id, merchant_id, env, payment_id, transfer_id, amount, recipient, since_block, beyond_paid,
      reason, created_by, created_at, created_block, status, transaction_id, named_at, next_look_at)
    VALUES (${refund.id}, ${refund.merchantId}, ${refund.env},
      ${"paymentId" in refund.of ? refund.of.paymentId : null}::uuid,
      ${"transferId" in refund.of ? refund.of.transferId : null}::uuid,
      ${refund.amount.toString()}::numeric, ${toBytes(refund.recipient)}, ${sinceBlock.toString()}::bigint,
      ${refund.beyondPaid}, ${refund.reason}, ${refund.createdBy}, ${refund.at},
      ${refund.createdBlock?.toString() ?? null}::bigint, 'pending',
      ${refund.transactionId === null ? null : toBytes(refund.transactionId)}::bytea,
      ${refund.transactionId === null ? null : refund.at}::timestamptz, ${refund.checkAt})
    ON CONFLICT (id) DO NOTHING RETURNING ${columns}`

  /** The refund that the same request created before. */
  const createdBefore = ({ amount, hasOwnId, id, of, recipient, transactionId, ...tenant }: NewRefund) => sql`
    SELECT ${columns} FROM refunds WHERE id = ${id} AND ${ofTenant(tenant)}
    UNION
    SELECT ${columns} FROM refunds
    WHERE NOT ${hasOwnId}::boolean AND ${isRefundOf(sql, of)} AND ${ofTenant(tenant)} AND status IN ('pending', 'proven')
      AND transaction_id = ${transactionId === null ? null : toBytes(transactionId)}::bytea
      AND recipient = ${toBytes(recipient)} AND amount = ${amount.toString()}::numeric`

  /** Marks the transfer as handled, and closes links that request its outstanding amount or count it in their sum. */
  const handleTransfer = (transferId: string, { at, createdBy, reason }: NewRefund) => sql`
    WITH RECURSIVE counting_payments AS (
      SELECT rest_for AS id FROM payment_links WHERE rest_of = ${transferId} AND rest_for IS NOT NULL
      UNION
      SELECT l.payment_id FROM counting_payments c JOIN payment_links l ON l.rest_for = c.id
      WHERE l.rest_of IS NOT NULL AND l.payment_id IS NOT NULL
    ), closed_remainder_links AS (
      UPDATE payment_links SET closed_at = ${at}
      WHERE closed_at IS NULL AND rest_of IS NOT NULL
        AND (rest_of = ${transferId} OR rest_for IN (SELECT id FROM counting_payments))
    )
    UPDATE incoming_transfers SET handled_at = ${at}, handled_by = ${createdBy}, note = ${reason},
      attached_to = NULL, match_at = NULL
    WHERE id = ${transferId} AND (handled_at IS NULL OR attached_to IS NOT NULL) RETURNING id`

  /** Proves the refund and claims its log, both or neither. */
  const prove = Effect.fnUntraced(
    function* (id: string, { at, checkAt, proof }: ShownProof) {
      const [proven] = yield* decodeRefundRows(sql`
        WITH proven AS (
          UPDATE refunds r SET status = 'proven', proven_at = ${at}, next_look_at = ${checkAt},
            transaction_id = ${toBytes(proof.transactionId)}, sender = ${toBytes(proof.sender)},
            ordinal = ${proof.ordinal}::integer, block_number = ${proof.blockNumber.toString()}::bigint,
            block_hash = ${toBytes(proof.blockHash)}
          WHERE r.id = ${id} AND r.status = 'pending' AND NOT EXISTS (
            SELECT 1 FROM claimed_transfers c
            WHERE c.chain_id = ${proof.chainId} AND c.transaction_id = ${toBytes(proof.transactionId)}
              AND c.block_hash <> ${toBytes(proof.blockHash)})
          RETURNING ${columns}
        ), new_claim AS (
          INSERT INTO claimed_transfers
            (chain_id, transaction_id, log_position, payer, receiver, amount, ordinal, refund_id, block_number,
             block_hash)
          SELECT ${proof.chainId}::integer, transaction_id, ${proof.logPosition}::integer, sender, recipient,
            amount, ordinal, id, block_number, block_hash FROM proven
        ), reassigned_transfer AS (
          -- If the transfer was read in the meantime, it was stored for the address's current merchant.
          UPDATE outgoing_transfers t SET merchant_id = p.merchant_id FROM proven p
          WHERE t.chain_id = ${proof.chainId} AND t.transaction_id = p.transaction_id AND t.payer = p.sender
            AND t.receiver = p.recipient AND t.amount = p.amount AND t.ordinal = p.ordinal
            AND t.merchant_id <> p.merchant_id
        )
        SELECT ${columns} FROM proven`)
      return proven
    },
    Effect.catch((error) =>
      SqlError.isSqlError(error) && isUniqueViolation(error)
        ? Effect.fail(new TransferAlreadyUsed())
        : Effect.die(error)
    )
  )

  /** True if a payment or another refund claims the log, in any block. */
  const isTaken = Effect.fnUntraced(function* ({ amount, recipient }: NewRefund, proof: RefundProof) {
    const claims = yield* sql`
      SELECT 1 FROM claimed_transfers
      WHERE chain_id = ${proof.chainId} AND transaction_id = ${toBytes(proof.transactionId)}
        AND payer = ${toBytes(proof.sender)} AND receiver = ${toBytes(recipient)}
        AND amount = ${amount.toString()}::numeric AND ordinal = ${proof.ordinal}`
    return claims.length > 0
  })

  return {
    createRefund: Effect.fn("RefundRepo.createRefund")(
      function* (refund, shown): Effect.fn.Return<RefundCreation, unknown> {
        const [target] = yield* decodePaid(yield* lockTarget(refund, refund.of, refund.at))
        if (target === undefined) return { _tag: "Unknown" }
        const [before] = yield* decodeRefundRows(createdBefore(refund))
        if (before !== undefined) return { _tag: "Known", refund: before }
        if (target.state !== "open") return { _tag: target.state === "explained" ? "Explained" : "Unsettled" }
        const balance: RefundBalance = { paid: target.paid, refunded: yield* sumOf(refund.of) }
        if (!refund.beyondPaid && balance.refunded + refund.amount > balance.paid)
          return { _tag: "Exceeds", balance }
        const [created] = yield* decodeRefundRows(insert(refund, target.since_block))
        if (created === undefined) {
          // Another merchant's refund has the id. Or a refund of another payment or transfer took it in the meantime,
          // because that one's lock does not block this one.
          const [other] = yield* decodeRefundRows(createdBefore(refund))
          return other === undefined ? { _tag: "IdTaken" } : { _tag: "Known", refund: other }
        }
        if ("transferId" in refund.of && (yield* handleTransfer(refund.of.transferId, refund)).length > 0)
          yield* sql`UPDATE refunds SET took_transfer = true WHERE id = ${created.id}`
        if (shown === undefined) return { _tag: "Created", refund: created }
        const proven = yield* prove(created.id, shown)
        if (proven === undefined && (yield* isTaken(refund, shown.proof)))
          return yield* new TransferAlreadyUsed()
        return { _tag: "Created", refund: proven ?? created }
      },
      (effect) => sql.withTransaction(effect),
      Effect.catch((error) => (error instanceof TransferAlreadyUsed ? Effect.fail(error) : Effect.die(error)))
    ),

    refundBalance: Effect.fn("RefundRepo.refundBalance")(function* (tenant, of) {
      const [{ paid }] = yield* Schema.decodeUnknownEffect(
        Schema.Tuple([Schema.Struct({ paid: Schema.BigIntFromString })])
      )(
        "paymentId" in of
          ? yield* sql`
              SELECT coalesce((
                SELECT p.amount FROM payments p JOIN claimed_transfers c ON c.payment_id = p.id
                WHERE p.id = ${of.paymentId} AND p.merchant_id = ${tenant.merchantId} AND p.env = ${tenant.env}
                  AND p.status = 'settled' AND c.dropped_at IS NULL), 0)::text AS paid`
          : yield* sql`
              SELECT coalesce((
                SELECT amount FROM incoming_transfers
                WHERE id = ${of.transferId} AND ${ofTenant(tenant)} AND dropped_at IS NULL), 0)::text AS paid`
      )
      return { paid, refunded: yield* sumOf(of) }
    }, Effect.orDie),

    proveRefund: Effect.fn("RefundRepo.proveRefund")(function* (id, proof, at, checkAt) {
      return Option.fromUndefinedOr(yield* prove(id, { proof, at, checkAt }))
    })
  }
}
