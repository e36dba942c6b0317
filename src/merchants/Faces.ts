// What buyers see of a merchant beside its name. A logo is decoded and re-encoded before it is kept.
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { InvalidRequest } from "../domain/Errors.ts"
import type { MerchantId } from "../domain/Merchant.ts"
import { cleanPng } from "./Faces/cleanPng.ts"
import { type Face, FaceRepo, type FaceText, noFace } from "./Faces/FaceRepo.ts"

/** The logo as an `src` that needs nothing of a page's policy but `data:`. */
export const logoUrlOf = ({ logo }: Face): string | null =>
  logo === null ? null : `data:image/png;base64,${Buffer.from(logo).toString("base64")}`

const make = Effect.gen(function* () {
  const repo = yield* FaceRepo
  return Faces.of({
    find: repo.find,
    change: Effect.fn("Faces.change")(function* (merchantId, { logo, ...text }, was = {}) {
      const image = typeof logo === "string" ? cleanPng(Buffer.from(logo, "base64")) : logo
      if (typeof logo === "string" && image === undefined) {
        return yield* new InvalidRequest({
          details: [{ path: "body.logo", message: "A PNG of 8-bit RGB or RGBA, at most 256 pixels a side." }]
        })
      }
      const changed = yield* repo.change(
        merchantId,
        { ...text, ...(image === undefined ? {} : { logo: image }) },
        was
      )
      return { face: yield* repo.find(merchantId), changed }
    })
  })
})

export class Faces extends Context.Service<
  Faces,
  {
    readonly find: (merchantId: MerchantId) => Effect.Effect<Face>
    /**
     * What is left out stays; `logo` is a PNG in base64, null removes it. Nothing is changed where something is no
     * longer as it `was`. The face as it stands then.
     */
    readonly change: (
      merchantId: MerchantId,
      change: Partial<FaceText> & { readonly logo?: string | null },
      was?: Partial<FaceText>
    ) => Effect.Effect<{ readonly face: Face; readonly changed: boolean }, InvalidRequest>
  }
>()("quittance/merchants/Faces") {
  static readonly layer: Layer.Layer<Faces, never, SqlClient.SqlClient> = Layer.effect(Faces, make).pipe(
    Layer.provide(FaceRepo.layer)
  )

  /** Knows nothing of any merchant, and changes nothing. */
  static readonly layerNone: Layer.Layer<Faces> = Layer.succeed(Faces, {
    find: () => Effect.succeed(noFace),
    change: () => Effect.succeed({ face: noFace, changed: false })
  })
}
