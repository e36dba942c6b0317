// The SQL of who belongs to a merchant.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes } from "../chain/ChainBytes.ts"
import { Env } from "../domain/Chain.ts"
import { type MerchantId, Uuid } from "../domain/Merchant.ts"

const MemberRow = Schema.Struct({ id: Uuid, email: Schema.String, joined_at: Schema.Date })
const decodeMembers = Schema.decodeUnknownEffect(Schema.Array(MemberRow))
const InvitationRow = Schema.Struct({
  id: Uuid,
  email: Schema.String,
  invited_by: Schema.NullOr(Schema.String),
  expires_at: Schema.Date
})
const decodeInvitations = Schema.decodeUnknownEffect(Schema.Array(InvitationRow))
const decodeEmails = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ email: Schema.String })))
const decodeRemoval = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ member: Schema.Boolean, removed: Schema.NullOr(Schema.String) })])
)

/** The receiver changes that the member had asked for. */
const Withdrawn = Schema.Array(Schema.Struct({ env: Env, address: AddressBytes }))
const decodeWithdrawn = Schema.decodeUnknownEffect(Withdrawn)

export type Removal =
  | { readonly _tag: "Removed"; readonly email: string; readonly withdrawn: typeof Withdrawn.Type }
  | { readonly _tag: "Last" }
  | { readonly _tag: "Unknown" }

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    members: Effect.fn("MemberRepo.members")(function* (merchantId: MerchantId) {
      return yield* decodeMembers(
        yield* sql`
          SELECT u.id, u.email, mm.created_at AS joined_at FROM merchant_members mm
          JOIN users u ON u.id = mm.user_id WHERE mm.merchant_id = ${merchantId} ORDER BY mm.created_at, u.id`
      )
    }, Effect.orDie),

    invitations: Effect.fn("MemberRepo.invitations")(function* (merchantId: MerchantId, at: Date) {
      return yield* decodeInvitations(
        yield* sql`
          SELECT l.id, l.email, u.email AS invited_by, l.expires_at FROM one_time_links l
          LEFT JOIN users u ON u.id = l.invited_by
          WHERE l.merchant_id = ${merchantId} AND l.used_at IS NULL AND l.expires_at > ${at}
            AND (l.invited_by IS NULL OR EXISTS (
              SELECT 1 FROM merchant_members m WHERE m.merchant_id = l.merchant_id AND m.user_id = l.invited_by))
          ORDER BY l.expires_at DESC, l.id`
      )
    }, Effect.orDie),

    withdraw: Effect.fn("MemberRepo.withdraw")(function* (merchantId: MerchantId, id: string, at: Date) {
      const [row] = yield* decodeEmails(
        yield* sql`
          UPDATE one_time_links SET used_at = ${at}
          WHERE id = ${id} AND merchant_id = ${merchantId} AND used_at IS NULL AND expires_at > ${at}
          RETURNING email`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ email }) => email)
    }, Effect.orDie),

    remove: Effect.fn("MemberRepo.remove")(function* (merchantId: MerchantId, userId: string) {
      return yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT id FROM merchants WHERE id = ${merchantId} FOR UPDATE`
          const [row] = yield* decodeRemoval(
            yield* sql`
              WITH removed AS (
                DELETE FROM merchant_members WHERE merchant_id = ${merchantId} AND user_id = ${userId}
                  AND (SELECT count(*) FROM merchant_members WHERE merchant_id = ${merchantId}) > 1
                RETURNING user_id
              ), withdrawn AS (
                DELETE FROM one_time_links WHERE merchant_id = ${merchantId} AND used_at IS NULL
                  AND invited_by IN (SELECT user_id FROM removed)
              )
              SELECT EXISTS (SELECT 1 FROM merchant_members
                WHERE merchant_id = ${merchantId} AND user_id = ${userId}) AS member,
                (SELECT u.email FROM removed JOIN users u ON u.id = removed.user_id) AS removed`
          )
          if (row.removed === null) {
            const kept: Removal = { _tag: row.member ? "Last" : "Unknown" }
            return kept
          }
          const withdrawn = yield* decodeWithdrawn(
            yield* sql`
              UPDATE receiver_changes SET ended_at = now(), outcome = 'withdrawn'
              WHERE merchant_id = ${merchantId} AND ended_at IS NULL AND requested_by = ${userId}
              RETURNING env, address`
          )
          const removal: Removal = { _tag: "Removed", email: row.removed, withdrawn }
          return removal
        })
      )
    }, Effect.orDie)
  }
})

export class MemberRepo extends Context.Service<
  MemberRepo,
  {
    readonly members: (merchantId: MerchantId) => Effect.Effect<ReadonlyArray<typeof MemberRow.Type>>
    /** Links that wait to be used. */
    readonly invitations: (
      merchantId: MerchantId,
      at: Date
    ) => Effect.Effect<ReadonlyArray<typeof InvitationRow.Type>>
    /** Whose it was; none where none waits. */
    readonly withdraw: (merchantId: MerchantId, id: string, at: Date) => Effect.Effect<Option.Option<string>>
    /**
     * Removes a member with the invitations it has made and the receiver changes it has asked for, never the
     * last one: the merchant's row makes removals wait for each other.
     */
    readonly remove: (merchantId: MerchantId, userId: string) => Effect.Effect<Removal>
  }
>()("quittance/accounts/MemberRepo") {
  static readonly layer: Layer.Layer<MemberRepo, never, SqlClient.SqlClient> = Layer.effect(MemberRepo, make)
}
