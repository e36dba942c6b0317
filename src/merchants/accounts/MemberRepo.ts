// The SQL of a merchant's members and invitations.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { AddressBytes } from "../../chain/ChainBytes.ts"
import { Env } from "../../domain/Chain.ts"
import { type MerchantId, Uuid } from "../../domain/Merchant.ts"
import { Role } from "../../domain/Role.ts"

const MemberRow = Schema.Struct({ id: Uuid, email: Schema.String, role: Role, joined_at: Schema.Date })
const decodeMembers = Schema.decodeUnknownEffect(Schema.Array(MemberRow))
const InvitationRow = Schema.Struct({
  id: Uuid,
  email: Schema.String,
  role: Role,
  invited_by: Schema.NullOr(Schema.String),
  expires_at: Schema.Date
})
const decodeInvitations = Schema.decodeUnknownEffect(Schema.Array(InvitationRow))
const decodeEmails = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ email: Schema.String })))
const decodeStanding = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ permitted: Schema.Boolean, email: Schema.NullOr(Schema.String) })])
)

/** The receiver changes that the member requested. */
const Withdrawn = Schema.Array(Schema.Struct({ env: Env, address: AddressBytes }))
const decodeWithdrawn = Schema.decodeUnknownEffect(Withdrawn)

export type MemberChange =
  | { readonly _tag: "Changed"; readonly email: string; readonly withdrawn: typeof Withdrawn.Type }
  | { readonly _tag: "LastOwner" }
  | { readonly _tag: "Unknown" }
  /** The requester is no longer an owner. */
  | { readonly _tag: "NotPermitted" }

export interface MemberChangeOf {
  readonly merchantId: MerchantId
  readonly userId: string
  /** The requester: an owner, or the member who leaves. */
  readonly by: string
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const othersOwn = ({ merchantId, userId }: MemberChangeOf) => sql`EXISTS (
    SELECT FROM merchant_members o
    WHERE o.merchant_id = ${merchantId} AND o.user_id <> ${userId} AND o.role = 'owner')`

  /** Runs `write` under the merchant's lock, after checking that the requester is still permitted. */
  const changeMember = Effect.fn("MemberRepo.changeMember")(function* (
    { by, merchantId, userId }: MemberChangeOf,
    write: Statement.Statement<unknown>,
    { ends, selfMay }: { readonly ends: boolean; readonly selfMay: boolean }
  ) {
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SELECT id FROM merchants WHERE id = ${merchantId} FOR NO KEY UPDATE`
        const [{ email, permitted }] = yield* decodeStanding(
          yield* sql`
            SELECT ${selfMay && by === userId}::boolean OR EXISTS (SELECT FROM merchant_members
              WHERE merchant_id = ${merchantId} AND user_id = ${by} AND role = 'owner') AS permitted,
              (SELECT u.email FROM merchant_members m JOIN users u ON u.id = m.user_id
                WHERE m.merchant_id = ${merchantId} AND m.user_id = ${userId}) AS email`
        )
        const refused = (_tag: "LastOwner" | "Unknown" | "NotPermitted"): MemberChange => ({ _tag })
        if (!permitted) return refused("NotPermitted")
        if (email === null) return refused("Unknown")
        if ((yield* write).length === 0) return refused("LastOwner")
        if (ends)
          yield* sql`
            DELETE FROM one_time_links
            WHERE merchant_id = ${merchantId} AND used_at IS NULL AND invited_by = ${userId}`
        const withdrawn = yield* decodeWithdrawn(
          ends
            ? yield* sql`
                UPDATE receiver_changes SET ended_at = now(), outcome = 'withdrawn'
                WHERE merchant_id = ${merchantId} AND ended_at IS NULL AND requested_by = ${userId}
                RETURNING env, address`
            : []
        )
        const changed: MemberChange = { _tag: "Changed", email, withdrawn }
        return changed
      })
    )
  }, Effect.orDie)

  return MemberRepo.of({
    members: Effect.fn("MemberRepo.members")(function* (merchantId) {
      return yield* decodeMembers(
        yield* sql`
          SELECT u.id, u.email, mm.role, mm.created_at AS joined_at FROM merchant_members mm
          JOIN users u ON u.id = mm.user_id WHERE mm.merchant_id = ${merchantId} ORDER BY mm.created_at, u.id`
      )
    }, Effect.orDie),

    invitations: Effect.fn("MemberRepo.invitations")(function* (merchantId, at) {
      return yield* decodeInvitations(
        yield* sql`
          SELECT l.id, l.email, l.role, u.email AS invited_by, l.expires_at FROM one_time_links l
          LEFT JOIN users u ON u.id = l.invited_by
          WHERE l.merchant_id = ${merchantId} AND l.used_at IS NULL AND l.expires_at > ${at}
            AND (l.invited_by IS NULL OR EXISTS (
              SELECT 1 FROM merchant_members m
              WHERE m.merchant_id = l.merchant_id AND m.user_id = l.invited_by AND m.role = 'owner'))
          ORDER BY l.expires_at DESC, l.id`
      )
    }, Effect.orDie),

    withdraw: Effect.fn("MemberRepo.withdraw")(function* (merchantId, id, at) {
      const [row] = yield* decodeEmails(
        yield* sql`
          UPDATE one_time_links SET used_at = ${at}
          WHERE id = ${id} AND merchant_id = ${merchantId} AND used_at IS NULL AND expires_at > ${at}
          RETURNING email`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ email }) => email)
    }, Effect.orDie),

    remove: (change) =>
      changeMember(
        change,
        sql`
          DELETE FROM merchant_members WHERE merchant_id = ${change.merchantId} AND user_id = ${change.userId}
            AND (role <> 'owner' OR ${othersOwn(change)}) RETURNING user_id`,
        { ends: true, selfMay: true }
      ),

    changeRole: (change, role) =>
      changeMember(
        change,
        sql`
          UPDATE merchant_members SET role = ${role}
          WHERE merchant_id = ${change.merchantId} AND user_id = ${change.userId}
            AND (role <> 'owner' OR ${role}::text = 'owner' OR ${othersOwn(change)}) RETURNING user_id`,
        { ends: role !== "owner", selfMay: false }
      )
  })
})

export class MemberRepo extends Context.Service<
  MemberRepo,
  {
    readonly members: (merchantId: MerchantId) => Effect.Effect<ReadonlyArray<typeof MemberRow.Type>>
    /** Open invitations: not used, not expired, and from a member who is still an owner. */
    readonly invitations: (
      merchantId: MerchantId,
      at: Date
    ) => Effect.Effect<ReadonlyArray<typeof InvitationRow.Type>>
    /** Withdraws an invitation and returns its email; none if it is not open. */
    readonly withdraw: (merchantId: MerchantId, id: string, at: Date) => Effect.Effect<Option.Option<string>>
    /**
     * Removes a member with their invitations and requested receiver changes, but never the last owner. The
     * lock on the merchant's row serializes changes.
     */
    readonly remove: (change: MemberChangeOf) => Effect.Effect<MemberChange>
    /** Changes a role. A former owner loses the same things as a removed member. The last owner stays an owner. */
    readonly changeRole: (change: MemberChangeOf, role: Role) => Effect.Effect<MemberChange>
  }
>()("quittance/merchants/MemberRepo") {
  static readonly layer: Layer.Layer<MemberRepo, never, SqlClient.SqlClient> = Layer.effect(MemberRepo, make)
}
