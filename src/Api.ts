// The whole HTTP contract, group by group. Handlers live in each room's Http.ts.
import { HttpApi, OpenApi } from "effect/http-api"
import { AgentApi, AgentTestRailApi } from "./agents/Api.ts"
import { BooksApi } from "./books/Api.ts"
import { CheckoutApi, PlaygroundApi, TestRailApi } from "./checkout/Api.ts"
import { EventsApi } from "./events/Api.ts"
import { Envelope } from "./http/Envelope.ts"
import { Answers } from "./http/RequestRules.ts"
import { PaymentIntentsApi } from "./intents/Api.ts"
import { PaymentLinksApi, PublicLinksApi } from "./links/Api.ts"
import { compactDocument } from "./openapi/compactDocument.ts"
import { PaymentsApi } from "./payments/Api.ts"
import { PublicReceiptsApi, ReceiptsApi } from "./receipts/Api.ts"
import { RefundsApi } from "./refunds/Api.ts"
import { RelayingApi } from "./relaying/Api.ts"
import { WebhookEndpointApi } from "./webhooks/Api.ts"
import { X402Api, X402PaymentApi } from "./x402/Api.ts"

export class Api extends HttpApi.make("quittance")
  .add(
    PaymentIntentsApi,
    PaymentsApi,
    RelayingApi,
    PaymentLinksApi,
    PublicLinksApi,
    ReceiptsApi,
    PublicReceiptsApi,
    RefundsApi,
    BooksApi,
    EventsApi,
    WebhookEndpointApi,
    CheckoutApi,
    TestRailApi,
    PlaygroundApi,
    AgentApi,
    AgentTestRailApi,
    X402Api,
    X402PaymentApi
  )
  .prefix("/api/v1")
  .middleware(Answers)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.AdditionalSchemas, [Envelope])
  .annotate(OpenApi.Transform, compactDocument)
  .annotateMerge(
    OpenApi.annotations({
      title: "Quittance",
      version: "1.0.0",
      description:
        "Payment intents in USD, settled in USDC, verified on chain, delivered by signed webhooks. Every error has the same envelope with a stable code."
    })
  ) {}
