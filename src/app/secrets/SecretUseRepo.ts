// The SQL of the secrets that a database was used with, and of the wallets whose keys it needs.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes } from "../../chain/ChainBytes.ts"
import { Env } from "../../domain/Chain.ts"

export interface Fingerprint {
  readonly variable: string
  /** The key's id; empty if the variable holds one secret without a name. */
  readonly kid: string
  readonly fingerprint: Uint8Array
}

const decodeFingerprints = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ variable: Schema.String, kid: Schema.String, fingerprint: Schema.Uint8Array }))
)
const AgentWallet = Schema.Struct({ env: Env, wallet_index: Schema.Int, address: AddressBytes })
const decodeAgents = Schema.decodeUnknownEffect(Schema.Array(AgentWallet))
const OpenWallet = Schema.Struct({
  wallet: AddressBytes,
  count: Schema.Int,
  grants: Schema.Boolean,
  env: Schema.NullOr(Env)
})
const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ count: Schema.Int })))
const decodeWallets = Schema.decodeUnknownEffect(Schema.Array(OpenWallet))

export class SecretUseRepo extends Context.Service<
  SecretUseRepo,
  {
    readonly fingerprints: Effect.Effect<ReadonlyArray<Fingerprint>>
    /** Stores the fingerprint, unless another instance stored one first. */
    readonly record: (fingerprint: Fingerprint, at: Date) => Effect.Effect<void>
    /** Replaces the fingerprint: nothing stored depends on the previous secret. */
    readonly replace: (fingerprint: Fingerprint, at: Date) => Effect.Effect<void>
    /** Active and paused agents of these environments, newest first. */
    readonly agentWallets: (
      envs: ReadonlyArray<Env>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<typeof AgentWallet.Type>>
    /**
     * Wallets with open transactions. `grants` is true if the faucet sent any of them; `env` is set if a
     * settlement or an agent's payment determines it.
     */
    readonly openWallets: Effect.Effect<ReadonlyArray<typeof OpenWallet.Type>>
    /** The number of pending payments that were opened before any of these secrets signed a token. */
    readonly pendingBefore: (kids: ReadonlyArray<string>) => Effect.Effect<number>
  }
>()("quittance/app/SecretUseRepo") {
  static readonly layer: Layer.Layer<SecretUseRepo, never, SqlClient.SqlClient> = Layer.effect(
    SecretUseRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return SecretUseRepo.of({
        fingerprints: sql`SELECT variable, kid, fingerprint FROM secret_fingerprints`.pipe(
          Effect.flatMap(decodeFingerprints),
          Effect.orDie
        ),
        record: Effect.fn("SecretUseRepo.record")(function* ({ fingerprint, kid, variable }, at) {
          yield* sql`
            INSERT INTO secret_fingerprints (variable, kid, fingerprint, first_used_at)
            VALUES (${variable}, ${kid}, ${fingerprint}, ${at}) ON CONFLICT DO NOTHING`
        }, Effect.orDie),
        replace: Effect.fn("SecretUseRepo.replace")(function* ({ fingerprint, kid, variable }, at) {
          yield* sql`
            INSERT INTO secret_fingerprints (variable, kid, fingerprint, first_used_at)
            VALUES (${variable}, ${kid}, ${fingerprint}, ${at})
            ON CONFLICT (variable, kid) DO UPDATE
            SET fingerprint = excluded.fingerprint, first_used_at = excluded.first_used_at`
        }, Effect.orDie),
        agentWallets: Effect.fn("SecretUseRepo.agentWallets")(function* (envs, limit) {
          return yield* decodeAgents(
            yield* sql`
              SELECT env, wallet_index, address FROM agents
              WHERE status <> 'revoked' AND address IS NOT NULL AND env = ANY (${envs}::text[])
              ORDER BY wallet_index DESC LIMIT ${limit}`
          )
        }, Effect.orDie),
        openWallets: sql`
          SELECT w.wallet, count(*)::int AS count, bool_or(w.purpose IN ('gas', 'usdc')) AS grants,
            max(coalesce(s.env, a.env)) AS env
          FROM wallet_transactions w
          LEFT JOIN x402_settlements s ON s.id = w.reference
          LEFT JOIN agent_payments p ON p.id = w.reference
          LEFT JOIN agents a ON a.id = p.agent_id
          WHERE w.ended_at IS NULL GROUP BY w.wallet`.pipe(Effect.flatMap(decodeWallets), Effect.orDie),
        pendingBefore: Effect.fn("SecretUseRepo.pendingBefore")(function* (kids) {
          const [row] = yield* decodeCounts(
            yield* sql`
              SELECT count(*)::int AS count FROM payments
              WHERE status = 'pending' AND created_at < coalesce((
                SELECT min(first_used_at) FROM secret_fingerprints
                WHERE variable = 'INTENT_TOKEN_SECRETS' AND kid = ANY (${kids}::text[])), 'infinity')`
          )
          return row?.count ?? 0
        }, Effect.orDie)
      })
    })
  )
}
