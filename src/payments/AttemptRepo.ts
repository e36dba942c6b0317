// Attempts on Postgres: wallets that announce that they are about to pay, one open attempt each for a payment.
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, HashBytes, toBytes } from "../chain/ChainBytes.ts"
import { type Tenant, Uuid } from "../domain/Merchant.ts"
import { AttemptMethod, type Payment } from "../domain/Payment.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import { finalityReasons, inconclusiveReasons } from "../domain/VerdictReason.ts"
import {
  type AttemptStore,
  attemptBlockingMillis,
  blockTolerance,
  type OpenAttempt,
  type PaymentAttempt
} from "./AttemptRepo/AttemptStore.ts"
import { isShort } from "./isShortSql.ts"
import { ownRows, PaymentRow, paymentColumns, toPayment } from "./PaymentRow.ts"
import { cameSince, sinceOpened } from "./sinceOpenedSql.ts"

const AttemptRow = Schema.Struct({
  id: Uuid,
  payer_address: AddressBytes,
  method: AttemptMethod,
  block_number: Schema.BigInt,
  nonce: Schema.NullOr(Schema.BigInt),
  announced_at: Schema.Date
})
const decodeAttempts = Schema.decodeUnknownEffect(Schema.Array(AttemptRow))
const decodePayment = Schema.decodeUnknownEffect(PaymentRow, ownRows)
const decodeOpen = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      payer: AddressBytes,
      method: AttemptMethod,
      since: Schema.Date,
      seen_id: Schema.NullOr(HashBytes)
    })
  )
)

const columns = Object.keys(AttemptRow.fields).join(", ")

const toAttempt = (row: typeof AttemptRow.Type): PaymentAttempt => ({
  id: row.id,
  payer: row.payer_address,
  method: row.method,
  blockNumber: row.block_number,
  nonce: row.nonce,
  announcedAt: row.announced_at
})

const decodeTransfers = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ transaction_id: HashBytes })))

/** The number of attempts listed. */
const maxListed = 20

const make = (sql: SqlClient.SqlClient): AttemptStore => {
  const find = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
    Effect.flatMap(statement, decodeAttempts).pipe(
      Effect.map(([row]) => Option.map(Option.fromUndefinedOr(row), toAttempt))
    )

  // Not limited to a merchant: the payment names the address, which may have changed hands. A transfer that a person
  // is attaching counts as unclaimed until it has settled its payment.
  const isUnclaimed = ({ env }: Tenant) => sql`
    t.env = ${env} AND t.payment_id IS NULL AND t.dropped_at IS NULL
    AND (t.handled_at IS NULL OR t.attached_to IS NOT NULL)`

  /** The settlement `s` is in flight or was seen in flight; one that was never sent blocks nothing. */
  const isInFlight = sql`s.status = 'pending' AND (s.reserves OR EXISTS (
    SELECT 1 FROM wallet_transactions w WHERE w.reference = s.id AND w.purpose = 'settle'))`

  const isUnannounced = (at: Date) => sql`
    r.payer_type = 'human' AND r.next_check_at IS NOT NULL
    AND r.reported_at > ${plusMillis(at, -attemptBlockingMillis)}
    AND NOT EXISTS (
      SELECT 1 FROM x402_settlements s
      WHERE s.payment_id = r.payment_id AND s.payer = r.payer_address AND s.transaction_id = r.transaction_id)
    AND NOT EXISTS (
      SELECT 1 FROM payment_attempts a WHERE a.payment_id = r.payment_id AND a.payer_address = r.payer_address)`

  const anyOf = (reasons: ReadonlyArray<string>) => sql`ANY(${[...reasons]}::text[])`

  /** The chain has shown that the report `r` pays its payment. A node's failure since then changes nothing. */
  const isConfirming = sql`
    r.outcome = ${anyOf(finalityReasons)} OR (r.outcome = ${anyOf(inconclusiveReasons)} AND (
      SELECT v.verdict FROM payment_verdicts v
      WHERE v.payment_id = r.payment_id AND v.evidence = r.evidence
        AND v.verdict <> ALL(${[...inconclusiveReasons]}::text[])
      ORDER BY v.at DESC LIMIT 1) = ${anyOf(finalityReasons)})`

  /** The first transaction that pays the pending payment and waits for certainty, reported or read from the chain. */
  const confirming = Effect.fnUntraced(function* (tenant: Tenant, payment: Payment) {
    const [row] = yield* decodeTransfers(
      yield* sql`
        SELECT transaction_id FROM (
          SELECT r.transaction_id, r.reported_at AS since FROM payment_reports r
          WHERE r.payment_id = ${payment.id} AND r.next_check_at IS NOT NULL AND (${isConfirming})
          UNION ALL
          SELECT t.transaction_id, t.block_time FROM payments p
          JOIN payment_attempts a ON a.payment_id = p.id AND a.closed_at IS NULL
          CROSS JOIN LATERAL (
            SELECT t.* FROM incoming_transfers t
            WHERE ${isUnclaimed(tenant)} AND t.match_at IS NOT NULL AND t.payer = a.payer_address
              AND t.receiver = p.receiver AND t.amount = p.amount AND t.block_number > a.block_number
              AND NOT ${isShort(sql, sql`p.id`, sql`p.intent_url`)}
            OFFSET 0
          ) t
          WHERE p.id = ${payment.id} AND NOT EXISTS (
            SELECT 1 FROM payment_reports r
            WHERE r.transaction_id = t.transaction_id AND r.payment_id <> p.id AND r.payer_address = t.payer
              AND r.next_check_at IS NOT NULL)
        ) confirming_transactions ORDER BY since LIMIT 1`
    )
    return row?.transaction_id ?? null
  })

  return {
    announce: Effect.fn("AttemptRepo.announce")(
      function* ({ attempt, minedNonce, ...of }) {
        const payer = toBytes(attempt.payer)
        // Lock first, so that the next statement sees every reservation made before.
        yield* sql`
        SELECT 1 FROM payments
        WHERE id = ${of.paymentId} AND merchant_id = ${of.merchantId} AND env = ${of.env} FOR NO KEY UPDATE`
        const mined = minedNonce === null ? null : minedNonce.toString()
        const announced = yield* find(sql`
        INSERT INTO payment_attempts (id, payment_id, payer_address, method, block_number, nonce, announced_at)
        SELECT ${attempt.id}::uuid, p.id, ${payer}::bytea, ${attempt.method}::text,
          ${attempt.blockNumber.toString()}::bigint,
          -- An expired attempt may still send its transaction. With the same nonce, the chain accepts only one of the
          -- two.
          CASE WHEN ${attempt.method}::text = 'transfer' THEN greatest(coalesce((
            SELECT min(a.nonce) FROM payment_attempts a
            WHERE a.payment_id = p.id AND a.payer_address = ${payer} AND a.method = 'transfer'
              AND a.closed_reason = 'expired' AND a.nonce >= coalesce(${mined}::bigint, 0)
          ), ${attempt.nonce?.toString() ?? null}::bigint), ${mined}::bigint) END,
          ${attempt.announcedAt}::timestamptz
        FROM payments p
        WHERE p.id = ${of.paymentId} AND p.merchant_id = ${of.merchantId} AND p.env = ${of.env}
          AND p.status = 'pending'
          AND NOT EXISTS (
            SELECT 1 FROM x402_settlements s
            WHERE s.payment_id = p.id AND s.payer = ${payer} AND ${isInFlight})
          -- A transaction that the wallet reported but never announced may still be mined.
          AND NOT EXISTS (
            SELECT 1 FROM payment_reports r
            WHERE r.payment_id = p.id AND r.payer_address = ${payer} AND ${isUnannounced(attempt.announcedAt)})
          -- A transfer of the wallet that could pay the payment has arrived and is not matched yet.
          AND NOT EXISTS (
            SELECT 1 FROM incoming_transfers t
            WHERE ${isUnclaimed(of)} AND t.match_at IS NOT NULL AND t.payer = ${payer}
              AND t.receiver = p.receiver AND t.amount = p.amount
              AND ${sinceOpened(sql)})
        ON CONFLICT DO NOTHING
        RETURNING ${sql.literal(columns)}`)
        if (Option.isSome(announced)) return announced
        return yield* find(sql`
        SELECT ${sql.literal(columns)} FROM payment_attempts
        WHERE id = ${attempt.id} AND payment_id = ${of.paymentId} AND payer_address = ${payer}
          AND closed_at IS NULL`)
      },
      (effect) => sql.withTransaction(effect),
      Effect.orDie
    ),

    attempts: Effect.fn("AttemptRepo.attempts")(function* (tenant, paymentId, by) {
      const [row] = yield* sql`
        SELECT ${sql.literal(paymentColumns())} FROM payments
        WHERE id = ${paymentId} AND merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`
      if (row === undefined) return Option.none()
      const payment = toPayment(yield* decodePayment(row))
      const payer = by === undefined ? null : toBytes(by.payer)
      const at = yield* DateTime.nowAsDate
      const open = yield* decodeOpen(
        yield* sql`
          WITH p AS (
            SELECT ${paymentId}::uuid AS id, ${toBytes(payment.receiver)}::bytea AS receiver,
              ${payment.amount.toString()}::numeric AS amount, ${payment.intentUrl}::text AS intent_url,
              ${payment.openedBlock?.toString() ?? null}::bigint AS opened_block, ${payment.createdAt}::timestamptz AS created_at
          ), sent AS MATERIALIZED (
            -- Transfers of the wallets that are paying, and of the wallet in the request.
            SELECT t.* FROM p CROSS JOIN (
              SELECT payer_address FROM payment_attempts WHERE payment_id = ${paymentId} AND closed_at IS NULL
              UNION SELECT ${payer}::bytea
            ) wallets (payer) CROSS JOIN LATERAL (
              SELECT t.payer, t.transaction_id, t.block_number, t.block_time, ${cameSince(sql)} AS is_since
              FROM incoming_transfers t
              WHERE ${isUnclaimed(tenant)} AND t.payer = wallets.payer AND t.receiver = p.receiver
                AND t.amount = p.amount AND NOT ${isShort(sql, sql`p.id`, sql`p.intent_url`)}
              OFFSET 0
            ) t
          )
          SELECT payer, method, since, seen_id FROM (
            SELECT a.payer_address AS payer, a.method, a.announced_at AS since, coalesce((
              SELECT sent.transaction_id FROM sent
              WHERE sent.payer = a.payer_address AND sent.block_number > a.block_number - ${blockTolerance}
              ORDER BY sent.block_number LIMIT 1
            ), (
              SELECT r.transaction_id FROM payment_reports r
              WHERE r.payment_id = a.payment_id AND r.payer_address = a.payer_address
              ORDER BY r.reported_at DESC LIMIT 1
            )) AS seen_id
            FROM payment_attempts a
            WHERE a.payment_id = ${paymentId} AND a.closed_at IS NULL
            UNION ALL
            SELECT s.payer, 'authorization', s.created_at, s.transaction_id
            FROM x402_settlements s WHERE s.payment_id = ${paymentId} AND ${isInFlight}
            UNION ALL
            SELECT * FROM (
              SELECT DISTINCT ON (r.payer_address) r.payer_address, 'transfer', r.reported_at, r.transaction_id
              FROM payment_reports r
              WHERE r.payment_id = ${paymentId} AND ${isUnannounced(at)}
              ORDER BY r.payer_address, r.reported_at DESC
            ) reported
            UNION ALL
            -- Transfers that the wallet in the request sent since the payment opened, without an open attempt.
            SELECT sent.payer, 'transfer', sent.block_time, sent.transaction_id FROM sent
            WHERE sent.payer = ${payer}::bytea AND sent.is_since
              AND NOT EXISTS (
                SELECT 1 FROM payment_attempts a
                WHERE a.payment_id = ${paymentId} AND a.payer_address = sent.payer AND a.closed_at IS NULL)
          ) open_attempts
          WHERE ${by?.only === true ? sql`payer = ${payer}` : sql`true`}
          ORDER BY (payer = ${payer}::bytea) DESC NULLS LAST, since DESC LIMIT ${maxListed}`
      )
      return Option.some({
        payment,
        confirming: payment.status === "pending" ? yield* confirming(tenant, payment) : null,
        attempts: open.map(
          ({ payer: by, method, since, seen_id }): OpenAttempt => ({
            payer: by,
            method,
            since,
            transactionId: seen_id
          })
        )
      })
    }, Effect.orDie),

    openAttempt: Effect.fn("AttemptRepo.openAttempt")(function* (paymentId, payer) {
      return yield* find(sql`
        SELECT ${sql.literal(columns)} FROM payment_attempts
        WHERE payment_id = ${paymentId} AND payer_address = ${toBytes(payer)} AND closed_at IS NULL`)
    }, Effect.orDie),

    unclaimedTransfer: Effect.fn("AttemptRepo.unclaimedTransfer")(function* (payment, payer) {
      const [row] = yield* decodeTransfers(
        yield* sql`
          SELECT t.transaction_id FROM incoming_transfers t JOIN payments p ON p.id = ${payment.id}
          WHERE ${isUnclaimed(payment)} AND t.payer = ${toBytes(payer)}
            AND t.receiver = p.receiver AND t.amount = p.amount
            AND ((${sinceOpened(sql)}) OR t.block_number > (
              SELECT a.block_number FROM payment_attempts a
              WHERE a.payment_id = p.id AND a.payer_address = t.payer AND a.closed_at IS NULL))
          ORDER BY t.block_number LIMIT 1`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ transaction_id }) => transaction_id)
    }, Effect.orDie),

    mayPayAnotherPayment: Effect.fn("AttemptRepo.mayPayAnotherPayment")(function* (
      payment,
      payer,
      transactionId,
      at
    ) {
      const rows = yield* sql`
        SELECT 1 FROM payment_attempts a JOIN payments p ON p.id = a.payment_id
        WHERE a.payer_address = ${toBytes(payer)} AND a.closed_at IS NULL AND p.id <> ${payment.id}
          AND p.env = ${payment.env} AND p.status = 'pending' AND p.receiver = ${toBytes(payment.receiver)}
          AND p.amount = ${payment.amount.toString()}::numeric
        UNION ALL
        -- Or the wallet reported a transaction for such a payment, and the report is undecided.
        SELECT 1 FROM payment_reports r JOIN payments p ON p.id = r.payment_id
        WHERE r.payer_address = ${toBytes(payer)} AND r.next_check_at IS NOT NULL AND p.id <> ${payment.id}
          AND (r.transaction_id = ${toBytes(transactionId)}
            OR r.reported_at > ${plusMillis(at, -attemptBlockingMillis)}::timestamptz)
          AND p.env = ${payment.env} AND p.status <> 'settled' AND p.receiver = ${toBytes(payment.receiver)}
          AND p.amount = ${payment.amount.toString()}::numeric
        LIMIT 1`
      return rows.length > 0
    }, Effect.orDie),

    hasUndecidedReport: Effect.fn("AttemptRepo.hasUndecidedReport")(function* (paymentId, payer, at) {
      const rows = yield* sql`
        SELECT 1 FROM payment_reports r WHERE r.payment_id = ${paymentId} AND r.payer_address = ${toBytes(payer)}
          AND r.payer_type = 'human' AND r.next_check_at IS NOT NULL
          AND r.reported_at > ${plusMillis(at, -attemptBlockingMillis)}::timestamptz LIMIT 1`
      return rows.length > 0
    }, Effect.orDie),

    recordAddressShown: Effect.fn("AttemptRepo.recordAddressShown")(function* (paymentId, at) {
      // Takes the payment's lock, as expiry does: for a one-time link, the payment has expired or the address was
      // shown, never both.
      const rows = yield* sql`
        WITH open AS (SELECT id FROM payments WHERE id = ${paymentId} AND status = 'pending' FOR SHARE)
        INSERT INTO shown_addresses AS a (payment_id, shown_at) SELECT id, ${at}::timestamptz FROM open
        ON CONFLICT (payment_id) DO UPDATE SET shown_at = greatest(a.shown_at, excluded.shown_at)
        RETURNING payment_id`
      return rows.length > 0
    }, Effect.orDie),

    closeAttempt: Effect.fn("AttemptRepo.closeAttempt")(function* (paymentId, attemptId, reason, at) {
      yield* sql`
        UPDATE payment_attempts SET closed_at = ${at}, closed_reason = ${reason}
        WHERE id = ${attemptId} AND payment_id = ${paymentId} AND closed_at IS NULL`
    }, Effect.orDie)
  }
}

export class AttemptRepo extends Context.Service<AttemptRepo, AttemptStore>()(
  "quittance/payments/AttemptRepo"
) {
  static readonly layer: Layer.Layer<AttemptRepo, never, SqlClient.SqlClient> = Layer.effect(
    AttemptRepo,
    Effect.map(SqlClient.SqlClient, make)
  )
  /** Stores no attempts and accepts none. */
  static readonly layerNone: Layer.Layer<AttemptRepo> = Layer.succeed(AttemptRepo, {
    announce: () => Effect.succeedNone,
    attempts: () => Effect.succeedNone,
    openAttempt: () => Effect.succeedNone,
    unclaimedTransfer: () => Effect.succeedNone,
    mayPayAnotherPayment: () => Effect.succeed(false),
    hasUndecidedReport: () => Effect.succeed(false),
    recordAddressShown: () => Effect.succeed(false),
    closeAttempt: () => Effect.void
  })
}
