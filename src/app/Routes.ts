// The handlers of the contract, and all other HTTP routes.
import { BunHttpServer } from "@effect/platform-bun"
import { type Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as CheckoutHttp from "../checkout/Http.ts"
import * as CheckoutPages from "../checkout/Pages.ts"
import * as LinkPages from "../checkout/pages/links/Pages.ts"
import * as ReceiptPages from "../checkout/pages/receipts/Pages.ts"
import { layerApiKeyAuth, layerTestRail } from "../merchants/keys/layerApiKeyAuth.ts"
import * as SettlementLevelsHttp from "../merchants/settlementLevels/Http.ts"
import * as BooksHttp from "../payments/books/Http.ts"
import * as EventsHttp from "../payments/events/Http.ts"
import * as PaymentsHttp from "../payments/Http.ts"
import * as IntentsHttp from "../payments/intents/Http.ts"
import * as LinksHttp from "../payments/links/Http.ts"
import * as ReceiptsHttp from "../payments/receipts/Http.ts"
import * as RefundsHttp from "../payments/refunds/Http.ts"
import { layerBodyRules } from "../platform/http/RequestRules/layerBodyRules.ts"
import { layerResponseEnvelope } from "../platform/http/ResponseEnvelope.ts"
import { endpointsOf } from "../platform/http/Routing/pathTable.ts"
import * as Routing from "../platform/http/Routing.ts"
import * as Server from "../platform/http/Server.ts"
import * as System from "../platform/http/System.ts"
import { withServices } from "../platform/http/withServices.ts"
import * as WebhooksHttp from "../webhooks/Http.ts"
import * as AgentsHttp from "../x402/agents/Http.ts"
import * as X402Http from "../x402/Http.ts"
import * as RelayingHttp from "../x402/relaying/Http.ts"
import { Api } from "./Api.ts"
import * as Packages from "./guides/Packages.ts"
import * as Guides from "./guides/Pages.ts"
import * as Documents from "./openapi/Documents.ts"

const contract = HttpApiBuilder.layer(Api).pipe(
  Layer.provide([
    IntentsHttp.layer,
    PaymentsHttp.layer,
    RelayingHttp.layer,
    LinksHttp.layer,
    ReceiptsHttp.layer,
    RefundsHttp.layer,
    SettlementLevelsHttp.layer,
    BooksHttp.layer,
    EventsHttp.layer,
    WebhooksHttp.layer,
    CheckoutHttp.layer,
    AgentsHttp.layer,
    X402Http.layer
  ]),
  Layer.provide([layerApiKeyAuth, layerTestRail, layerBodyRules, layerResponseEnvelope])
)

const allRoutes = Layer.mergeAll(
  contract,
  System.layer,
  Documents.layer,
  Guides.layer,
  Packages.layer,
  CheckoutPages.layer,
  ReceiptPages.layer,
  LinkPages.layer
)

/** Documents for machines and developers, which take no query. */
const documents = [
  ...System.systemPaths,
  ...Documents.documentPaths,
  ...Guides.guidePatterns,
  ...Packages.packagePaths
]
const paths = [...documents, ...CheckoutPages.pagePaths, ...ReceiptPages.receiptPaths, ...LinkPages.linkPaths]

/** The routes that need no database. */
export const layer = Layer.merge(
  allRoutes,
  Routing.layer(endpointsOf(Api), paths, documents, CheckoutPages.notFoundPage)
)

/** The same routes with `/readyz`. */
const layerReady = Layer.merge(layer, System.layerReady)

const isDashboard = /^\/dashboard(?:[/?]|$)/

const makeDashboard = Effect.flatMap(
  Effect.promise(() => import("./DashboardRoutes.ts")),
  ({ layer }) => HttpRouter.toHttpEffect(layer)
)

/** Runs the effect once, at the first request, in the current context. Nothing of that request is in it. */
const onFirstRequest = <A, R>(effect: Effect.Effect<A, never, R>) =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    Effect.cached(
      Effect.uninterruptible(Effect.updateContext(effect, (_: Context.Context<never>) => context))
    )
  )

/** All routes on `server`, which then listens. The dashboard's are built with its first request. */
export const layerServing = <E, R>(server: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const handler = yield* HttpRouter.toHttpEffect(layerReady)
      const dashboard = Effect.flatten(yield* onFirstRequest(makeDashboard))
      const dispatched = yield* Server.runToEnd(
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
          isDashboard.test(url) ? dashboard : handler
        )
      )
      return HttpServer.serve(dispatched).pipe(
        withServices(HttpServer.HttpServer),
        Layer.provideMerge(server)
      )
    })
  ).pipe(
    Layer.provide([
      Layer.succeed(HttpRouter.RouterConfig, Server.routerConfig),
      BunHttpServer.layerHttpServices
    ])
  )
