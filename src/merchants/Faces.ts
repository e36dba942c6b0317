// What buyers see of a merchant beside its name. A logo is decoded and re-encoded before it is kept.
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { InvalidRequest } from "../domain/Errors.ts"
import type { MerchantId } from "../domain/Merchant.ts"
import { cleanPng } from "./Faces/cleanPng.ts"
import { type Face, FaceRepo } from "./Faces/FaceRepo.ts"

/** The logo as an `src` that needs nothing of a page's policy but `data:`. */
export const logoUrlOf = ({ logo }: Face): string | null =>
  logo === null ? null : `data:image/png;base64,${Buffer.from(logo).toString("base64")}`

const make = Effect.gen(function* () {
  const repo = yield* FaceRepo
  return Faces.of({
    find: repo.find,
    change: Effect.fn("Faces.change")(function* (merchantId, { accentColor, logo, support }) {
      const image = typeof logo === "string" ? cleanPng(Buffer.from(logo, "base64")) : logo
      if (typeof logo === "string" && image === undefined) {
        return yield* new InvalidRequest({
          details: [{ path: "body.logo", message: "A PNG of 8-bit RGB or RGBA, at most 256 pixels a side." }]
        })
      }
      yield* repo.set(merchantId, { accentColor, support, logo: image })
      return yield* repo.find(merchantId)
    })
  })
})

export class Faces extends Context.Service<
  Faces,
  {
    readonly find: (merchantId: MerchantId) => Effect.Effect<Face>
    /** `logo` is a PNG in base64; without one the logo stays, null removes it. */
    readonly change: (
      merchantId: MerchantId,
      face: Pick<Face, "accentColor" | "support"> & { readonly logo?: string | null | undefined }
    ) => Effect.Effect<Face, InvalidRequest>
  }
>()("quittance/merchants/Faces") {
  static readonly layer: Layer.Layer<Faces, never, SqlClient.SqlClient> = Layer.effect(Faces, make).pipe(
    Layer.provide(FaceRepo.layer)
  )

  /** In this process. */
  static readonly layerMemory: Layer.Layer<Faces> = Layer.effect(Faces, make).pipe(
    Layer.provide(FaceRepo.layerMemory)
  )
}
