// The handlers of the contract, and everything else that is read over HTTP.
import { BunHttpServer } from "@effect/platform-bun"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "./Api.ts"
import * as AgentsHttp from "./agents/Http.ts"
import * as BooksHttp from "./books/Http.ts"
import * as CheckoutHttp from "./checkout/Http.ts"
import * as CheckoutPages from "./checkout/Pages.ts"
import { DashboardApi } from "./dashboard/Api.ts"
import * as Dashboard from "./dashboard/Dashboard.ts"
import { dashboardPaths } from "./dashboard/Pages.ts"
import * as EventsHttp from "./events/Http.ts"
import * as Guides from "./guides/Pages.ts"
import { layerAnswers } from "./http/Answers.ts"
import { layerApiKeyAuth, layerTestRail } from "./http/ApiKeyAuth/layerApiKeyAuth.ts"
import { narrowed } from "./http/narrowed.ts"
import { layerBodyRules } from "./http/RequestRules/layerBodyRules.ts"
import { endpointsOf } from "./http/Routing/pathTable.ts"
import * as Routing from "./http/Routing.ts"
import * as Server from "./http/Server.ts"
import * as System from "./http/System.ts"
import * as IntentsHttp from "./intents/Http.ts"
import * as LinksHttp from "./links/Http.ts"
import * as LinkPages from "./links/Pages.ts"
import * as Documents from "./openapi/Documents.ts"
import * as PaymentsHttp from "./payments/Http.ts"
import * as ReceiptsHttp from "./receipts/Http.ts"
import * as ReceiptPages from "./receipts/Pages.ts"
import * as RefundsHttp from "./refunds/Http.ts"
import * as RelayingHttp from "./relaying/Http.ts"
import * as WebhooksHttp from "./webhooks/Http.ts"
import * as X402Http from "./x402/Http.ts"

const contract = HttpApiBuilder.layer(Api).pipe(
  Layer.provide([
    IntentsHttp.layer,
    PaymentsHttp.layer,
    RelayingHttp.layer,
    LinksHttp.layer,
    ReceiptsHttp.layer,
    RefundsHttp.layer,
    BooksHttp.layer,
    EventsHttp.layer,
    WebhooksHttp.layer,
    CheckoutHttp.layer,
    AgentsHttp.layer,
    X402Http.layer
  ]),
  Layer.provide([layerApiKeyAuth, layerTestRail, layerBodyRules, layerAnswers])
)

const served = Layer.mergeAll(
  contract,
  System.layer,
  Documents.layer,
  Guides.layer,
  CheckoutPages.layer,
  ReceiptPages.layer,
  LinkPages.layer
)

/** What takes no query: machines and developers read it. */
const documents = [...System.systemPaths, ...Documents.documentPaths, ...Guides.guidePaths]
const paths = [...documents, ...CheckoutPages.pagePaths, ...ReceiptPages.receiptPaths, ...LinkPages.linkPaths]

/** Without what needs a database. */
export const layer = Layer.merge(served, Routing.layer(endpointsOf(Api), paths, documents))

/** With the dashboard and `/readyz`. */
const layerDatabase = Layer.mergeAll(
  served,
  System.layerReady,
  Dashboard.layer.pipe(Layer.provide([layerBodyRules, layerAnswers])),
  Routing.layer([...endpointsOf(Api), ...endpointsOf(DashboardApi)], [...paths, ...dashboardPaths], documents)
)

/** All of it on `server`, which listens once the routes are there. */
export const serving = <E, R>(server: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Layer.unwrap(
    Effect.map(HttpRouter.toHttpEffect(layerDatabase), (handler) =>
      HttpServer.serve(handler).pipe(narrowed(HttpServer.HttpServer), Layer.provideMerge(server))
    )
  ).pipe(
    Layer.provide([
      Layer.succeed(HttpRouter.RouterConfig, Server.routerConfig),
      BunHttpServer.layerHttpServices
    ])
  )
