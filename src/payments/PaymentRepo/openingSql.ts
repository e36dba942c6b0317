// Opening payments on Postgres: all that come in one turn, by one statement and one commit.
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
  Schema.Struct({ asked_id: PaymentId, created: Schema.Boolean, id: Schema.NullOr(PaymentId) }),
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

/** Creates a pending payment, or answers the one that the same token opened before. */
export const makeOpeningSql = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const refCode = Effect.provideService(generateRefCode, SecureRandom.SecureRandom, random)
  const columns = sql.literal(paymentColumns())

  // In the order of ids, so that instances that open the same tokens wait for each other in one
  // order. `OFFSET 0` keeps the lookup by primary key, even in a plan made while the table was empty.
  const insert = (payments: ReadonlyArray<Payment>) => sql`
    WITH asked AS (
      SELECT * FROM unnest(
        ${payments.map((one) => one.id)}::uuid[], ${payments.map((one) => one.merchantId)}::uuid[],
        ${payments.map((one) => one.env)}::text[], ${payments.map((one) => one.amount.toString())}::numeric[],
        ${payments.map((one) => one.refCode)}::text[], ${payments.map((one) => one.intentUrl)}::text[],
        ${payments.map((one) => toBytes(one.receiver))}::bytea[],
        ${payments.map((one) => one.payerType)}::text[], ${payments.map((one) => one.createdAt)}::timestamptz[],
        ${payments.map((one) => one.openedBlock?.toString() ?? "")}::text[]
      ) AS asked (id, merchant_id, env, amount, ref_code, intent_url, receiver, payer_type, created_at, opened_block)
    ), inserted AS (
      INSERT INTO payments
        (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at, opened_block)
      SELECT id, merchant_id, env, 'pending', amount, ref_code, intent_url, receiver, payer_type, created_at,
        nullif(opened_block, '')::bigint
      FROM asked ORDER BY id
      ON CONFLICT (id) DO NOTHING
      RETURNING id
    )
    SELECT asked.id AS asked_id, inserted.id IS NOT NULL AS created, existing.*
    FROM asked LEFT JOIN inserted ON inserted.id = asked.id
      LEFT JOIN LATERAL (SELECT ${columns} FROM payments WHERE payments.id = asked.id OFFSET 0) existing ON true`

  const openAll = Effect.fnUntraced(function* (inputs: ReadonlyArray<OpenPayment>) {
    const payments = new Map<PaymentId, Payment>()
    for (const input of inputs) payments.set(input.id, newPayment(input, yield* refCode))
    const created = new Set<PaymentId>()
    for (const row of yield* insert([...payments.values()])) {
      const outcome = yield* decodeOutcome(row)
      if (outcome.created) {
        created.add(outcome.asked_id)
        continue
      }
      // Without a row, a concurrent open of the same token committed after this statement's snapshot.
      const [existing] =
        outcome.id === null
          ? yield* sql`SELECT ${columns} FROM payments WHERE id = ${outcome.asked_id}`
          : [row]
      payments.set(outcome.asked_id, toPayment(yield* decodePayment(existing)))
    }
    return yield* Effect.forEach(inputs, ({ id }) =>
      Effect.map(Effect.fromNullishOr(payments.get(id)), (payment) => ({
        payment,
        // Of several with one token, one has created it.
        created: created.delete(id)
      }))
    )
  })

  /** Opens payments one by one, so one cannot fail the others; a reference code that is taken is drawn again. */
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
      onSuccess: (opened) => Effect.succeed(opened.map((one) => Exit.succeed(one))),
      // Who has waited for a database that does not serve does not wait again.
      onFailure: (error) =>
        isDatabaseOutage(Cause.fail(error))
          ? Effect.succeed(inputs.map(() => Exit.fail(error)))
          : openEach(inputs)
    })
  )
  return (input: OpenPayment) => Effect.flatMap(open(input), (outcome) => Effect.orDie(outcome))
})
