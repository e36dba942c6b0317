// Opens payments on Postgres: one statement and one commit for all requests of a turn.
import { Array as Arr, Cause, Effect, Exit, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { toBytes } from "../../chain/ChainBytes.ts"
import { type Payment, PaymentId } from "../../domain/Payment.ts"
import { batched } from "../../platform/database/batched.ts"
import { isDatabaseOutage } from "../../platform/database/isDatabaseOutage.ts"
import { isUniqueViolation } from "../../platform/database/isUniqueViolation.ts"
import { ownRows, PaymentRow, paymentColumns, toPayment } from "../PaymentRow.ts"
import { generateRefCode } from "./generateRefCode.ts"
import type { OpenPayment } from "./PaymentStore.ts"

const decodeOutcome = Schema.decodeUnknownEffect(
  Schema.Struct({ requested_id: PaymentId, created: Schema.Boolean, id: Schema.NullOr(PaymentId) }),
  ownRows
)
const decodePayment = Schema.decodeUnknownEffect(PaymentRow, ownRows)

/** A payment as it is stored when it opens. */
const newPayment = ({ at, ...input }: OpenPayment, refCode: string): Payment => ({
  ...input,
  status: "pending",
  refCode,
  createdAt: at,
  openedBlock: input.openedBlock ?? null,
  reported: null,
  settledAt: null,
  failureReason: null
})

/** Creates a pending payment, or returns the one that the same token opened before. */
export const makeOpeningSql = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const refCode = Effect.provideService(generateRefCode, SecureRandom.SecureRandom, random)
  const columns = sql.literal(paymentColumns())

  // Ordered by id, so that instances that open the same tokens lock them in the same order. `OFFSET 0` keeps the
  // lookup by primary key, even in a plan made while the table was empty.
  const insert = (payments: ReadonlyArray<Payment>) => sql`
    WITH requested AS (
      SELECT * FROM unnest(
        ${payments.map((payment) => payment.id)}::uuid[], ${payments.map((payment) => payment.merchantId)}::uuid[],
        ${payments.map((payment) => payment.env)}::text[], ${payments.map((payment) => payment.amount.toString())}::numeric[],
        ${payments.map((payment) => payment.refCode)}::text[], ${payments.map((payment) => payment.intentUrl)}::text[],
        ${payments.map((payment) => toBytes(payment.receiver))}::bytea[],
        ${payments.map((payment) => payment.payerType)}::text[], ${payments.map((payment) => payment.createdAt)}::timestamptz[],
        ${payments.map((payment) => payment.openedBlock?.toString() ?? "")}::text[]
      ) AS requested (id, merchant_id, env, amount, ref_code, intent_url, receiver, payer_type, created_at, opened_block)
    ), inserted AS (
      INSERT INTO payments
        (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at, opened_block)
      SELECT id, merchant_id, env, 'pending', amount, ref_code, intent_url, receiver, payer_type, created_at,
        nullif(opened_block, '')::bigint
      FROM requested ORDER BY id
      ON CONFLICT (id) DO NOTHING
      RETURNING id
    )
    SELECT requested.id AS requested_id, inserted.id IS NOT NULL AS created, existing.*
    FROM requested LEFT JOIN inserted ON inserted.id = requested.id
      LEFT JOIN LATERAL (SELECT ${columns} FROM payments WHERE payments.id = requested.id OFFSET 0) existing ON true`

  const openAll = Effect.fnUntraced(function* (inputs: ReadonlyArray<OpenPayment>) {
    const payments = new Map<PaymentId, Payment>()
    for (const input of inputs) payments.set(input.id, newPayment(input, yield* refCode))
    const created = new Set<PaymentId>()
    for (const row of yield* insert([...payments.values()])) {
      const outcome = yield* decodeOutcome(row)
      if (outcome.created) {
        created.add(outcome.requested_id)
        continue
      }
      // No row: a concurrent open of the same token committed after this statement's snapshot.
      const [existing] =
        outcome.id === null
          ? yield* sql`SELECT ${columns} FROM payments WHERE id = ${outcome.requested_id}`
          : [row]
      payments.set(outcome.requested_id, toPayment(yield* decodePayment(existing)))
    }
    return yield* Effect.forEach(inputs, ({ id }) =>
      Effect.map(Effect.fromNullishOr(payments.get(id)), (payment) => ({
        payment,
        // If several requests have the same token, one of them created the payment.
        created: created.delete(id)
      }))
    )
  })

  /** Opens payments one by one, so that one cannot fail the others. If a reference code is taken, another is drawn. */
  const openEach = (inputs: ReadonlyArray<OpenPayment>) =>
    Effect.forEach(
      inputs,
      (input) =>
        openAll([input]).pipe(
          Effect.retry({ times: 5, while: (error) => error._tag === "SqlError" && isUniqueViolation(error) }),
          Effect.flatMap((opened) => Effect.fromOption(Arr.head(opened))),
          Effect.exit
        ),
      { concurrency: "unbounded" }
    )

  const open = yield* batched((inputs: ReadonlyArray<OpenPayment>) =>
    Effect.matchEffect(openAll(inputs), {
      onSuccess: (opened) => Effect.succeed(opened.map((result) => Exit.succeed(result))),
      // The requests have already waited for a database that does not serve, so they do not wait again.
      onFailure: (error) =>
        isDatabaseOutage(Cause.fail(error))
          ? Effect.succeed(inputs.map(() => Exit.fail(error)))
          : openEach(inputs)
    })
  )
  return (input: OpenPayment) => Effect.flatMap(open(input), (outcome) => Effect.orDie(outcome))
})
