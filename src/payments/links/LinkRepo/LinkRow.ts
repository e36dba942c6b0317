// A payment link's row.
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Env } from "../../../domain/Chain.ts"
import { MerchantId, type Tenant } from "../../../domain/Merchant.ts"
import { AtomicUsdc } from "../../../domain/Money.ts"
import { PaymentId } from "../../../domain/Payment.ts"

export interface StoredLink extends Tenant {
  readonly id: string
  readonly publishableKey: string
  readonly description: string
  /** Null if the buyer chooses between `least` and `most`. */
  readonly amount: AtomicUsdc | null
  readonly least: AtomicUsdc | null
  readonly most: AtomicUsdc | null
  readonly once: boolean
  /** The only payment of a one-time link. */
  readonly paymentId: PaymentId | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly closedAt: Date | null
}

const Amount = Schema.NullOr(Schema.BigIntFromString.pipe(Schema.decodeTo(AtomicUsdc)))
const Row = Schema.Struct({
  id: Schema.String,
  merchant_id: MerchantId,
  env: Env,
  publishable_key: Schema.String,
  description: Schema.String,
  amount: Amount,
  least: Amount,
  most: Amount,
  once: Schema.Boolean,
  payment_id: Schema.NullOr(PaymentId),
  created_at: Schema.Date,
  expires_at: Schema.NullOr(Schema.Date),
  closed_at: Schema.NullOr(Schema.Date)
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

const toLink = (row: typeof Row.Type): StoredLink => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  publishableKey: row.publishable_key,
  description: row.description,
  amount: row.amount,
  least: row.least,
  most: row.most,
  once: row.once,
  paymentId: row.payment_id,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  closedAt: row.closed_at
})

/** The links that a statement selects by `linkColumns`. */
export const linksIn = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
  Effect.map(Effect.flatMap(statement, decodeRows), (rows) => rows.map(toLink))

/** `ended`: the time at which the link stopped requesting payment for a reason outside its row. */
export const linkColumns = (sql: SqlClient.SqlClient, ended: Statement.Fragment) => sql`
  id, merchant_id, env, publishable_key, description, amount::text AS amount, least::text AS least, most::text AS most,
  once, payment_id, created_at, expires_at, coalesce(closed_at, ${ended}) AS closed_at`

const text = (amount: AtomicUsdc | null) => amount?.toString() ?? null

/** Inserts a link by a SELECT. `remainder`: the short transfer whose outstanding amount it requests, and its payment. */
export const insertLink = (sql: SqlClient.SqlClient, link: StoredLink, remainder: Statement.Fragment) => sql`
  INSERT INTO payment_links (id, merchant_id, env, publishable_key, description, amount, least, most, once, payment_id,
    created_at, expires_at, closed_at, rest_of, rest_for)
  SELECT ${link.id}::text, ${link.merchantId}::uuid, ${link.env}::text, ${link.publishableKey}::text,
    ${link.description}::text, ${text(link.amount)}::numeric, ${text(link.least)}::numeric, ${text(link.most)}::numeric,
    ${link.once}::boolean, ${link.paymentId}::uuid, ${link.createdAt}::timestamptz, ${link.expiresAt}::timestamptz,
    ${link.closedAt}::timestamptz, ${remainder}`
