// Refunds on Postgres.
import { Effect, Option, Schema } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { AddressBytes, HashBytes, toBytes } from "../../chain/ChainBytes.ts"
import { isUniqueViolation } from "../../database/isUniqueViolation.ts"
import { Env, networks } from "../../domain/Chain.ts"
import { MerchantId, type Tenant, Uuid } from "../../domain/Merchant.ts"
import { AtomicUsdc } from "../../domain/Money.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { RefundFailure, RefundStatus } from "../../domain/Refund.ts"
import type {
  NewRefund,
  Refund,
  RefundBalance,
  RefundCreation,
  RefundedThing,
  RefundProof,
  RefundStore,
  ShownProof
} from "../RefundStore.ts"
import { attachLeaseMillis } from "../TransferStore.ts"
import { blockTolerance } from "./AttemptStore.ts"
import { TransferAlreadyUsed } from "./TransferAlreadyUsed.ts"

const RefundRow = Schema.Struct({
  id: Uuid,
  merchant_id: MerchantId,
  env: Env,
  payment_id: Schema.NullOr(PaymentId),
  transfer_id: Schema.NullOr(Uuid),
  amount: Schema.BigIntFromString.pipe(Schema.decodeTo(AtomicUsdc)),
  recipient: AddressBytes,
  since_block: Schema.BigInt,
  beyond_paid: Schema.Boolean,
  reason: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: Schema.Date,
  created_block: Schema.NullOr(Schema.BigInt),
  status: RefundStatus,
  transaction_id: Schema.NullOr(HashBytes),
  named_at: Schema.NullOr(Schema.Date),
  sender: Schema.NullOr(AddressBytes),
  ordinal: Schema.NullOr(Schema.Int),
  block_number: Schema.NullOr(Schema.BigInt),
  block_hash: Schema.NullOr(HashBytes),
  proven_at: Schema.NullOr(Schema.Date),
  ended_at: Schema.NullOr(Schema.Date),
  failure_reason: Schema.NullOr(RefundFailure),
  dropped_at: Schema.NullOr(Schema.Date)
})
const columnsOf = (prefix = "") =>
  Object.keys(RefundRow.fields)
    .map((column) => prefix + column)
    .join(", ")
const decodeRefunds = Schema.decodeUnknownEffect(Schema.Array(RefundRow))
const decodePaid = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      standing: Schema.Literals(["open", "explained", "unsettled"]),
      paid: Schema.BigIntFromString,
      since_block: Schema.BigInt
    })
  )
)
const decodeSum = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ sum: Schema.BigIntFromString })]))
const decodeBlocks = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ block_number: Schema.BigInt })))
const decodeAddresses = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ address: AddressBytes })))
const decodeHashes = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ transaction_id: HashBytes })))

const toRefund = (row: typeof RefundRow.Type): Refund => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  paymentId: row.payment_id,
  transferId: row.transfer_id,
  amount: row.amount,
  recipient: row.recipient,
  sinceBlock: row.since_block,
  beyondPaid: row.beyond_paid,
  reason: row.reason,
  createdBy: row.created_by,
  createdAt: row.created_at,
  createdBlock: row.created_block,
  status: row.status,
  transactionId: row.transaction_id,
  namedAt: row.named_at,
  sender: row.sender,
  ordinal: row.ordinal,
  blockNumber: row.block_number,
  blockHash: row.block_hash,
  provenAt: row.proven_at,
  endedAt: row.ended_at,
  failureReason: row.failure_reason,
  droppedAt: row.dropped_at
})

export const makeRefundsSql = (sql: SqlClient.SqlClient): RefundStore => {
  const columns = sql.literal(columnsOf())
  const ofTenant = ({ merchantId, env }: Tenant) => sql`merchant_id = ${merchantId} AND env = ${env}`
  const decode = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
    Effect.flatMap(statement, decodeRefunds).pipe(Effect.map((rows) => rows.map(toRefund)))
  const isOf = (of: RefundedThing) =>
    "paymentId" in of ? sql`payment_id = ${of.paymentId}` : sql`transfer_id = ${of.transferId}`

  const equalClaim = sql`
    SELECT 1 FROM claimed_transfers c WHERE c.chain_id = t.chain_id AND c.transaction_id = t.transaction_id
      AND c.payer = t.payer AND c.receiver = t.receiver AND c.amount = t.amount AND c.ordinal = t.ordinal
      AND c.payment_id IS NOT NULL`

  /** What was received, under its lock. */
  const received = (tenant: Tenant, of: RefundedThing, at: Date) =>
    "paymentId" in of
      ? sql`
          SELECT CASE WHEN p.status = 'settled' THEN 'open' ELSE 'unsettled' END AS standing,
            CASE WHEN p.status <> 'settled' OR c.dropped_at IS NOT NULL THEN '0' ELSE p.amount::text END AS paid,
            coalesce(c.block_number, 0) AS since_block
          FROM payments p LEFT JOIN claimed_transfers c ON c.payment_id = p.id
          WHERE p.id = ${of.paymentId} AND p.merchant_id = ${tenant.merchantId} AND p.env = ${tenant.env}
          FOR NO KEY UPDATE OF p`
      : sql`
          SELECT CASE WHEN t.payment_id IS NOT NULL OR t.dropped_at IS NOT NULL OR EXISTS (${equalClaim})
              OR (t.attached_to IS NOT NULL
                AND t.handled_at > ${new Date(at.getTime() - attachLeaseMillis)}::timestamptz)
            THEN 'explained' ELSE 'open' END AS standing,
            CASE WHEN t.dropped_at IS NULL THEN t.amount::text ELSE '0' END AS paid, t.block_number AS since_block
          FROM incoming_transfers t
          WHERE t.id = ${of.transferId} AND t.merchant_id = ${tenant.merchantId} AND t.env = ${tenant.env}
          FOR NO KEY UPDATE OF t`

  const sumOf = Effect.fnUntraced(function* (of: RefundedThing) {
    const [{ sum }] = yield* decodeSum(
      yield* sql`
        SELECT coalesce(sum(amount), 0)::text AS sum FROM refunds
        WHERE ${isOf(of)} AND status IN ('pending', 'proven')`
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

  /** The one that the same request made before. */
  const known = ({ amount, hasOwnId, id, of, recipient, transactionId, ...tenant }: NewRefund) => sql`
    SELECT ${columns} FROM refunds WHERE id = ${id} AND ${ofTenant(tenant)}
    UNION
    SELECT ${columns} FROM refunds
    WHERE NOT ${hasOwnId}::boolean AND ${isOf(of)} AND ${ofTenant(tenant)} AND status IN ('pending', 'proven')
      AND transaction_id = ${transactionId === null ? null : toBytes(transactionId)}::bytea
      AND recipient = ${toBytes(recipient)} AND amount = ${amount.toString()}::numeric`

  /** Nobody is asked for the rest of what is given back. */
  const take = (transferId: string, { at, createdBy, reason }: NewRefund) => sql`
    WITH unasked AS (
      UPDATE payment_links SET closed_at = ${at} WHERE rest_of = ${transferId} AND closed_at IS NULL
    )
    UPDATE incoming_transfers SET handled_at = ${at}, handled_by = ${createdBy}, note = ${reason},
      attached_to = NULL, match_at = NULL
    WHERE id = ${transferId} AND (handled_at IS NULL OR attached_to IS NOT NULL) RETURNING id`

  /** Both or neither: the refund is proven, and has claimed its log. */
  const prove = Effect.fnUntraced(
    function* (id: string, { at, checkAt, proof }: ShownProof) {
      const [proven] = yield* decode(sql`
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
        ), claimed AS (
          INSERT INTO claimed_transfers
            (chain_id, transaction_id, log_position, payer, receiver, amount, ordinal, refund_id, block_number,
             block_hash)
          SELECT ${proof.chainId}::integer, transaction_id, ${proof.logPosition}::integer, sender, recipient,
            amount, ordinal, id, block_number, block_hash FROM proven
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

  /** Whether a payment or another refund has the log, in whichever block. */
  const isTaken = Effect.fnUntraced(function* ({ amount, recipient }: NewRefund, proof: RefundProof) {
    const claims = yield* sql`
      SELECT 1 FROM claimed_transfers
      WHERE chain_id = ${proof.chainId} AND transaction_id = ${toBytes(proof.transactionId)}
        AND payer = ${toBytes(proof.sender)} AND receiver = ${toBytes(recipient)}
        AND amount = ${amount.toString()}::numeric AND ordinal = ${proof.ordinal}`
    return claims.length > 0
  })

  return {
    createRefund: Effect.fn("PaymentRepo.createRefund")(
      function* (refund, shown): Effect.fn.Return<RefundCreation, unknown> {
        const [thing] = yield* decodePaid(yield* received(refund, refund.of, refund.at))
        if (thing === undefined) return { _tag: "Unknown" }
        const [before] = yield* decode(known(refund))
        if (before !== undefined) return { _tag: "Known", refund: before }
        if (thing.standing !== "open")
          return { _tag: thing.standing === "explained" ? "Explained" : "Unsettled" }
        const balance: RefundBalance = { paid: thing.paid, refunded: yield* sumOf(refund.of) }
        if (!refund.beyondPaid && balance.refunded + refund.amount > balance.paid)
          return { _tag: "Exceeds", balance }
        const [created] = yield* decode(insert(refund, thing.since_block))
        if (created === undefined) {
          // Another merchant's refund has the id, or one of something else took it meanwhile, which its own lock
          // did not keep waiting.
          const [other] = yield* decode(known(refund))
          return other === undefined ? { _tag: "IdTaken" } : { _tag: "Known", refund: other }
        }
        if ("transferId" in refund.of && (yield* take(refund.of.transferId, refund)).length > 0)
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

    findRefund: Effect.fn("PaymentRepo.findRefund")(function* (tenant, id) {
      const [found] = yield* decode(
        sql`SELECT ${columns} FROM refunds WHERE id = ${id} AND ${ofTenant(tenant)}`
      )
      return Option.fromUndefinedOr(found)
    }, Effect.orDie),

    listRefunds: Effect.fn("PaymentRepo.listRefunds")(function* (tenant, { limit, of, startingAfter }) {
      const only = of === undefined ? sql`` : sql`AND ${isOf(of)}`
      const after =
        startingAfter === undefined
          ? sql``
          : sql`AND (created_at, id) < (
              SELECT last.created_at, last.id FROM refunds last
              WHERE last.id = ${startingAfter} AND last.merchant_id = ${tenant.merchantId} AND last.env = ${tenant.env})`
      const found = yield* decode(sql`
        SELECT ${columns} FROM refunds WHERE ${ofTenant(tenant)} ${only} ${after}
        ORDER BY created_at DESC, id DESC LIMIT ${limit}`)
      if (found.length === 0 && startingAfter !== undefined) {
        const last = yield* sql`SELECT 1 FROM refunds WHERE id = ${startingAfter} AND ${ofTenant(tenant)}`
        if (last.length === 0) return Option.none()
      }
      return Option.some(found)
    }, Effect.orDie),

    provenRefunds: Effect.fn("PaymentRepo.provenRefunds")(function* (paymentId) {
      return yield* decode(sql`
        SELECT ${columns} FROM refunds
        WHERE payment_id = ${paymentId} AND status = 'proven' AND dropped_at IS NULL ORDER BY proven_at, id`)
    }, Effect.orDie),

    refundBalance: Effect.fn("PaymentRepo.refundBalance")(function* (tenant, of) {
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

    settledBlock: Effect.fn("PaymentRepo.settledBlock")(function* (paymentId) {
      const [claim] = yield* decodeBlocks(
        yield* sql`SELECT block_number FROM claimed_transfers WHERE payment_id = ${paymentId}`
      )
      return Option.map(Option.fromUndefinedOr(claim), ({ block_number }) => block_number)
    }, Effect.orDie),

    isReceiver: Effect.fn("PaymentRepo.isReceiver")(function* (env, address) {
      const rows =
        yield* sql`SELECT 1 FROM merchant_receivers WHERE env = ${env} AND address = ${toBytes(address)}`
      return rows.length > 0
    }, Effect.orDie),

    sendersOf: Effect.fn("PaymentRepo.sendersOf")(function* ({ env, merchantId }, transactionId) {
      const rows = yield* decodeAddresses(
        yield* sql`
          WITH sent AS (
            SELECT payer, merchant_id FROM outgoing_transfers
            WHERE chain_id = ${networks[env].chainId} AND transaction_id = ${toBytes(transactionId)}
          )
          SELECT address FROM (
            SELECT DISTINCT payer AS address, true AS present, NULL::timestamptz AS since FROM sent
            WHERE merchant_id = ${merchantId}
            UNION ALL
            SELECT r.address, r.address = CASE r.env WHEN 'test' THEN m.receiver_test ELSE m.receiver_live END, r.since
            FROM merchant_receivers r JOIN merchants m ON m.id = r.merchant_id
            WHERE r.merchant_id = ${merchantId} AND r.env = ${env}
              AND NOT EXISTS (SELECT 1 FROM sent WHERE sent.payer = r.address)
          ) senders
          ORDER BY present DESC, since DESC, address`
      )
      return new Set(rows.map(({ address }) => address))
    }, Effect.orDie),

    nameRefundTransaction: Effect.fn("PaymentRepo.nameRefundTransaction")(function* (
      id,
      transactionId,
      at,
      checkAt
    ) {
      const rows = yield* sql`
          UPDATE refunds SET transaction_id = ${toBytes(transactionId)}, named_at = ${at}, next_look_at = ${checkAt}
          WHERE id = ${id} AND status = 'pending' RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    proveRefund: Effect.fn("PaymentRepo.proveRefund")(function* (id, proof, at, checkAt) {
      return Option.fromUndefinedOr(yield* prove(id, { proof, at, checkAt }))
    }),

    endRefund: Effect.fn("PaymentRepo.endRefund")(
      function* (id, end, at) {
        // The refunds of a transfer are made and ended one after the other.
        yield* sql`
        SELECT 1 FROM incoming_transfers WHERE id = (SELECT transfer_id FROM refunds WHERE id = ${id})
        FOR NO KEY UPDATE`
        const checked = end.status === "failed" ? end.transactionId : undefined
        const named =
          checked === undefined
            ? sql``
            : sql`AND transaction_id IS NOT DISTINCT FROM ${checked === null ? null : toBytes(checked)}::bytea`
        const rows = yield* sql`
        WITH ended AS (
          UPDATE refunds SET status = ${end.status}, ended_at = ${at}, next_look_at = NULL,
            failure_reason = ${end.status === "failed" ? end.reason : null}
          WHERE id = ${id} AND (status = 'pending' OR (status = 'proven' AND dropped_at IS NOT NULL)) ${named}
          RETURNING ${columns}, took_transfer
        ), heir AS (
          -- Another refund of the transfer keeps it handled, and gives it back in its turn.
          UPDATE refunds SET took_transfer = true WHERE id = (
            SELECT o.id FROM refunds o JOIN ended e ON o.transfer_id = e.transfer_id AND o.id <> e.id
            WHERE e.took_transfer AND o.status IN ('pending', 'proven') ORDER BY o.id LIMIT 1)
        ), freed AS (
          DELETE FROM claimed_transfers c USING ended e
          WHERE c.refund_id = e.id AND c.transaction_id = e.transaction_id AND c.payer = e.sender
            AND c.receiver = e.recipient AND c.amount = e.amount AND c.ordinal = e.ordinal
            AND c.chain_id = CASE e.env WHEN 'test' THEN ${networks.test.chainId}::integer
              ELSE ${networks.live.chainId}::integer END
        ), given_back AS (
          UPDATE incoming_transfers t SET handled_at = NULL, handled_by = NULL, note = NULL, match_at = ${at}
          FROM ended e WHERE t.id = e.transfer_id AND e.took_transfer AND t.payment_id IS NULL AND NOT EXISTS (
            SELECT 1 FROM refunds o WHERE o.transfer_id = t.id AND o.id <> e.id AND o.status IN ('pending', 'proven'))
        )
        SELECT id FROM ended`
        return rows.length > 0
      },
      (effect) => sql.withTransaction(effect),
      Effect.orDie
    ),

    takeDueRefunds: Effect.fn("PaymentRepo.takeDueRefunds")(function* (at, leaseUntil, limit) {
      const taken = yield* decode(sql`
        WITH due AS (
          SELECT id FROM refunds WHERE next_look_at <= ${at} ORDER BY next_look_at LIMIT ${limit}
          FOR UPDATE SKIP LOCKED
        )
        UPDATE refunds r SET next_look_at = ${leaseUntil} FROM due WHERE r.id = due.id
        RETURNING ${sql.literal(columnsOf("r."))}`)
      return taken.map((refund) => ({ ...refund, heldUntil: leaseUntil }))
    }, Effect.orDie),

    sentFor: Effect.fn("PaymentRepo.sentFor")(function* (refund) {
      const height = refund.createdBlock?.toString() ?? null
      const found = yield* decodeHashes(
        yield* sql`
          SELECT t.transaction_id FROM outgoing_transfers t
          WHERE t.receiver = ${toBytes(refund.recipient)} AND t.amount = ${refund.amount.toString()}::numeric
            AND t.merchant_id = ${refund.merchantId} AND t.env = ${refund.env} AND t.dropped_at IS NULL
            AND (t.block_number > ${height}::bigint
              OR (t.block_time > ${refund.createdAt}::timestamptz - interval '1 minute'
                AND coalesce(t.block_number >= ${height}::bigint - ${blockTolerance}, true)))
            AND NOT EXISTS (
              SELECT 1 FROM claimed_transfers c WHERE c.chain_id = t.chain_id
                AND c.transaction_id = t.transaction_id AND c.payer = t.payer AND c.receiver = t.receiver
                AND c.amount = t.amount AND c.ordinal = t.ordinal)
            -- Named for another refund.
            AND NOT EXISTS (
              SELECT 1 FROM refunds o WHERE o.transaction_id = t.transaction_id AND o.id <> ${refund.id}
                AND o.status = 'pending')
          ORDER BY t.block_number, t.ordinal LIMIT 10`
      )
      return [...new Set(found.map((row) => row.transaction_id))]
    }, Effect.orDie),

    noteRefundCheck: Effect.fn("PaymentRepo.noteRefundCheck")(function* ({ id, transactionId }, checkAt) {
      const named = transactionId === null ? null : toBytes(transactionId)
      yield* sql`
        UPDATE refunds SET next_look_at = ${checkAt}
        WHERE id = ${id} AND status = 'pending' AND transaction_id IS NOT DISTINCT FROM ${named}::bytea`
    }, Effect.orDie),

    noteRefundWatched: Effect.fn("PaymentRepo.noteRefundWatched")(function* (
      { heldUntil, id },
      { droppedAt, moved, watchAt }
    ) {
      const number = moved?.blockNumber.toString() ?? null
      const hash = moved === undefined ? null : toBytes(moved.blockHash)
      const rows = yield* sql`
          WITH noted AS (
            UPDATE refunds SET dropped_at = ${droppedAt}, next_look_at = ${watchAt},
              block_number = coalesce(${number}::bigint, block_number),
              block_hash = coalesce(${hash}::bytea, block_hash)
            WHERE id = ${id} AND status = 'proven' AND next_look_at = ${heldUntil} RETURNING ${columns}
          ), claimed AS (
            UPDATE claimed_transfers c SET dropped_at = n.dropped_at, block_number = n.block_number,
              block_hash = n.block_hash, log_position = coalesce(${moved?.logPosition ?? null}::integer, log_position)
            FROM noted n
            WHERE c.refund_id = n.id AND c.transaction_id = n.transaction_id AND c.payer = n.sender
              AND c.receiver = n.recipient AND c.amount = n.amount AND c.ordinal = n.ordinal
              AND c.chain_id = CASE n.env WHEN 'test' THEN ${networks.test.chainId}::integer
                ELSE ${networks.live.chainId}::integer END
          )
          SELECT id FROM noted`
      return rows.length > 0
    }, Effect.orDie)
  }
}
