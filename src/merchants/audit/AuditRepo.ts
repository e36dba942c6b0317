// The SQL of the audit log. The database refuses to change or remove an entry; each has the SHA-256 of itself
// and its predecessor. The table's owner can still rewrite all entries, but not match a head that was noted
// elsewhere.

import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { AuditAction } from "../../domain/AuditAction.ts"
import { Env } from "../../domain/Chain.ts"
import { Locale } from "../../domain/Locale.ts"
import { MerchantId, Uuid } from "../../domain/Merchant.ts"
import { orUnknown } from "../../domain/orUnknown.ts"
import type { Role } from "../../domain/Role.ts"

export interface AuditEntry {
  /** Null for service-wide entries. */
  readonly merchantId: MerchantId | null
  /** Null for both environments. */
  readonly env: Env | null
  /** The user; null for the operator's commands and for the service itself. */
  readonly actorId: string | null
  /** An email, `operator` or `service`. */
  readonly actor: string
  readonly action: AuditAction
  /** The change without its author: "changed the receiving address from … to …". */
  readonly summary: string
}

const Recipient = Schema.Struct({ id: Uuid, email: Schema.String, locale: Locale })
export type Recipient = typeof Recipient.Type
const decodeRecipients = Schema.decodeUnknownEffect(Schema.Array(Recipient))

const EntryRow = Schema.Struct({
  position: Schema.Int,
  /** Null for service-wide entries. */
  merchantId: Schema.NullOr(MerchantId),
  at: Schema.Date,
  env: Schema.NullOr(Env),
  actor: Schema.String,
  action: orUnknown(AuditAction),
  summary: Schema.String
})
export type EntryRow = typeof EntryRow.Type
const decodeEntries = Schema.decodeUnknownEffect(Schema.Array(EntryRow))

/** An entry's position and hash. With them, a rewrite of any entry up to it shows. */
export interface AuditHead {
  readonly position: number
  /** 64 hex digits. */
  readonly hash: string
}

const decodeVerified = Schema.decodeUnknownEffect(
  Schema.Tuple([
    Schema.Struct({
      entries: Schema.Int,
      broken: Schema.NullOr(Schema.Int),
      position: Schema.NullOr(Schema.Int),
      hash: Schema.NullOr(Schema.String),
      noted: Schema.NullOr(Schema.String),
      guarded: Schema.Boolean,
      strangers: Schema.Array(Schema.String),
      owned: Schema.Boolean
    })
  ])
)

/** Advisory lock key of the log; arbitrary, but used by nothing else. */
const lockKey = 4_021_966

/** The trigger as the migrations create it; `%s` is the table's schema. */
const guardTrigger =
  "CREATE TRIGGER audit_entries_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON %s.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_stay()"
/** The body of its function, with runs of spaces reduced to one. */
const guardBody =
  "BEGIN RAISE EXCEPTION 'Entries of the audit log are neither changed nor removed' USING ERRCODE = 'restrict_violation'; END"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return AuditRepo.of({
    transaction: (effect) =>
      sql.withTransaction(effect).pipe(Effect.catchIf(SqlError.isSqlError, Effect.die)),

    insert: Effect.fn("AuditRepo.insert")(function* (entry, at) {
      yield* sql`SELECT pg_advisory_xact_lock(${lockKey})`
      const rows = yield* sql`
        WITH last AS (
          SELECT position, hash FROM audit_entries ORDER BY position DESC LIMIT 1
        ), entry AS (
          SELECT coalesce((SELECT position FROM last), 0) + 1 AS position,
            ${entry.merchantId}::uuid AS merchant_id, ${entry.env}::text AS env, ${at}::timestamptz AS at,
            ${entry.actorId}::uuid AS actor_id, ${entry.actor}::text AS actor, ${entry.action}::text AS action,
            ${entry.summary}::text AS summary
        )
        INSERT INTO audit_entries (position, merchant_id, env, at, actor_id, actor, action, summary, hash)
        SELECT e.*, ${chained(sql.literal("(SELECT hash FROM last)"))} FROM entry e RETURNING position`
      // If a foreign trigger swallows the entry, the change that it records is rolled back.
      if (rows.length === 0)
        return yield* Effect.die(
          new Error(
            "The audit log stored no entry: a trigger or rule on audit_entries swallows it. See `audit verify`."
          )
        )
    }, Effect.orDie),

    list: Effect.fn("AuditRepo.list")(function* (merchantId, { before, limit }) {
      return yield* decodeEntries(
        yield* sql`
          SELECT position::int, merchant_id AS "merchantId", at, env, actor, action, summary FROM audit_entries
          WHERE (${merchantId}::uuid IS NULL OR merchant_id = ${merchantId}::uuid)
            AND position < ${before ?? Number.MAX_SAFE_INTEGER}
          ORDER BY position DESC LIMIT ${limit}`
      )
    }, Effect.orDie),

    verify: Effect.fn("AuditRepo.verify")(function* (since) {
      const [row] = yield* decodeVerified(
        yield* sql`
          WITH linked AS (
            SELECT e.*, lag(e.hash) OVER w AS previous, lag(e.position) OVER w AS before
            FROM audit_entries e WINDOW w AS (ORDER BY e.position)
          )
          SELECT count(*)::int AS entries,
            (min(e.position) FILTER (WHERE e.hash <> ${chained(sql.literal("e.previous"))}
              OR e.position <> coalesce(e.before, 0) + 1))::int AS broken,
            (SELECT position::int FROM audit_entries ORDER BY position DESC LIMIT 1) AS position,
            (SELECT encode(hash, 'hex') FROM audit_entries ORDER BY position DESC LIMIT 1) AS hash,
            (SELECT encode(hash, 'hex') FROM audit_entries
              WHERE position = ${Option.getOrNull(Option.map(since, ({ position }) => position))}::bigint) AS noted,
            EXISTS (
              SELECT 1 FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid
              JOIN pg_language l ON l.oid = f.prolang JOIN pg_class c ON c.oid = t.tgrelid
              WHERE t.tgrelid = 'audit_entries'::regclass AND t.tgname = 'audit_entries_stay'
                AND t.tgenabled = 'A'
                AND pg_get_triggerdef(t.oid) = format(${guardTrigger}, c.relnamespace::regnamespace)
                AND l.lanname = 'plpgsql'
                AND btrim(regexp_replace(f.prosrc, '[[:space:]]+', ' ', 'g')) = ${guardBody}) AS guarded,
            ARRAY(
              SELECT 'the rule ' || rulename FROM pg_rewrite WHERE ev_class = 'audit_entries'::regclass
              UNION ALL
              SELECT 'the trigger ' || tgname FROM pg_trigger
              WHERE tgrelid = 'audit_entries'::regclass AND NOT tgisinternal AND tgname <> 'audit_entries_stay'
              UNION ALL
              SELECT 'row-level security' FROM pg_class
              WHERE oid = 'audit_entries'::regclass AND (relrowsecurity OR relforcerowsecurity)
              ORDER BY 1) AS strangers,
            (SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class
              WHERE oid = 'audit_entries'::regclass) AS owned
          FROM linked e`
      )
      return {
        entries: row.entries,
        broken: Option.fromNullOr(row.broken),
        head:
          row.position === null || row.hash === null
            ? Option.none<AuditHead>()
            : Option.some<AuditHead>({ position: row.position, hash: row.hash }),
        hashAtHead: Option.fromNullOr(row.noted),
        isProtected: row.guarded,
        foreignTriggers: row.strangers,
        canDisableTrigger: row.owned
      }
    }, Effect.orDie),

    members: Effect.fn("AuditRepo.members")(function* (merchantId) {
      yield* sql`SELECT id FROM merchants WHERE id = ${merchantId} FOR NO KEY UPDATE`
      return yield* decodeRecipients(
        yield* sql`
          SELECT u.id, u.email, u.locale FROM merchant_members m JOIN users u ON u.id = m.user_id
          WHERE m.merchant_id = ${merchantId} ORDER BY u.id`
      )
    }, Effect.orDie),

    isPermitted: Effect.fn("AuditRepo.isPermitted")(function* (merchantId, { id, role, session }) {
      yield* sql`SELECT id FROM merchants WHERE id = ${merchantId} FOR NO KEY UPDATE`
      const rows = yield* sql`
        SELECT s.hash FROM sessions s JOIN merchant_members m ON m.user_id = s.user_id
        WHERE s.hash = ${session} AND m.merchant_id = ${merchantId} AND m.user_id = ${id} AND m.role = ${role}
        FOR KEY SHARE OF s`
      return rows.length > 0
    }, Effect.orDie),

    otherOperators: Effect.fn("AuditRepo.otherOperators")(function* (userId) {
      return yield* decodeRecipients(
        yield* sql`
          SELECT id, email, locale FROM users
          WHERE operator AND id IS DISTINCT FROM ${userId}::uuid ORDER BY id`
      )
    }, Effect.orDie)
  })

  /** The hash of entry `e` after the hash `previous`. */
  function chained(previous: ReturnType<typeof sql.literal>) {
    return sql`sha256(coalesce(${previous}, ''::bytea) || convert_to(json_build_array(
      e.position, e.merchant_id, e.env, (extract(epoch FROM e.at) * 1000000)::bigint, e.actor_id, e.actor,
      e.action, e.summary)::text, 'UTF8'))`
  }
})

export class AuditRepo extends Context.Service<
  AuditRepo,
  {
    /** All or nothing. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Runs inside the transaction of the recorded change. Concurrent entries wait for its commit. */
    readonly insert: (entry: AuditEntry, at: Date) => Effect.Effect<void>
    /** Entries, newest first. */
    readonly list: (
      merchantId: MerchantId | null,
      page: { readonly before?: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<EntryRow>>
    /**
     * Verifies the log: its first broken entry, its newest entry, the current hash at the position of an
     * earlier head, and the table's protection against changes.
     */
    readonly verify: (since: Option.Option<AuditHead>) => Effect.Effect<{
      readonly entries: number
      readonly broken: Option.Option<number>
      readonly head: Option.Option<AuditHead>
      /** The current hash at that position; none if the entry is gone or no head was passed. */
      readonly hashAtHead: Option.Option<string>
      /** True if the trigger that refuses changes is as the migrations created it, and always on. */
      readonly isProtected: boolean
      /** Other rules or triggers on the table, which may drop, alter or hide entries. */
      readonly foreignTriggers: ReadonlyArray<string>
      /** True if this session's role could switch the trigger off. */
      readonly canDisableTrigger: boolean
    }>
    /**
     * The members to notify of a merchant's change. From here on, changes of this merchant wait for each
     * other, so that none holds a row that another needs.
     */
    readonly members: (merchantId: MerchantId) => Effect.Effect<ReadonlyArray<Recipient>>
    /**
     * True if the session exists and its user is a member in this role. Neither changes until the transaction
     * ends, because members change under the merchant's lock.
     */
    readonly isPermitted: (
      merchantId: MerchantId,
      requester: { readonly id: string; readonly role: Role; readonly session: Uint8Array }
    ) => Effect.Effect<boolean>
    /** The operators to notify of a service-wide change: all except its author. */
    readonly otherOperators: (userId: string | null) => Effect.Effect<ReadonlyArray<Recipient>>
  }
>()("quittance/merchants/AuditRepo") {
  static readonly layer: Layer.Layer<AuditRepo, never, SqlClient.SqlClient> = Layer.effect(AuditRepo, make)
}
