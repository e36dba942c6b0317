// A merchant's branding for buyers. A logo is decoded and re-encoded before it is stored.
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { type InvalidRequest, invalidField } from "../domain/Errors.ts"
import type { MerchantId } from "../domain/Merchant.ts"
import {
  BrandingRepo,
  type BrandingText,
  type MerchantBranding,
  noBranding
} from "./Branding/BrandingRepo.ts"
import { cleanPng } from "./Branding/cleanPng.ts"

/** The logo as an image source. A page's policy must allow `data:`. */
export const logoUrlOf = ({ logo }: MerchantBranding): string | null =>
  logo === null ? null : `data:image/png;base64,${Buffer.from(logo).toString("base64")}`

const make = Effect.gen(function* () {
  const repo = yield* BrandingRepo
  return Branding.of({
    find: repo.find,
    change: Effect.fn("Branding.change")(function* (merchantId, { logo, ...text }, was = {}) {
      const image = typeof logo === "string" ? cleanPng(Buffer.from(logo, "base64")) : logo
      if (typeof logo === "string" && image === undefined) {
        return yield* invalidField("body.logo", "A PNG of 8-bit RGB or RGBA, at most 256 pixels a side.")
      }
      const changed = yield* repo.change(
        merchantId,
        { ...text, ...(image === undefined ? {} : { logo: image }) },
        was
      )
      return { branding: yield* repo.find(merchantId), changed }
    })
  })
})

export class Branding extends Context.Service<
  Branding,
  {
    readonly find: (merchantId: MerchantId) => Effect.Effect<MerchantBranding>
    /**
     * Changes the branding and returns it. Omitted fields stay; `logo` is a PNG in base64, and null removes it.
     * Nothing changes if a field no longer has its expected value `was`.
     */
    readonly change: (
      merchantId: MerchantId,
      change: Partial<BrandingText> & { readonly logo?: string | null },
      was?: Partial<BrandingText>
    ) => Effect.Effect<{ readonly branding: MerchantBranding; readonly changed: boolean }, InvalidRequest>
  }
>()("quittance/merchants/Branding") {
  static readonly layer: Layer.Layer<Branding, never, SqlClient.SqlClient> = Layer.effect(
    Branding,
    make
  ).pipe(Layer.provide(BrandingRepo.layer))

  /** No merchant has branding, and changes have no effect. */
  static readonly layerNone: Layer.Layer<Branding> = Layer.succeed(Branding, {
    find: () => Effect.succeed(noBranding),
    change: () => Effect.succeed({ branding: noBranding, changed: false })
  })
}
