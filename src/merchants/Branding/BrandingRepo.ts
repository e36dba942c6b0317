// Storage of a merchant's branding: logo, accent colour, support contact.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { MerchantId } from "../../domain/Merchant.ts"

export interface MerchantBranding {
  /** A PNG that the service encoded. */
  readonly logo: Uint8Array | null
  /** `#rrggbb` */
  readonly accentColor: string | null
  readonly support: string | null
}

/** The fields that a form can send with their original values. */
export type BrandingText = Pick<MerchantBranding, "accentColor" | "support">

const isAs = (branding: MerchantBranding, was: Partial<BrandingText>): boolean =>
  (was.accentColor === undefined || was.accentColor === branding.accentColor) &&
  (was.support === undefined || was.support === branding.support)

export const noBranding: MerchantBranding = { logo: null, accentColor: null, support: null }

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      logo: Schema.NullOr(Schema.Uint8Array),
      accent_color: Schema.NullOr(Schema.String),
      support: Schema.NullOr(Schema.String)
    })
  )
)

export class BrandingRepo extends Context.Service<
  BrandingRepo,
  {
    readonly find: (merchantId: MerchantId) => Effect.Effect<MerchantBranding>
    /** Omitted fields stay. Returns false and changes nothing if a field no longer has its expected value `was`. */
    readonly change: (
      merchantId: MerchantId,
      change: Partial<MerchantBranding>,
      was: Partial<BrandingText>
    ) => Effect.Effect<boolean>
  }
>()("quittance/merchants/BrandingRepo") {
  static readonly layer: Layer.Layer<BrandingRepo, never, SqlClient.SqlClient> = Layer.effect(
    BrandingRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return BrandingRepo.of({
        find: Effect.fn("BrandingRepo.find")(function* (merchantId) {
          const [row] = yield* decodeRows(
            yield* sql`SELECT logo, accent_color, support FROM merchant_branding WHERE merchant_id = ${merchantId}`
          )
          return row === undefined
            ? noBranding
            : { logo: row.logo, accentColor: row.accent_color, support: row.support }
        }, Effect.orDie),
        change: Effect.fn("BrandingRepo.change")(function* (merchantId, { accentColor, logo, support }, was) {
          const changed = yield* sql`
            INSERT INTO merchant_branding AS f (merchant_id, logo, accent_color, support)
            SELECT ${merchantId}::uuid, ${logo ?? null}::bytea, ${accentColor ?? null}::text, ${support ?? null}::text
            WHERE ${isAs(noBranding, was)} OR EXISTS (SELECT 1 FROM merchant_branding WHERE merchant_id = ${merchantId})
            ON CONFLICT (merchant_id) DO UPDATE SET
              accent_color = CASE WHEN ${accentColor === undefined} THEN f.accent_color ELSE excluded.accent_color END,
              support = CASE WHEN ${support === undefined} THEN f.support ELSE excluded.support END,
              logo = CASE WHEN ${logo === undefined}::boolean THEN f.logo ELSE excluded.logo END
            WHERE (${was.accentColor === undefined}
                OR f.accent_color IS NOT DISTINCT FROM ${was.accentColor ?? null}::text)
              AND (${was.support === undefined} OR f.support IS NOT DISTINCT FROM ${was.support ?? null}::text)
            RETURNING merchant_id`
          return changed.length > 0
        }, Effect.orDie)
      })
    })
  )
}
