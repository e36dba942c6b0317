// Incoming transfers on Postgres: whose they are, and what people do with them.
import { Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { AddressBytes, HashBytes, toBytes } from "../../chain/ChainBytes.ts"
import { type Address, Env, networks } from "../../domain/Chain.ts"
import { LikelyReason, TransferKind } from "../../domain/IncomingTransfer.ts"
import { MerchantId, type Tenant, Uuid } from "../../domain/Merchant.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { ownRows, PaymentRow, paymentColumns, toPayment } from "../PaymentRow.ts"
import { attachLeaseMillis, type IncomingTransfer, type Match, type TransferStore } from "../TransferStore.ts"
import { attemptCountsMillis } from "./AttemptStore.ts"
import { makeChainReadingSql } from "./chainReadingSql.ts"

const TransferRow = Schema.Struct({
  id: Uuid,
  merchant_id: MerchantId,
  env: Env,
  transaction_id: HashBytes,
  payer: AddressBytes,
  receiver: AddressBytes,
  amount: Schema.BigIntFromString,
  ordinal: Schema.Int,
  block_number: Schema.BigInt,
  block_hash: HashBytes,
  block_time: Schema.Date,
  created_at: Schema.Date,
  kind: Schema.NullOr(TransferKind),
  payment_id: Schema.NullOr(PaymentId),
  dropped_at: Schema.NullOr(Schema.Date),
  handled_at: Schema.NullOr(Schema.Date),
  handled_by: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String)
})
const columns = Object.keys(TransferRow.fields).join(", ")
const decodeTransfers = Schema.decodeUnknownEffect(Schema.Array(TransferRow))

const toTransfer = (row: typeof TransferRow.Type): IncomingTransfer => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  transactionId: row.transaction_id,
  payer: row.payer,
  receiver: row.receiver,
  amount: row.amount,
  ordinal: row.ordinal,
  blockNumber: row.block_number,
  blockHash: row.block_hash,
  blockTime: row.block_time,
  storedAt: row.created_at,
  kind: row.kind,
  paymentId: row.payment_id,
  droppedAt: row.dropped_at,
  handledAt: row.handled_at,
  handledBy: row.handled_by,
  note: row.note
})

const decodePayments = Schema.decodeUnknownEffect(Schema.Array(PaymentRow))
const decodeMatches = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      ...PaymentRow.fields,
      kept_reported_at: Schema.NullOr(Schema.Date)
    })
  ),
  ownRows
)
const decodeSignedFor = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ payment_id: PaymentId })))
const decodeMatchAttempts = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      payment_id: PaymentId,
      block_number: Schema.BigInt,
      nonce: Schema.NullOr(Schema.BigInt),
      announced_at: Schema.Date,
      closed_reason: Schema.NullOr(Schema.Literals(["declined", "nonce_used", "expired"]))
    })
  )
)
const decodeLikely = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({ ...PaymentRow.fields, reasons: Schema.Array(LikelyReason), dropped: Schema.Boolean })
  ),
  ownRows
)
const decodeUnalerted = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ merchant_id: MerchantId, env: Env, count: Schema.Int }))
)

/** Newest attempts of the payer, on payments that the transfer would pay, among which it is matched. */
const comparedAttempts = 100
/** Newest payments of the exact amount among which pending and failed ones are looked for. */
const searchedPayments = 5_000
/** What a payer has announced. */
const searchedAnnouncements = 1_000

export const makeTransfersSql = (sql: SqlClient.SqlClient): TransferStore => {
  const chainOf = (env: Env) => networks[env].chainId
  const all = sql.literal(columns)
  // Taken for a payment that it has not settled, as after a crash, it is open as well.
  const isOpen = sql`payment_id IS NULL AND dropped_at IS NULL AND (handled_at IS NULL OR attached_to IS NOT NULL)`
  /** Open and not leased. */
  const isFree = (at: Date) => sql`
    payment_id IS NULL AND dropped_at IS NULL AND (handled_at IS NULL OR (
      attached_to IS NOT NULL AND handled_at <= ${new Date(at.getTime() - attachLeaseMillis)}::timestamptz))`
  const ofTenant = ({ merchantId, env }: Tenant) => sql`merchant_id = ${merchantId} AND env = ${env}`
  const decode = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
    Effect.flatMap(statement, decodeTransfers).pipe(Effect.map((rows) => rows.map(toTransfer)))
  /** Whether the payment `p` is one that the transfer would pay. */
  const isMeant = ({ amount, env, receiver }: IncomingTransfer) => sql`
    p.env = ${env} AND p.status IN ('pending', 'failed') AND p.receiver = ${toBytes(receiver)}
    AND p.amount = ${amount.toString()}::numeric`

  const equalClaim = sql`
    FROM claimed_transfers c WHERE c.chain_id = t.chain_id AND c.transaction_id = t.transaction_id
      AND c.payer = t.payer AND c.receiver = t.receiver AND c.amount = t.amount AND c.ordinal = t.ordinal
      AND c.payment_id IS NOT NULL`
  /** The payment that claims the transfer `t`. What proves a refund is another merchant's to explain as well. */
  const claimOf = sql`(SELECT c.payment_id ${equalClaim})`

  /** A claim that was being written while its transfer was stored has not seen it. */
  const isUnclaimed = sql`NOT EXISTS (SELECT 1 ${equalClaim})`

  /** Settlements that the payer of a transfer has signed, by the unique index of their nonces. */
  const signedBy = ({ env, payer }: Pick<IncomingTransfer, "env" | "payer">) => sql`
    chain_id = ${chainOf(env)} AND asset = ${toBytes(networks[env].usdc.address)} AND payer = ${toBytes(payer)}`

  /** What an agent of the service has reserved: it stands also where the settlement was lost to a restore. */
  const reservedBy = (payer: Address, nonce: Statement.Fragment | Uint8Array) => sql`
    SELECT a.payment_id FROM agents g JOIN agent_payments a ON a.agent_id = g.id
    WHERE g.address = ${toBytes(payer)} AND a.nonce = ${nonce} AND a.status <> 'expired'
      AND a.payment_id IS NOT NULL`

  const reserving = (paymentId: PaymentId) => sql`
    SELECT 1 FROM x402_settlements s WHERE s.payment_id = ${paymentId} AND s.status = 'pending' AND s.reserves`

  /** Whose the transfer `t` is: what a payment claims belongs to the payment's merchant. */
  const ownerOf = sql`coalesce((SELECT p.merchant_id FROM payments p WHERE p.id = ${claimOf}), t.merchant_id)`

  return {
    ...makeChainReadingSql(sql),

    takeUnmatched: Effect.fn("PaymentRepo.takeUnmatched")(function* (at, leaseUntil, limit) {
      const taken = yield* decode(sql`
        WITH due AS (
          SELECT id FROM incoming_transfers WHERE match_at <= ${at} AND ${isFree(at)}
          ORDER BY match_at, block_number, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
        )
        UPDATE incoming_transfers t
        SET match_at = ${leaseUntil}, handled_at = NULL, handled_by = NULL, note = NULL, attached_to = NULL
        FROM due WHERE t.id = due.id
        RETURNING ${sql.literal(
          Object.keys(TransferRow.fields)
            .map((column) => `t.${column}`)
            .join(", ")
        )}`)
      return taken.toSorted((left, right) => Number(left.blockNumber - right.blockNumber))
    }, Effect.orDie),

    awaitsSettlement: Effect.fn("PaymentRepo.awaitsSettlement")(function* (transfer) {
      const rows = yield* sql`
        SELECT 1 FROM x402_settlements s
        WHERE ${signedBy(transfer)} AND receiver = ${toBytes(transfer.receiver)}
          AND amount = ${transfer.amount.toString()}::numeric
          -- As every pending one has; those of one wallet may be many, the pending ones are few.
          AND status = 'pending' AND next_look_at IS NOT NULL AND (reserves OR EXISTS (
            -- One that has ended without moving anything never will.
            SELECT 1 FROM wallet_transactions w WHERE w.reference = s.id AND w.purpose = 'settle'
              AND (w.outcome IS NULL OR w.outcome = 'moved'))) LIMIT 1`
      return rows.length > 0
    }, Effect.orDie),

    isReserved: Effect.fn("PaymentRepo.isReserved")(function* (paymentId) {
      return (yield* reserving(paymentId)).length > 0
    }, Effect.orDie),

    askedBy: Effect.fn("PaymentRepo.askedBy")(function* (transfer, nonces) {
      const used = sql`ANY(${nonces.map((nonce) => Buffer.from(nonce.slice(2), "hex"))}::bytea[])`
      const rows = yield* sql`
        SELECT ${sql.literal(paymentColumns("p."))} FROM payments p
        WHERE p.id IN (
            SELECT payment_id FROM authorization_nonces WHERE nonce = ${used}
            UNION ${reservedBy(transfer.payer, used)})
          AND p.env = ${transfer.env} AND p.receiver = ${toBytes(transfer.receiver)}
          AND p.amount = ${transfer.amount.toString()}::numeric`
      return (yield* decodePayments(rows)).map(toPayment)
    }, Effect.orDie),

    signedFor: Effect.fn("PaymentRepo.signedFor")(function* (env, payer, nonce) {
      const bytes = Buffer.from(nonce.slice(2), "hex")
      const [row] = yield* decodeSignedFor(
        yield* sql`
          SELECT payment_id FROM authorization_nonces WHERE nonce = ${bytes}
          UNION ALL
          SELECT payment_id FROM x402_settlements
          WHERE ${signedBy({ env, payer })} AND nonce = ${bytes} AND status <> 'failed'
          UNION ALL ${reservedBy(payer, bytes)}
          LIMIT 1`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ payment_id }) => payment_id)
    }, Effect.orDie),

    matchesOf: Effect.fn("PaymentRepo.matchesOf")(function* (transfer) {
      const payer = toBytes(transfer.payer)
      const attempts = yield* decodeMatchAttempts(
        yield* sql`
          SELECT a.payment_id, a.block_number, a.nonce, a.announced_at, a.closed_reason
          FROM payment_attempts a JOIN payments p ON p.id = a.payment_id
          WHERE a.payer_address = ${payer}
            AND a.announced_at >= ${new Date(transfer.blockTime.getTime() - attemptCountsMillis)}
            AND ${isMeant(transfer)}
          ORDER BY a.announced_at DESC LIMIT ${comparedAttempts}`
      )
      const rows = yield* sql`
        SELECT ${sql.literal(paymentColumns("p."))}, (
          SELECT min(r.reported_at) FROM payment_reports r WHERE r.payment_id = p.id
            AND r.transaction_id = ${toBytes(transfer.transactionId)} AND r.payer_address = ${payer}
        ) AS kept_reported_at
        FROM payments p
        WHERE p.id IN (
            SELECT payment_id FROM payment_reports
            WHERE transaction_id = ${toBytes(transfer.transactionId)} AND payer_address = ${payer}
            UNION SELECT unnest(${attempts.map(({ payment_id }) => payment_id)}::uuid[]))
          AND ${isMeant(transfer)}`
      return (yield* decodeMatches(rows)).map(
        (row): Match => ({
          payment: toPayment(row),
          reportedAt: row.kept_reported_at,
          attempts: attempts
            .filter(({ payment_id }) => payment_id === row.id)
            .map(({ announced_at, block_number, closed_reason, nonce }) => ({
              blockNumber: block_number,
              nonce,
              announcedAt: announced_at,
              ended: closed_reason
            }))
        })
      )
    }, Effect.orDie),

    likelyPayments: Effect.fn("PaymentRepo.likelyPayments")(function* (transfer) {
      const [payer, receiver] = [toBytes(transfer.payer), toBytes(transfer.receiver)]
      const amount = sql`${transfer.amount.toString()}::numeric`
      // Each payment by its key: how many are known the planner guesses far too low, and compares all with all.
      const rows = yield* sql`
        WITH equal AS (
          SELECT id FROM (
            SELECT id, status, receiver FROM payments
            WHERE ${ofTenant(transfer)} AND amount = ${amount}
              AND created_at < ${transfer.blockTime}::timestamptz + interval '1 minute'
              AND created_at > ${transfer.blockTime}::timestamptz - interval '30 days'
            ORDER BY created_at DESC LIMIT ${searchedPayments}
          ) newest
          WHERE status IN ('pending', 'failed') AND receiver = ${receiver}
        ), known AS (
          SELECT payment_id, 'reported' AS reason, 0 AS weight FROM payment_reports
          WHERE transaction_id = ${toBytes(transfer.transactionId)}
          UNION ALL
          (SELECT payment_id, 'announced', 1 FROM payment_attempts WHERE payer_address = ${payer}
           ORDER BY announced_at DESC LIMIT ${searchedAnnouncements})
          UNION ALL
          -- Of what an agent has signed by the thousands, those of this amount by their payments, of others some.
          SELECT equal.id, 'announced', 1 FROM equal CROSS JOIN LATERAL (
            SELECT 1 FROM x402_settlements WHERE payment_id = equal.id AND ${signedBy(transfer)} LIMIT 1) signed
          UNION ALL
          (SELECT payment_id, 'announced', 1 FROM x402_settlements WHERE ${signedBy(transfer)}
           ORDER BY nonce LIMIT ${searchedAnnouncements})
          UNION ALL
          SELECT a.payment_id, 'address', 2 FROM equal JOIN shown_addresses a ON a.payment_id = equal.id
          WHERE a.shown_at > ${transfer.blockTime}::timestamptz - interval '2 days'
            AND a.shown_at < ${transfer.blockTime}::timestamptz + interval '1 minute'
          UNION ALL
          SELECT id, 'paid_before', 3 FROM payments
          WHERE ${ofTenant(transfer)} AND payer_address = ${payer} AND receiver = ${receiver} AND status = 'settled'
          UNION ALL
          SELECT id, 'amount', 4 FROM equal
        )
        SELECT ${sql.literal(paymentColumns("p."))}, l.reasons, coalesce((
          -- Not EXISTS, for which the planner may read all claims.
          SELECT c.dropped_at IS NOT NULL FROM claimed_transfers c WHERE c.payment_id = p.id
        ), false) AS dropped
        FROM (
          SELECT payment_id, array_agg(DISTINCT reason) AS reasons, min(weight) AS weight
          FROM known GROUP BY payment_id
        ) l CROSS JOIN LATERAL (SELECT * FROM payments WHERE id = l.payment_id LIMIT 1) p
        WHERE p.merchant_id = ${transfer.merchantId} AND p.env = ${transfer.env}
        ORDER BY (p.amount = ${amount}) DESC, l.weight, p.created_at DESC, p.id
        LIMIT 10`
      return (yield* decodeLikely(rows)).map((row) => ({
        payment: toPayment(row),
        reasons: row.reasons,
        dropped: row.dropped
      }))
    }, Effect.orDie),

    noteMatch: Effect.fn("PaymentRepo.noteMatch")(function* (id, outcome) {
      yield* "kind" in outcome
        ? sql`
            UPDATE incoming_transfers t SET kind = ${outcome.kind}, payment_id = ${claimOf},
              merchant_id = ${ownerOf},
              -- What a person has taken meanwhile is matched again once the lease of it is over.
              match_at = CASE WHEN t.attached_to IS NOT NULL THEN t.match_at END
            WHERE t.id = ${id} AND t.payment_id IS NULL`
        : sql`
            UPDATE incoming_transfers SET match_at = ${outcome.matchAt}
            WHERE id = ${id} AND payment_id IS NULL AND match_at IS NOT NULL`
    }, Effect.orDie),

    findTransfer: Effect.fn("PaymentRepo.findTransfer")(function* (tenant, id) {
      const [found] = yield* decode(
        sql`SELECT ${all} FROM incoming_transfers WHERE id = ${id} AND ${ofTenant(tenant)}`
      )
      return Option.fromUndefinedOr(found)
    }, Effect.orDie),

    listTransfers: Effect.fn("PaymentRepo.listTransfers")(function* (
      tenant,
      { status, limit, startingAfter }
    ) {
      const standing =
        status === "open" ? isOpen : status === "handled" ? sql`handled_at IS NOT NULL` : sql`true`
      const after =
        startingAfter === undefined
          ? sql``
          : sql`AND (block_time, id) < (
              SELECT last.block_time, last.id FROM incoming_transfers last WHERE last.id = ${startingAfter})`
      return yield* decode(sql`
        SELECT ${all} FROM incoming_transfers WHERE ${ofTenant(tenant)} AND ${standing} ${after}
        ORDER BY block_time DESC, id DESC LIMIT ${limit}`)
    }, Effect.orDie),

    handleTransfer: Effect.fn("PaymentRepo.handleTransfer")(function* (tenant, id, { person, note, at }) {
      const rows = yield* sql`
        UPDATE incoming_transfers t
        SET handled_at = ${at}, handled_by = ${person}, note = ${note}, attached_to = NULL, match_at = NULL
        WHERE id = ${id} AND ${ofTenant(tenant)} AND ${isFree(at)} AND ${isUnclaimed} RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    takeForPayment: Effect.fn("PaymentRepo.takeForPayment")(
      function* (tenant, id, paymentId, by) {
        // Whoever sends an authorization for the payment holds this lock as well, and sees the lease after it.
        yield* sql`SELECT 1 FROM payments WHERE id = ${paymentId} FOR NO KEY UPDATE`
        const rows = yield* sql`
        UPDATE incoming_transfers t
        SET handled_at = ${by.at}, handled_by = ${by.person}, note = ${by.note}, attached_to = ${paymentId},
          match_at = ${new Date(by.at.getTime() + attachLeaseMillis)}
        WHERE id = ${id} AND ${ofTenant(tenant)} AND ${isFree(by.at)} AND ${isUnclaimed}
          AND NOT EXISTS (${reserving(paymentId)}) RETURNING id`
        return rows.length > 0
      },
      (effect) => sql.withTransaction(effect),
      Effect.orDie
    ),

    giveBack: Effect.fn("PaymentRepo.giveBack")(function* (id, paymentId, takenAt) {
      yield* sql`
        UPDATE incoming_transfers
        SET match_at = handled_at, handled_at = NULL, handled_by = NULL, note = NULL, attached_to = NULL
        WHERE id = ${id} AND attached_to = ${paymentId} AND handled_at = ${takenAt} AND payment_id IS NULL`
    }, Effect.orDie),

    unalerted: Effect.fn("PaymentRepo.unalerted")(function* (storedBefore) {
      // A claim that was being written while its transfer was stored has not seen it.
      yield* sql`
        UPDATE incoming_transfers t SET payment_id = ${claimOf}, merchant_id = ${ownerOf}, match_at = NULL
        WHERE ${isOpen} AND created_at < ${storedBefore} AND EXISTS (SELECT 1 ${equalClaim})`
      const rows = yield* decodeUnalerted(
        yield* sql`
          SELECT merchant_id, env, count(*)::int AS count FROM incoming_transfers
          WHERE ${isOpen} AND alerted_at IS NULL AND created_at < ${storedBefore}
          GROUP BY merchant_id, env LIMIT 500`
      )
      return rows.map(({ merchant_id, env, count }) => ({ merchantId: merchant_id, env, count }))
    }, Effect.orDie),

    noteAlerted: Effect.fn("PaymentRepo.noteAlerted")(function* (tenant, storedBefore, at) {
      yield* sql`
        UPDATE incoming_transfers SET alerted_at = ${at}
        WHERE ${ofTenant(tenant)} AND ${isOpen} AND alerted_at IS NULL AND created_at < ${storedBefore}`
    }, Effect.orDie)
  }
}
