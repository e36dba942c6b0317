// The contract of a merchant's first steps on test.
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { everyRole } from "../../../domain/roleSets.ts"
import { allow } from "../../../platform/http/Access.ts"
import { memberGroup } from "../memberGroup.ts"

export const FirstRunPage = Schema.Struct({
  receiver: Schema.String,
  /** The publishable key for the playground and the checkout; null if none is readable. */
  publishableKey: Schema.NullOr(Schema.String),
  /** True if a secret key has been used. */
  usedKey: Schema.Boolean,
  hasEndpoint: Schema.Boolean,
  triedPlayground: Schema.Boolean,
  /** True if a payment has settled. */
  paid: Schema.Boolean
})
export type FirstRunPage = typeof FirstRunPage.Encoded

export class FirstRunPagesApi extends memberGroup("firstRunPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/first-run", { success: Schema.toEncoded(FirstRunPage) })
  )
) {}
