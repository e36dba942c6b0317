// Verifies a delivery as merchants do: with the real stripe, standardwebhooks and svix packages.
import { Webhook as StandardWebhook } from "standardwebhooks"
import type StripeNode from "stripe"
import { Webhook as SvixWebhook } from "svix"

// On Bun the stripe package loads a build without `constructEvent`'s synchronous form; merchants on Node call that
// form, so its Node build is imported by name.
const nodeBuild = new URL("./stripe.esm.node.js", import.meta.resolve("stripe")).href
const { default: Stripe }: { readonly default: typeof StripeNode } = await import(nodeBuild)

/** Throws unless all three accept the body, its headers and the secret exactly as given. */
export const verifyWithMerchantLibraries = (
  body: string,
  headers: Record<string, string>,
  secret: string
): void => {
  verifiers.stripe(body, headers, secret)
  verifiers.standardwebhooks(body, headers, secret)
  verifiers.svix(body, headers, secret)
}

/** Each library on its own; throws when it refuses. */
export const verifiers = {
  stripe: (body: string, headers: Record<string, string>, secret: string): void => {
    new Stripe("sk_x").webhooks.constructEvent(body, headers["x-service-signature"] ?? "", secret)
  },
  standardwebhooks: (body: string, headers: Record<string, string>, secret: string): void => {
    new StandardWebhook(secret).verify(body, headers)
  },
  svix: (body: string, headers: Record<string, string>, secret: string): void => {
    new SvixWebhook(secret).verify(body, headers)
  }
}
