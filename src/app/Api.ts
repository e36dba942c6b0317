// The whole HTTP contract, group by group. Handlers are in the Http.ts of each group's folder.
import { HttpApi, OpenApi } from "effect/http-api"
import { CheckoutApi, PlaygroundApi, TestRailApi } from "../checkout/Api.ts"
import { SettlementLevelsApi } from "../merchants/settlementLevels/Api.ts"
import { PaymentsApi } from "../payments/Api.ts"
import { BooksApi } from "../payments/books/Api.ts"
import { EventsApi } from "../payments/events/Api.ts"
import { PaymentIntentsApi } from "../payments/intents/Api.ts"
import { PaymentLinksApi, PublicLinksApi } from "../payments/links/Api.ts"
import { PublicReceiptsApi, ReceiptsApi } from "../payments/receipts/Api.ts"
import { RefundsApi } from "../payments/refunds/Api.ts"
import { Envelope } from "../platform/http/Envelope.ts"
import { ResponseEnvelope } from "../platform/http/RequestRules.ts"
import { WebhookEndpointApi } from "../webhooks/Api.ts"
import { X402Api, X402PaymentApi } from "../x402/Api.ts"
import { AgentApi, AgentTestRailApi } from "../x402/agents/Api.ts"
import { RelayingApi } from "../x402/relaying/Api.ts"
import { compactDocument } from "./openapi/compactDocument.ts"

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
    SettlementLevelsApi,
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
  .middleware(ResponseEnvelope)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.AdditionalSchemas, [Envelope])
  .annotate(OpenApi.Transform, compactDocument)
  .annotateMerge(
    OpenApi.annotations({
      title: "Quittance",
      version: "1.0.0",
      description:
        "Payment intents in USD, settled in USDC, verified on chain, delivered by signed webhooks. Every error has the same envelope with a stable code. Responses are not cached (`cache-control: no-store`)."
    })
  ) {}
