// What buyers see of a merchant beside its name: logo, accent colour, whom to ask.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { MerchantId } from "../../domain/Merchant.ts"

export interface Face {
  /** A PNG, written by us. */
  readonly logo: Uint8Array | null
  /** `#rrggbb` */
  readonly accentColor: string | null
  readonly support: string | null
}

const noFace: Face = { logo: null, accentColor: null, support: null }

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      logo: Schema.NullOr(Schema.Uint8Array),
      accent_color: Schema.NullOr(Schema.String),
      support: Schema.NullOr(Schema.String)
    })
  )
)

export class FaceRepo extends Context.Service<
  FaceRepo,
  {
    readonly find: (merchantId: MerchantId) => Effect.Effect<Face>
    /** The logo stays where `logo` is undefined. */
    readonly set: (
      merchantId: MerchantId,
      face: Omit<Face, "logo"> & { readonly logo: Face["logo"] | undefined }
    ) => Effect.Effect<void>
  }
>()("quittance/merchants/FaceRepo") {
  static readonly layer: Layer.Layer<FaceRepo, never, SqlClient.SqlClient> = Layer.effect(
    FaceRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return FaceRepo.of({
        find: Effect.fn("FaceRepo.find")(function* (merchantId) {
          const [row] = yield* decodeRows(
            yield* sql`SELECT logo, accent_color, support FROM merchant_faces WHERE merchant_id = ${merchantId}`
          )
          return row === undefined
            ? noFace
            : { logo: row.logo, accentColor: row.accent_color, support: row.support }
        }, Effect.orDie),
        set: Effect.fn("FaceRepo.set")(function* (merchantId, { accentColor, logo, support }) {
          yield* sql`
            INSERT INTO merchant_faces AS f (merchant_id, logo, accent_color, support)
            VALUES (${merchantId}, ${logo ?? null}::bytea, ${accentColor}, ${support})
            ON CONFLICT (merchant_id) DO UPDATE SET accent_color = excluded.accent_color,
              support = excluded.support,
              logo = CASE WHEN ${logo === undefined}::boolean THEN f.logo ELSE excluded.logo END`
        }, Effect.orDie)
      })
    })
  )

  /** In this process. */
  static readonly layerMemory: Layer.Layer<FaceRepo> = Layer.sync(FaceRepo, () => {
    const faces = new Map<MerchantId, Face>()
    const find = (merchantId: MerchantId) => faces.get(merchantId) ?? noFace
    return FaceRepo.of({
      find: (merchantId) => Effect.sync(() => find(merchantId)),
      set: (merchantId, { logo, ...face }) =>
        Effect.sync(() => {
          faces.set(merchantId, { ...face, logo: logo === undefined ? find(merchantId).logo : logo })
        })
    })
  })
}
