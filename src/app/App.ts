// The wiring diagram: infrastructure, services, workers and routes, and the programs composed of them.
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer } from "effect/http"
import { ChainHeights } from "../chain/ChainHeights.ts"
import { ContractSignatures } from "../chain/ContractSignatures.ts"
import * as DenyList from "../chain/DenyList.ts"
import { Faucet } from "../chain/faucet/Faucet.ts"
import { layerChainAlerts } from "../chain/layerChainAlerts.ts"
import { layerRetiredNodes } from "../chain/layerRetiredNodes.ts"
import * as NetworkWatch from "../chain/NetworkWatch.ts"
import { RpcPool } from "../chain/RpcPool.ts"
import * as SignatureRecovery from "../chain/SignatureRecovery.ts"
import { Accounts } from "../merchants/accounts/Accounts.ts"
import { AuditLog } from "../merchants/audit/AuditLog.ts"
import { AuditRepo } from "../merchants/audit/AuditRepo.ts"
import { Branding } from "../merchants/Branding.ts"
import { KeyAuth } from "../merchants/keys/KeyAuth.ts"
import { MerchantRepo } from "../merchants/MerchantRepo.ts"
import * as ReceiverBlacklist from "../merchants/ReceiverBlacklist.ts"
import * as ReceiverChangeWorker from "../merchants/ReceiverChangeWorker.ts"
import { Receivers } from "../merchants/Receivers.ts"
import { SettlementLimits } from "../merchants/settlementLevels/SettlementLimits.ts"
import * as NotificationWorker from "../notifications/NotificationWorker.ts"
import { AttemptRepo } from "../payments/AttemptRepo.ts"
import { Books } from "../payments/books/Books.ts"
import { BuyerIdentity } from "../payments/buyers/BuyerIdentity.ts"
import { ClaimRepo } from "../payments/ClaimRepo.ts"
import { IncomingTransfers } from "../payments/IncomingTransfers.ts"
import { PaymentIntents } from "../payments/intents/PaymentIntents.ts"
import { layerPaymentRepos } from "../payments/layerPaymentRepos.ts"
import { LinkRepo } from "../payments/links/LinkRepo.ts"
import { Links } from "../payments/links/Links.ts"
import { PaymentAttempts } from "../payments/PaymentAttempts.ts"
import { Payments } from "../payments/Payments.ts"
import * as Reconciler from "../payments/Reconciler.ts"
import * as ReportTurns from "../payments/ReportTurns.ts"
import { ReceiptMails } from "../payments/receipts/ReceiptMails.ts"
import { Receipts } from "../payments/receipts/Receipts.ts"
import { RefundRepo } from "../payments/refunds/RefundRepo.ts"
import { Refunds } from "../payments/refunds/Refunds.ts"
import * as RefundWatch from "../payments/refunds/RefundWatch.ts"
import { TransferRepo } from "../payments/TransferRepo.ts"
import * as TransferWatch from "../payments/TransferWatch.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import * as Database from "../platform/Database.ts"
import * as DatabaseClock from "../platform/database/DatabaseClock.ts"
import * as LongReads from "../platform/database/LongReads.ts"
import * as Replica from "../platform/database/Replica.ts"
import { EgressPolicy } from "../platform/egress/EgressPolicy.ts"
import { Resolver } from "../platform/egress/Resolver.ts"
import * as Server from "../platform/http/Server.ts"
import * as Starting from "../platform/http/Starting.ts"
import { RateLimiter } from "../platform/limits/RateLimiter.ts"
import * as MailWorker from "../platform/mail/MailWorker.ts"
import * as Networks from "../platform/Networks.ts"
import * as Membership from "../platform/processes/Membership.ts"
import { SecretBox } from "../platform/SecretBox.ts"
import * as DueWorkSql from "../platform/workers/DueWorkSql.ts"
import * as Readiness from "../platform/workers/Readiness.ts"
import { DeliveryWake } from "../webhooks/DeliveryWake.ts"
import * as AttemptPruning from "../webhooks/DeliveryWorker/AttemptPruning.ts"
import { Attempts } from "../webhooks/DeliveryWorker/Attempts.ts"
import * as DeliveryWorker from "../webhooks/DeliveryWorker.ts"
import * as UnsentWatch from "../webhooks/UnsentWatch.ts"
import { WebhookEndpoints } from "../webhooks/WebhookEndpoints.ts"
import * as WebhookOperator from "../webhooks/WebhookOperator.ts"
import { WebhookRepo } from "../webhooks/WebhookRepo.ts"
import { WebhookSender } from "../webhooks/WebhookSender.ts"
import * as AgentReconciler from "../x402/agents/AgentReconciler.ts"
import { Agents } from "../x402/agents/Agents.ts"
import { Releases } from "../x402/agents/Releases.ts"
import { Facilitator } from "../x402/Facilitator.ts"
import * as Retention from "./Retention.ts"
import * as Routes from "./Routes.ts"
import { layerCheckedSecrets } from "./secrets/layerCheckedSecrets.ts"
import * as Telemetry from "./telemetry/Telemetry.ts"

const database = Layer.provideMerge(layerCheckedSecrets, Networks.layerConfig).pipe(
  Layer.provideMerge(Layer.merge(AuditLog.layer, SecretBox.layer)),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

/** Used by the service and by the operator's commands. */
const repositories = Layer.mergeAll(KeyAuth.layer, layerPaymentRepos, WebhookRepo.layer, LinkRepo.layer)

/** The real infrastructure: the database, the chains' nodes, the network. */
const real = Layer.mergeAll(
  NetworkWatch.layerConfig,
  BuyerIdentity.layerDid,
  WebhookSender.layer.pipe(Layer.provide(Resolver.layer)),
  DeliveryWake.layer,
  RateLimiter.layer,
  Faucet.layer,
  Agents.layer,
  Receipts.layer,
  ReceiptMails.layer,
  Branding.layer,
  SettlementLimits.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(ContractSignatures.layer, SignatureRecovery.layer, ReportTurns.layer)),
  Layer.provideMerge(DenyList.layerConfig),
  Layer.provideMerge(RpcPool.layerConfig),
  Layer.provide(layerChainAlerts),
  Layer.provideMerge(Layer.mergeAll(repositories, Alerts.layer, EgressPolicy.layer)),
  Layer.provideMerge(Layer.mergeAll(DueWorkSql.layer, Replica.layer, LongReads.layer)),
  Layer.provideMerge(DatabaseClock.layer),
  Layer.provideMerge(database)
)

/** Services on top of the swappable ones. */
const services = Layer.mergeAll(Links.layer, WebhookEndpoints.layer, IncomingTransfers.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(PaymentIntents.layer, PaymentAttempts.layer, Refunds.layer)),
  Layer.provideMerge(Payments.layer),
  Layer.provideMerge(Layer.mergeAll(Attempts.layer, ChainHeights.layer)),
  Layer.provideMerge(SecretBox.layer)
)

/** Background work without requests, on top of the swappable services. */
const workers = Layer.merge(Reconciler.layer, DeliveryWorker.layer)
/** Finds payments and refunds among the chain's transfers. */
const watches = Layer.merge(TransferWatch.layer, RefundWatch.layer)
const housekeeping = Layer.mergeAll(
  AttemptPruning.layer,
  Retention.layer,
  UnsentWatch.layer,
  ReceiverChangeWorker.layer,
  MailWorker.layer,
  NotificationWorker.layer
)

/** x402 on the chain: the facilitator, and the reconciler of agents' reservations. */
const x402 = Layer.mergeAll(Facilitator.layer, Releases.layer, AgentReconciler.layer)

/** Routes and workers on services of the caller's choice. Readiness turns off before they stop. */
export const layerHttp = <E, R>(server: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Layer.mergeAll(Routes.layerServing(server), workers, watches, housekeeping).pipe(
    Layer.provide(Layer.merge(services, Books.layer)),
    (serving) => Layer.provideMerge(Membership.layer, serving),
    (serving) => Layer.provideMerge(Readiness.layerDelay, serving),
    Layer.provide(Readiness.layer)
  )

type Refused = Layer.Error<typeof real | typeof Server.layer | typeof Telemetry.layer>

/** The service: routes and workers on the real infrastructure, listening. Needs only the configuration. */
export const layer: Layer.Layer<Layer.Success<typeof real>, Refused, AppConfig> = layerHttp(
  Server.layer
).pipe(
  Layer.provide(Layer.provide(x402, services)),
  Layer.merge(
    Layer.mergeAll(Telemetry.layer, layerRetiredNodes, ReceiverBlacklist.layer, Database.layerIndexes)
  ),
  Layer.provideMerge(real),
  Layer.provide(Starting.layer)
)

/** Services and workers on the caller's choice of infrastructure, without the network. */
export const layerServices = Layer.merge(workers, watches).pipe(Layer.provideMerge(services))

/**
 * For `HttpRouter.toWebHandler`: routes and workers on the five swappable services. Payments settle only by
 * reports; there are no attempts, transfers or refunds.
 */
export const layerRoutes = Layer.merge(Routes.layer, workers).pipe(
  Layer.provide(services),
  Layer.provide([
    Receipts.layerNone,
    ReceiptMails.layerNone,
    LinkRepo.layerNone,
    Branding.layerNone,
    SettlementLimits.layerNone,
    Books.layerNone
  ]),
  Layer.provide([AttemptRepo.layerNone, ClaimRepo.layerNone, TransferRepo.layerNone, RefundRepo.layerNone]),
  Layer.provide([Agents.layerNone, Facilitator.layerNone, Releases.layerNone, HttpServer.layerServices]),
  Layer.provide(BuyerIdentity.layerDid.pipe(Layer.provide(ContractSignatures.layerNone))),
  Layer.provide([DeliveryWake.layerLocal, RateLimiter.layerMemory, Alerts.layerLog]),
  Layer.provide([EgressPolicy.layer, SecretBox.layer])
)

/** For the operator's commands: the database, its clock, and the repositories. */
export const layerOperator = Layer.mergeAll(
  Accounts.layer,
  // Only the dashboard verifies contract wallets' signatures: commands call no chain.
  Receivers.layer.pipe(Layer.provide(ContractSignatures.layerNone)),
  MerchantRepo.layer,
  WebhookOperator.layer,
  AuditRepo.layer,
  Links.layer.pipe(Layer.provide(PaymentIntents.layer))
).pipe(
  Layer.provideMerge(repositories),
  Layer.provideMerge(DatabaseClock.layer),
  Layer.provideMerge(database)
)

/** Like `layerOperator`, with agents and the faucet that funds them. */
export const layerFaucetOperator = Layer.merge(Agents.layer, Faucet.layer).pipe(
  Layer.provide(DenyList.layerOnce),
  Layer.provide(RpcPool.layerConfig),
  Layer.provide(layerChainAlerts),
  Layer.provide(Alerts.layer),
  Layer.provideMerge(layerOperator)
)
