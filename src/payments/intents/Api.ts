// The contract of payment intents (docs/contract.md 2.2 and 4.1).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address, Env } from "../../domain/Chain.ts"
import { LiveModeGated, ReceiverTaken } from "../../domain/Errors.ts"
import { UsdAmount } from "../../domain/Money.ts"
import { networks } from "../../domain/networks.ts"
import { urlPattern } from "../../domain/urlPattern.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"

/** The settlement identity of an environment. */
export const Token = Schema.Struct({
  address: Address.annotate({ description: "The USDC contract.", examples: [networks.test.usdc.address] }),
  chainId: Schema.Int.annotate({ description: "EIP-155 chain id.", examples: [networks.test.chainId] })
}).annotate({ identifier: "Token" })

const noControls = (text: string) => text.isWellFormed() && !/[\p{Cc}\s\\]/u.test(text)

/** docs/contract.md 4.1: https, or http on localhost; no credentials, no fragment, at most 2048 characters. */
export const IntentUrl = Schema.String.check(
  Schema.isMaxLength(2048, { message: "at most 2048 characters" }),
  Schema.makeFilter(
    (text) => {
      const url = noControls(text) ? URL.parse(text) : null
      if (url === null) return "an absolute URL"
      const local = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
      if (url.protocol !== "https:" && !(url.protocol === "http:" && local)) {
        return "https, or http on localhost in development"
      }
      if (!/^https?:\/\/[^/?#]/i.test(text)) return "an absolute URL"
      if (url.username !== "" || url.password !== "" || /^[a-z]+:\/\/[^/?#]*@/i.test(text)) {
        return "a URL without credentials"
      }
      return text.includes("#") ? "a URL without a fragment" : undefined
    },
    { toJsonSchema: () => ({ pattern: urlPattern }) }
  )
).annotate({
  description:
    "The order's page at the merchant: https (http on localhost in development), without credentials or fragment.",
  examples: ["https://shop.example.com/orders/1042"]
})

export const Intent = Schema.Struct({
  amount: UsdAmount,
  currency: Schema.Literal("USD"),
  mode: Env.annotate({ description: "The key's environment." }),
  receiver: Address.annotate({
    description: "The merchant's receiving address, frozen in the token.",
    examples: [Address.make("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045")]
  }),
  token: Token
}).annotate({ identifier: "Intent" })

export const CreatedIntent = Schema.Struct({
  intent: Intent,
  intentToken: Schema.String.annotate({
    description:
      "The signed commitment to the amount. The checkout presents it; it opens a payment for 5 minutes."
  })
}).annotate({ identifier: "CreatedIntent" })

export class PaymentIntentsApi extends endpointGroup("paymentIntents")(
  allow(
    { by: "key", kinds: ["secret"], manage: true },
    HttpApiEndpoint.post("create", "/payment-intents", {
      payload: Schema.Struct({ amount: UsdAmount, intentUrl: IntentUrl }),
      success: CreatedIntent.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(LiveModeGated), errorResponse(ReceiverTaken)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a payment intent",
        description: "Creates an intent: a signed commitment to the amount of one payment."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Payment intents",
      description: "Amounts that the merchant's server commits to."
    })
  ) {}
