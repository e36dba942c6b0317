// The SQL of alert webhooks and their pending posts.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Env } from "../domain/Chain.ts"
import { MerchantId, Uuid } from "../domain/Merchant.ts"
import type { Sealed } from "../platform/SecretBox.ts"

const PostRow = Schema.Struct({
  hook_id: Uuid,
  alert_id: Uuid,
  attempts: Schema.Int,
  /** The number of alerts in the post; the newest one is its alert. */
  alerts: Schema.Int,
  shape: Schema.Literals(["slack", "plain"]),
  secret_kid: Schema.String,
  secret_ciphertext: Schema.Uint8Array,
  merchant_id: MerchantId,
  merchant: Schema.String,
  env: Env,
  kind: Schema.String,
  subject: Schema.String,
  message: Schema.String,
  created_at: Schema.Date
})
export type AlertPost = typeof PostRow.Type
/** A post and the number of its current attempt. */
type LeasedPost = Pick<AlertPost, "hook_id" | "alert_id" | "attempts">
const decodePosts = Schema.decodeUnknownEffect(Schema.Array(PostRow))

const HookRow = Schema.Struct({
  id: Uuid,
  shape: Schema.Literals(["slack", "plain"]),
  host: Schema.String,
  created_at: Schema.Date,
  last_sent_at: Schema.NullOr(Schema.Date),
  error: Schema.NullOr(Schema.String)
})
export type HookRow = typeof HookRow.Type
const decodeHooks = Schema.decodeUnknownEffect(Schema.Array(HookRow))

export interface NewHook {
  readonly id: string
  readonly merchantId: MerchantId
  readonly env: Env
  readonly shape: "slack" | "plain"
  readonly host: string
  readonly sealed: Sealed
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return AlertHookRepo.of({
    takePosts: Effect.fn("AlertHookRepo.takePosts")(function* (at, leaseUntil, limit) {
      return yield* decodePosts(
        yield* sql`
          WITH leased AS (
            UPDATE alert_posts SET due_at = ${leaseUntil}, attempts = attempts + 1
            WHERE (hook_id, alert_id) IN (
              SELECT hook_id, alert_id FROM alert_posts WHERE due_at <= ${at}
              ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
            RETURNING hook_id, alert_id, attempts, alerts
          )
          SELECT t.hook_id, t.alert_id, t.attempts, t.alerts, h.shape, h.secret_kid, h.secret_ciphertext, h.merchant_id,
            m.name AS merchant, h.env, a.kind, a.subject, a.message, a.created_at
          FROM leased t JOIN alert_hooks h ON h.id = t.hook_id JOIN alerts a ON a.id = t.alert_id
          JOIN merchants m ON m.id = h.merchant_id`
      )
    }, Effect.orDie),

    endPost: Effect.fn("AlertHookRepo.endPost")(function* (post, outcome) {
      yield* sql`
        UPDATE alert_posts SET sent_at = ${outcome.sentAt}, error = ${outcome.error}, due_at = ${outcome.nextAttemptAt}
        WHERE hook_id = ${post.hook_id} AND alert_id = ${post.alert_id} AND sent_at IS NULL
          AND (attempts = ${post.attempts} OR ${outcome.sentAt}::timestamptz IS NOT NULL)`
    }, Effect.orDie),

    hooks: Effect.fn("AlertHookRepo.hooks")(function* (merchantId, env) {
      return yield* decodeHooks(
        yield* sql`
          SELECT h.id, h.shape, h.host, h.created_at, last.sent_at AS last_sent_at, last.error FROM alert_hooks h
          LEFT JOIN LATERAL (
            SELECT p.sent_at, p.error FROM alert_posts p JOIN alerts a ON a.id = p.alert_id
            WHERE p.hook_id = h.id AND p.attempts > 0
            -- A post that was given up has only its alert's time.
            ORDER BY coalesce(p.sent_at, p.due_at, a.created_at) DESC LIMIT 1
          ) last ON true
          WHERE h.merchant_id = ${merchantId} AND h.env = ${env} ORDER BY h.created_at, h.id`
      )
    }, Effect.orDie),

    addHook: (hook, max, at) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT id FROM merchants WHERE id = ${hook.merchantId} FOR NO KEY UPDATE`
            const rows = yield* sql`
              INSERT INTO alert_hooks (id, merchant_id, env, shape, host, secret_kid, secret_ciphertext, created_at)
              SELECT ${hook.id}::uuid, ${hook.merchantId}::uuid, ${hook.env}, ${hook.shape}, ${hook.host},
                ${hook.sealed.kid}, ${hook.sealed.ciphertext}::bytea, ${at}::timestamptz
              WHERE (SELECT count(*) FROM alert_hooks
                WHERE merchant_id = ${hook.merchantId}::uuid AND env = ${hook.env}) < ${max}
              RETURNING id`
            return rows.length > 0
          })
        )
        .pipe(Effect.orDie),

    removeHook: Effect.fn("AlertHookRepo.removeHook")(function* (merchantId, env, id) {
      const rows = yield* sql`
        DELETE FROM alert_hooks WHERE id = ${id} AND merchant_id = ${merchantId} AND env = ${env} RETURNING id`
      return rows.length > 0
    }, Effect.orDie)
  })
})

export class AlertHookRepo extends Context.Service<
  AlertHookRepo,
  {
    /** Leases posts until `leaseUntil`; each lease counts as an attempt. */
    readonly takePosts: (at: Date, leaseUntil: Date, limit: number) => Effect.Effect<ReadonlyArray<AlertPost>>
    /**
     * `nextAttemptAt` is null after the last attempt. Does nothing if the post was sent. A failure does nothing if
     * the post was leased again since, because the later attempt's outcome counts.
     */
    readonly endPost: (
      post: LeasedPost,
      outcome: {
        readonly sentAt: Date | null
        readonly error: string | null
        readonly nextAttemptAt: Date | null
      }
    ) => Effect.Effect<void>
    readonly hooks: (merchantId: MerchantId, env: Env) => Effect.Effect<ReadonlyArray<HookRow>>
    /** False if the merchant already has `max` hooks in this environment. */
    readonly addHook: (hook: NewHook, max: number, at: Date) => Effect.Effect<boolean>
    readonly removeHook: (merchantId: MerchantId, env: Env, id: string) => Effect.Effect<boolean>
  }
>()("quittance/notifications/AlertHookRepo") {
  static readonly layer: Layer.Layer<AlertHookRepo, never, SqlClient.SqlClient> = Layer.effect(
    AlertHookRepo,
    make
  )
}
