// The contract of payment links: a merchant creates and shares them, and buyers open them.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Env } from "../../domain/Chain.ts"
import {
  LiveModeGated,
  PaymentLinkClosed,
  PaymentLinkNotFound,
  RateLimited,
  ReceiverTaken
} from "../../domain/Errors.ts"
import { UsdAmount } from "../../domain/Money.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { dailyWorkRoles, everyRole } from "../../domain/roleSets.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { forKeys, type Mount } from "../../platform/http/Mount.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"
import { PageLimit } from "../Api.ts"

export const LinkState = Schema.Literals(["open", "paid", "expired", "closed"])

export const LinkId = Schema.String.check(
  Schema.isPattern(/^[\w-]{22,64}$/u, { message: "a payment link's id" })
)

const wellFormed = Schema.makeFilter(
  (text: string) => (text.isWellFormed() && !/\p{Cc}/u.test(text)) || "text without control characters",
  { toJsonSchema: () => ({ pattern: "^\\P{Cc}*$" }) }
)
const descriptionLength = { message: "1 to 500 characters" }
const Description = Schema.String.check(
  Schema.isMinLength(1, descriptionLength),
  Schema.isMaxLength(500, descriptionLength),
  wellFormed
).annotate({
  description: "The goods or service that the buyer pays for.",
  examples: ["Chess lesson"]
})

/** `Date.parse` reads February 30th as March 2nd. */
const isInstant = (text: string) => {
  const millis = Date.parse(text)
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text.slice(0, 19))
}

const ExpiresAt = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z$/u, {
    message: "ISO 8601 in UTC"
  }),
  Schema.makeFilter((text) => isInstant(text) || "a date that exists", {
    toJsonSchema: () => ({ format: "date-time" })
  })
).annotate({ description: "ISO 8601 in UTC.", examples: ["2027-01-31T12:00:00.000Z"] })

const amounts = {
  amount: Schema.optionalKey(
    UsdAmount.annotate({ description: "The fixed amount. Absent if the buyer chooses." })
  ),
  minAmount: Schema.optionalKey(
    UsdAmount.annotate({ description: "The smallest amount that a buyer may choose." })
  ),
  maxAmount: Schema.optionalKey(
    UsdAmount.annotate({ description: "The largest amount that a buyer may choose." })
  )
}

export const PaymentLink = Schema.Struct({
  id: LinkId,
  url: Schema.String.annotate({ description: "The page that a buyer opens." }),
  posterUrl: Schema.String.annotate({ description: "A printable page with the link's QR code." }),
  env: Env,
  merchant: Schema.String,
  description: Schema.String,
  ...amounts,
  currency: Schema.Literal("USD"),
  once: Schema.Boolean.annotate({ description: "True for a single-use link." }),
  state: LinkState,
  createdAt: Schema.String,
  expiresAt: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "PaymentLink" })
export type LinkView = typeof PaymentLink.Encoded

export const LinkList = Schema.Struct({
  links: Schema.Array(PaymentLink),
  hasMore: Schema.Boolean.annotate({ description: "True if older links exist." })
})
export type LinkList = typeof LinkList.Encoded

const LinkResponse = Schema.Struct({ link: PaymentLink })

export const NewLink = Schema.Struct({
  description: Description,
  ...amounts,
  once: Schema.optionalKey(Schema.Boolean.annotate({ description: "False when absent." })),
  expiresAt: Schema.optionalKey(ExpiresAt)
})

export const linkEndpoints = <Params extends Schema.Struct.Fields>({ access, params }: Mount<Params>) => ({
  create: allow(
    access({ manage: true, roles: dailyWorkRoles }),
    HttpApiEndpoint.post("create", "/payment-links", {
      payload: NewLink,
      success: LinkResponse.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(LiveModeGated)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a payment link",
        description: "Send `amount`, or `minAmount` and `maxAmount`. Each opening creates an intent."
      })
    )
  ),
  list: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("list", "/payment-links", {
      query: {
        limit: Schema.optionalKey(PageLimit),
        startingAfter: Schema.optionalKey(LinkId)
      },
      success: LinkList
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List payment links",
        description: "Newest first; the default limit is 100."
      })
    )
  ),
  close: allow(
    access({ manage: true, roles: dailyWorkRoles }),
    HttpApiEndpoint.delete("close", "/payment-links/:id", {
      params: { ...params, id: LinkId },
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PaymentLinkNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Close a payment link",
        description:
          "The link accepts no new payments, except from buyers who opened it within the last five minutes. Open payments continue."
      })
    )
  )
})

const { create, list, close } = linkEndpoints(forKeys)

export class PaymentLinksApi extends endpointGroup("paymentLinks")(create, list, close)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Payment links",
      description: "Created once; anyone with the link can pay."
    })
  ) {}

export const OpenedLink = Schema.Struct({
  intentToken: Schema.String,
  publishableKey: Schema.String.annotate({ description: "For the checkout, with the token." })
})

export class PublicLinksApi extends endpointGroup("publicLinks")(
  allow(
    { by: "anyone", crossOrigin: true },
    HttpApiEndpoint.get("read", "/links/:id", {
      params: { id: LinkId },
      success: LinkResponse,
      error: [errorResponse(PaymentLinkNotFound), errorResponse(RateLimited)]
    }).annotateMerge(
      OpenApi.annotations({ summary: "Read a payment link", description: "Needs only the link's id." })
    )
  ),
  allow(
    { by: "anyone", crossOrigin: true },
    HttpApiEndpoint.post("open", "/links/:id", {
      params: { id: LinkId },
      payload: Schema.Struct({
        amount: Schema.optionalKey(
          UsdAmount.annotate({
            description: "The buyer's amount, within the link's bounds, if the buyer chooses."
          })
        ),
        paymentId: Schema.optionalKey(
          PaymentId.annotate({ description: "A payment opened from this link, to continue it." })
        )
      }),
      success: OpenedLink.pipe(HttpApiSchema.status(201)),
      error: [
        errorResponse(PaymentLinkNotFound),
        errorResponse(PaymentLinkClosed),
        errorResponse(ReceiverTaken),
        errorResponse(RateLimited)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Open a payment link",
        description:
          "Creates an intent whose `intentUrl` is the link's page. A single-use link leads everybody to one payment. Until somebody begins to pay, another amount replaces that payment."
      })
    )
  )
)
  .middleware(BodyRules)
  .annotateMerge(
    OpenApi.annotations({ title: "Public links", description: "Payment links by their ids." })
  ) {}
