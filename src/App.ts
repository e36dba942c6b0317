// The one wiring diagram: clients -> services -> routes and workers.
import { BunHttpServer } from "@effect/platform-bun"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServer, type HttpServerError } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "./Api.ts"
import { AppConfig } from "./AppConfig.ts"
import * as AgentReconciler from "./agents/AgentReconciler.ts"
import { AgentRepo } from "./agents/AgentRepo.ts"
import { Agents } from "./agents/Agents.ts"
import * as AgentsHttp from "./agents/Http.ts"
import { Releases } from "./agents/Releases.ts"
import type { AlertKind } from "./alerts/AlertKind.ts"
import { AlertRepo } from "./alerts/AlertRepo.ts"
import { Alerts } from "./alerts/Alerts.ts"
import { AuditLog } from "./audit/AuditLog.ts"
import { AuditRepo } from "./audit/AuditRepo.ts"
import { BuyerIdentity } from "./buyers/BuyerIdentity.ts"
import { ChainReach } from "./chain/ChainReach.ts"
import { ChainVerifier } from "./chain/ChainVerifier.ts"
import { ContractSignatures } from "./chain/ContractSignatures.ts"
import * as NetworkWatch from "./chain/NetworkWatch.ts"
import { type ChainAlertKind, ChainAlerts, ChainRecoveries } from "./chain/RpcPool/ChainAlerts.ts"
import { RpcPool } from "./chain/RpcPool.ts"
import * as CheckoutHttp from "./checkout/Http.ts"
import * as CheckoutPages from "./checkout/Pages.ts"
import * as Database from "./Database.ts"
import { DashboardApi } from "./dashboard/Api.ts"
import * as Dashboard from "./dashboard/Dashboard.ts"
import { dashboardPaths } from "./dashboard/Pages.ts"
import { ClockRepo } from "./database/ClockRepo.ts"
import * as DatabaseClock from "./database/DatabaseClock.ts"
import * as Replica from "./database/Replica.ts"
import { EgressPolicy } from "./egress/EgressPolicy.ts"
import { Resolver } from "./egress/Resolver.ts"
import { FaucetRepo } from "./faucet/Faucet/FaucetRepo.ts"
import { Faucet } from "./faucet/Faucet.ts"
import * as AnswersLive from "./http/Answers.ts"
import * as AuthorizationLive from "./http/Authorization/AuthorizationLive.ts"
import { Authorization } from "./http/Authorization.ts"
import { narrowed } from "./http/narrowed.ts"
import * as BodyRulesLive from "./http/RequestRules/bodyRulesLive.ts"
import { Answers, BodyRules } from "./http/RequestRules.ts"
import { endpointsOf, pathTable } from "./http/Routing/pathTable.ts"
import * as Routing from "./http/Routing.ts"
import * as System from "./http/System.ts"
import * as IntentsHttp from "./intents/Http.ts"
import { IntentTokens } from "./intents/IntentTokens.ts"
import { PaymentIntents } from "./intents/PaymentIntents.ts"
import { KeyAuth } from "./keys/KeyAuth.ts"
import { SecretBox } from "./keys/SecretBox.ts"
import { RateLimiter } from "./limits/RateLimiter.ts"
import { layerRedis } from "./limits/RateLimiterRedis.ts"
import { MailRepo } from "./mail/MailRepo.ts"
import { Mails } from "./mail/Mails.ts"
import * as MailWorker from "./mail/MailWorker.ts"
import { MerchantRepo } from "./merchants/MerchantRepo.ts"
import * as ReceiverChangeWorker from "./merchants/ReceiverChangeWorker.ts"
import { ReceiverChangeRepo } from "./merchants/Receivers/ReceiverChangeRepo.ts"
import { Receivers } from "./merchants/Receivers.ts"
import * as Documents from "./openapi/Documents.ts"
import * as PaymentsHttp from "./payments/Http.ts"
import { IncomingTransfers } from "./payments/IncomingTransfers.ts"
import { PaymentAttempts } from "./payments/PaymentAttempts.ts"
import { PaymentRepo } from "./payments/PaymentRepo.ts"
import { Payments } from "./payments/Payments.ts"
import * as Reconciler from "./payments/Reconciler.ts"
import * as TransferWatch from "./payments/TransferWatch.ts"
import { BacklogRepo } from "./telemetry/BacklogRepo.ts"
import * as ClockWatch from "./telemetry/ClockWatch.ts"
import * as Gauges from "./telemetry/Gauges.ts"
import * as MetricsListener from "./telemetry/MetricsListener.ts"
import * as Otlp from "./telemetry/Otlp.ts"
import { AgentWallets } from "./wallets/AgentWallets.ts"
import { OutboxRepo } from "./wallets/Outbox/OutboxRepo.ts"
import * as AttemptPruning from "./webhooks/DeliveryWorker/AttemptPruning.ts"
import { Attempts } from "./webhooks/DeliveryWorker/Attempts.ts"
import { DeliveryWake } from "./webhooks/DeliveryWorker/DeliveryWake.ts"
import * as DeliveryWorker from "./webhooks/DeliveryWorker.ts"
import * as WebhooksHttp from "./webhooks/Http.ts"
import { WebhookEndpoints } from "./webhooks/WebhookEndpoints.ts"
import { ForwardRepo } from "./webhooks/WebhookRepo/ForwardRepo.ts"
import { ReplayRepo } from "./webhooks/WebhookRepo/ReplayRepo.ts"
import { SealedSecretRepo } from "./webhooks/WebhookRepo/SealedSecretRepo.ts"
import { WebhookRepo } from "./webhooks/WebhookRepo.ts"
import { WebhookSender } from "./webhooks/WebhookSender.ts"
import * as DueWorkSql from "./workers/DueWorkSql.ts"
import * as Readiness from "./workers/Readiness.ts"
import { AuthorizationChain } from "./x402/AuthorizationChain.ts"
import { Facilitator } from "./x402/Facilitator.ts"
import * as X402Http from "./x402/Http.ts"
import { RelayerRepo } from "./x402/Relayer/RelayerRepo.ts"
import { Relayer } from "./x402/Relayer.ts"
import { SettlementRepo } from "./x402/Settlements/SettlementRepo.ts"
import { Settlements } from "./x402/Settlements.ts"

const alertKindOf: { readonly [K in ChainAlertKind]: AlertKind } = {
  disagreement: "rpc_disagreement",
  wrong_chain: "wrong_chain",
  malformed_answer: "rpc_malformed",
  unreachable: "rpc_unreachable"
}

const chainAlerts = Layer.effect(
  ChainAlerts,
  Effect.map(
    Alerts,
    (alerts) =>
      ({ kind, env, host, message }) =>
        alerts.raise({
          kind: alertKindOf[kind],
          tenant: Option.none(),
          subject: `${env} ${host}`,
          message
        })
  )
)

const chainRecoveries = Layer.effect(
  ChainRecoveries,
  Effect.map(
    Alerts,
    (alerts) =>
      ({ kind, env, host }) =>
        alerts.resolve(alertKindOf[kind], `${env} ${host}`)
  )
)

const rpcPool = Layer.unwrap(Effect.map(AppConfig, ({ rpcUrls }) => RpcPool.layer({ urls: rpcUrls })))

const chainVerifier = Layer.unwrap(
  Effect.map(AppConfig, ({ testnetConfirmations, finalityDepth }) =>
    NetworkWatch.layer().pipe(
      Layer.provide(ChainVerifier.layer({ confirmations: { test: testnetConfirmations }, finalityDepth }))
    )
  )
)

const rateLimiter = Layer.unwrap(
  Effect.map(AppConfig, ({ redisUrl }) =>
    Option.match(redisUrl, { onNone: () => RateLimiter.layerMemory, onSome: layerRedis })
  )
)

const egressPolicy = Layer.unwrap(
  Effect.map(AppConfig, ({ baseUrl, webhookAllowedHosts }) =>
    EgressPolicy.layerOf({ ownHosts: [new URL(baseUrl).hostname], allowedHosts: webhookAllowedHosts })
  )
)

/** What machines and developers read outside the contract. */
const documents = [...System.systemPaths, ...Documents.documentPaths]
const ownPaths = [...documents, ...CheckoutPages.pagePaths]
const paths = pathTable(endpointsOf(Api), ownPaths)
const pathsWithDashboard = pathTable(
  [...endpointsOf(Api), ...endpointsOf(DashboardApi)],
  [...ownPaths, ...dashboardPaths]
)

const middlewares = [Authorization, BodyRules, Answers] as const

/** The handlers of every group, on whatever services are provided. */
const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide([
      IntentsHttp.layer.pipe(narrowed(PaymentIntents, AppConfig, ...middlewares)),
      PaymentsHttp.layer.pipe(narrowed(Payments, PaymentAttempts, PaymentRepo, AppConfig, ...middlewares)),
      WebhooksHttp.layer.pipe(narrowed(WebhookEndpoints, RateLimiter, ...middlewares)),
      CheckoutHttp.layer,
      AgentsHttp.layer,
      X402Http.layer
    ]),
    Layer.provide([
      AuthorizationLive.layer,
      AuthorizationLive.layerTestRail,
      BodyRulesLive.layer,
      AnswersLive.layer
    ])
  ),
  System.layer,
  Documents.layer,
  CheckoutPages.layer
)

/** What needs the database itself and is no part of the swappable service. */
const databaseRoutes = Layer.merge(
  System.layerReady,
  Dashboard.layer.pipe(Layer.provide([BodyRulesLive.layer, AnswersLive.layer]))
)

/** What the swappable services stand on and what stands on them. */
const services = Layer.mergeAll(WebhookEndpoints.layer, PaymentIntents.layer, IncomingTransfers.layer).pipe(
  Layer.provideMerge(PaymentAttempts.layer),
  Layer.provideMerge(Payments.layer),
  Layer.provideMerge(Layer.mergeAll(Attempts.layer, IntentTokens.layer, ChainReach.layer)),
  Layer.provideMerge(SecretBox.layer)
)

/** x402 on the chain: the facilitator, and what ends agents' reservations. */
const x402 = Layer.mergeAll(Facilitator.layer, Releases.layer, AgentReconciler.layer).pipe(
  Layer.provide(Settlements.layer),
  Layer.provide(Relayer.layer),
  Layer.provide([
    AuthorizationChain.layer.pipe(Layer.provide(ContractSignatures.layer)),
    SettlementRepo.layer,
    RelayerRepo.layer.pipe(Layer.provideMerge(OutboxRepo.layer)),
    AgentRepo.layer,
    AgentWallets.layer
  ]),
  Layer.provide(services)
)

/** The faucet on its wallet's outbox. */
const faucet = Faucet.layer.pipe(Layer.provide(FaucetRepo.layer.pipe(Layer.provideMerge(OutboxRepo.layer))))

/** Agents in the database, and what they sign. */
const agents = Agents.layer.pipe(Layer.provide([AgentRepo.layer, AgentWallets.layer]))

const workers = Layer.mergeAll(
  DeliveryWorker.layer,
  AttemptPruning.layer,
  Reconciler.layer,
  TransferWatch.layer
)

/** Strict paths: no trailing slash, no doubled slashes, letter case counts. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 200
}

/** The database, its replica, its time, and what in it is due. */
const database = Layer.mergeAll(DueWorkSql.layer, Replica.layer).pipe(
  Layer.provideMerge(DatabaseClock.layer),
  Layer.provide(ClockRepo.layer),
  Layer.provideMerge(Database.layer)
)

/** What is told of changes to money's settings: written down, as alerts, by mail. */
export const layerAudit = AuditLog.layer.pipe(
  Layer.provide([AuditRepo.layer, Mails.layer.pipe(Layer.provide(MailRepo.layer))]),
  Layer.provideMerge(AlertRepo.layer)
)

const accountWorkers = Layer.mergeAll(ReceiverChangeWorker.layer, MailWorker.layer).pipe(
  Layer.provide([ReceiverChangeRepo.layer, MailRepo.layer])
)

/** Postgres or embedded, the chains' nodes, the network: everything real. */
const real = Layer.mergeAll(
  KeyAuth.layer,
  PaymentRepo.layer,
  chainVerifier,
  BuyerIdentity.layerDid,
  WebhookSender.layer.pipe(Layer.provide(Resolver.layer)),
  DeliveryWake.layer,
  rateLimiter,
  faucet,
  agents
).pipe(
  Layer.provideMerge(ContractSignatures.layer),
  Layer.provideMerge(rpcPool),
  Layer.provide([chainAlerts, chainRecoveries]),
  Layer.provideMerge(Layer.mergeAll(Alerts.layer, WebhookRepo.layer, egressPolicy)),
  Layer.provideMerge(layerAudit),
  Layer.provideMerge(database),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

/** A listening socket. Body sizes are the business of the body rules, whose refusal carries the envelope. */
export const layerServer = (options: { readonly port: number; readonly hostname: string }) =>
  BunHttpServer.layerServer({
    ...options,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: 30,
    gracefulShutdownTimeout: "12 seconds"
  })

/** Routes and workers on services of the caller's choice. `server` listens once the routes are there. */
const served = <E, R>(server: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Layer.unwrap(
    Effect.map(
      HttpRouter.toHttpEffect(
        Layer.mergeAll(routes, databaseRoutes, Routing.layer(pathsWithDashboard, documents))
      ),
      (handler) => HttpServer.serve(handler).pipe(narrowed(HttpServer.HttpServer), Layer.provideMerge(server))
    )
  ).pipe(
    Layer.provide([Layer.succeed(HttpRouter.RouterConfig, routerConfig), BunHttpServer.layerHttpServices]),
    Layer.merge(workers),
    Layer.merge(accountWorkers),
    Layer.provide(services)
  )

/** As `served`. Readiness goes off before they stop. */
export const layerHttp = <E, R>(server: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Readiness.layerDelay.pipe(Layer.provideMerge(served(server)), Layer.provide(Readiness.layer))

const configuredServer = Layer.unwrap(
  Effect.map(AppConfig, ({ port, host }) => layerServer({ port, hostname: host }))
)

const machineClock = Layer.succeed(Clock.Clock, Context.get(Context.empty(), Clock.Clock))

/** What operators watch: gauges, and where Prometheus reads them. */
const telemetry = Layer.mergeAll(
  // It tells of this machine's own clock.
  ClockWatch.layer.pipe(Layer.provide([ClockRepo.layer, machineClock])),
  Gauges.layer.pipe(Layer.provide([BacklogRepo.layer, AgentWallets.layer])),
  MetricsListener.layer
)

/** The service: routes and workers on everything real, listening. Needs the configuration alone. */
export const layer: Layer.Layer<
  Layer.Success<typeof real>,
  Layer.Error<typeof real> | HttpServerError.ServeError | MetricsListener.MetricsRefusal,
  AppConfig
> = layerHttp(configuredServer).pipe(
  Layer.provide(x402),
  Layer.merge(telemetry),
  Layer.provideMerge(real),
  Layer.provide(Otlp.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto)))
)

/** Routes and workers on services of the caller's choice, for `HttpRouter.toWebHandler`. */
export const layerRoutes = Layer.mergeAll(routes, Routing.layer(paths, documents), workers).pipe(
  Layer.provide(services),
  Layer.provide([Agents.layerNone, Facilitator.layerNone, Releases.layerNone, HttpServer.layerServices])
)

/** What the operator's commands need: the database and what is kept in it. */
export const layerOperator = Dashboard.layerAccounts.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      KeyAuth.layer,
      WebhookRepo.layer,
      SecretBox.layer,
      // The operator's commands ask no chain: a contract wallet's owner signs in the dashboard.
      Receivers.layer.pipe(
        Layer.provideMerge(Layer.merge(MerchantRepo.layer, ReceiverChangeRepo.layer)),
        Layer.provide(ContractSignatures.layerNone)
      ),
      ReplayRepo.layer,
      SealedSecretRepo.layer,
      ForwardRepo.layer
    )
  ),
  Layer.provideMerge(Layer.merge(layerAudit, AuditRepo.layer)),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

/** As `layerOperator`, with agents and what funds them. */
export const layerFaucetOperator = Layer.mergeAll(
  agents,
  faucet.pipe(Layer.provide(rpcPool.pipe(Layer.provide(chainAlerts))), Layer.provide(Alerts.layer))
).pipe(Layer.provideMerge(layerOperator))
