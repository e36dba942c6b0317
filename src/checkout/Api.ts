// The contract of the checkout and the playground (docs/contract.md 4.2 and 4.3).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { BalanceView, Digits } from "../domain/BalanceView.ts"
import { Address, Env, TransactionHash } from "../domain/Chain.ts"
import {
  ChainUnavailable,
  FaucetLimitReached,
  FaucetUnavailable,
  InvalidApiKey,
  InvalidBuyerToken,
  KeyKindNotAllowed,
  NotFound,
  PaymentNotFound,
  PlaygroundTestnetOnly,
  RateLimited,
  ReceiverTaken
} from "../domain/Errors.ts"
import { PaymentIdParam } from "../payments/Api.ts"
import { CreatedIntent } from "../payments/intents/Api.ts"
import { allow, endpointGroup } from "../platform/http/Access.ts"
import { ApiKeyAuth, TestRail } from "../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../platform/http/Envelope.ts"
import { BodyRules } from "../platform/http/RequestRules.ts"
import { DeliveryView } from "../webhooks/Api.ts"

/** The amounts for which the playground creates intents (docs/contract.md 8). */
export const playgroundAmounts = ["0.50", "1.00", "2.00", "5.00"] as const

const AddressParam = Address.annotate({ description: "A wallet address, 0x and 40 hex digits." })

const PublishableKeyParam = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)).annotate({
  description: "A test publishable key."
})

export class CheckoutApi extends endpointGroup("checkout")(
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.get("context", "/checkout-context", {
      success: Schema.Struct({
        merchant: Schema.Struct({
          name: Schema.String,
          logoUrl: Schema.optionalKey(
            Schema.String.annotate({
              description: "A `data:` URL of the uploaded logo, or the merchant's URL."
            })
          ),
          accentColor: Schema.optionalKey(Schema.String.annotate({ examples: ["#3730d4"] })),
          support: Schema.optionalKey(
            Schema.String.annotate({
              description: "The merchant's support contact: an email address, a URL or text."
            })
          )
        }),
        env: Env,
        livemode: Schema.Boolean,
        open: Schema.Boolean.annotate({
          description: "False while the network accepts no payments."
        }),
        settlement: Schema.Array(
          Schema.Struct({
            upTo: Schema.optionalKey(Schema.String.annotate({ examples: ["100000000"] })),
            seconds: Schema.Finite
          })
        ).annotate({ description: "The approximate time to settle, by the atomic amount." }),
        now: Schema.String.annotate({ description: "The service's time, ISO 8601." }),
        paymentExpirySeconds: Schema.Int.annotate({
          description: "How long a payment stays open without a transfer."
        }),
        audience: Schema.String.annotate({ description: "The `aud` of a buyer's token." }),
        tokenLifetimeSeconds: Schema.Int.annotate({
          description: "The longest lifetime of a buyer's token, from `iat` and `nbf` to `ext`."
        }),
        chain: Schema.Struct({
          id: Schema.Int,
          name: Schema.String,
          explorerUrl: Schema.optionalKey(
            Schema.String.annotate({
              description: "Absent if the chain runs on the service's own machine."
            })
          ),
          rpcUrl: Schema.optionalKey(Schema.String),
          haltedSince: Schema.optionalKey(
            Schema.String.annotate({
              description: "The time of the chain's newest block, while it makes none.",
              examples: ["2026-01-31T12:00:00.000Z"]
            })
          )
        }),
        token: Schema.Struct({
          address: Address,
          chainId: Schema.Int,
          symbol: Schema.String,
          decimals: Schema.Int
        }),
        receiver: Address,
        faucet: Schema.Struct({
          enabled: Schema.Boolean,
          usdcAtomic: Digits.annotate({ description: "The amounts of one grant." })
        }),
        onrampUrl: Schema.optionalKey(
          Schema.String.annotate({
            description: "A page to buy USDC, with the placeholders {address} and {amount}."
          })
        ),
        walletConnect: Schema.optionalKey(
          Schema.Struct({
            projectId: Schema.String.annotate({ description: "The operator's WalletConnect project." }),
            relayUrl: Schema.String
          }).annotate({ description: "Present if the service serves `/walletconnect.js`." })
        ),
        playgroundAmounts: Schema.Array(Schema.String)
      })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Read the checkout's context",
        description: "Merchant display data and client configuration of the key's environment."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Checkout",
      description: "The endpoints that the checkout calls from the browser."
    })
  ) {}

export class TestRailApi extends endpointGroup("testRail")(
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true, testRail: true },
    HttpApiEndpoint.get("balance", "/checkout/test-balance", {
      query: { address: AddressParam },
      success: Schema.Struct({ balance: BalanceView }),
      error: [errorResponse(ChainUnavailable)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Read a test balance",
        description: "USDC and gas of an address, read from the test chain."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true, testRail: true },
    HttpApiEndpoint.get("delivery", "/checkout/test-delivery", {
      query: { paymentId: PaymentIdParam },
      success: Schema.Struct({
        delivery: Schema.NullOr(
          Schema.Struct({
            ...DeliveryView.fields,
            payload: Schema.String.annotate({ description: "The signed body of the delivery." })
          })
        ).annotate({ description: "Null until the payment settles with a registered endpoint." })
      }),
      error: [errorResponse(PaymentNotFound), errorResponse(NotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Read a payment's webhook, in development",
        description:
          "The delivery of one payment, without the merchant's URL or secret, for the playground. In production the response is 404 NOT_FOUND."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true, testRail: true },
    HttpApiEndpoint.post("funds", "/checkout/test-funds", {
      payload: Schema.Struct({
        buyerDidToken: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(16384)).annotate({
          description: "The buyer's token; its address receives the grant."
        })
      }),
      success: Schema.Struct({
        grant: Schema.Struct({
          address: Address,
          usdcAtomic: Digits,
          gasWei: Digits,
          transactionIds: Schema.Array(TransactionHash)
        }),
        balance: BalanceView
      }).pipe(HttpApiSchema.status(201)),
      error: [
        errorResponse(InvalidBuyerToken),
        errorResponse(FaucetLimitReached),
        errorResponse(FaucetUnavailable),
        errorResponse(ChainUnavailable)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Ask the faucet",
        description:
          "Sends test USDC and gas to the verified buyer: at most 3 grants per recipient and 25 per merchant in a day, and 20 per client address in an hour."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(TestRail)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Test funds",
      description: "Balances and funds on Testnet, for test keys only."
    })
  ) {}

export class PlaygroundApi extends endpointGroup("playground")(
  allow(
    { by: "anyone", crossOrigin: true },
    HttpApiEndpoint.get("intent", "/checkout/playground-intent", {
      query: { pk: PublishableKeyParam, amount: Schema.Literals(playgroundAmounts) },
      success: CreatedIntent,
      error: [
        errorResponse(InvalidApiKey),
        errorResponse(KeyKindNotAllowed),
        errorResponse(PlaygroundTestnetOnly),
        errorResponse(ReceiverTaken),
        errorResponse(RateLimited)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Mint a playground intent",
        description: "A capped, Testnet-only intent that needs only a publishable key, to try the checkout."
      })
    )
  )
).annotateMerge(OpenApi.annotations({ title: "Playground", description: "Try the checkout." })) {}
