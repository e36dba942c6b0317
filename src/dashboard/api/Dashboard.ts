// The dashboard as one layer: its API, its files, and the services that only it uses.
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts } from "../../merchants/accounts/Accounts.ts"
import { MemberRepo } from "../../merchants/accounts/MemberRepo.ts"
import { Passkeys } from "../../merchants/accounts/Passkeys.ts"
import { SecondFactors } from "../../merchants/accounts/SecondFactors.ts"
import { AuditRepo } from "../../merchants/audit/AuditRepo.ts"
import { MerchantRepo } from "../../merchants/MerchantRepo.ts"
import { ReceiverChangeRepo } from "../../merchants/ReceiverChangeRepo.ts"
import { Receivers } from "../../merchants/Receivers.ts"
import { AlertHooks } from "../../notifications/AlertHooks.ts"
import { NotificationRepo } from "../../notifications/NotificationRepo.ts"
import { SecretBox } from "../../platform/SecretBox.ts"
import { ReplayRepo } from "../../webhooks/ReplayRepo.ts"
import { UnsentRepo } from "../../webhooks/UnsentRepo.ts"
import { DashboardApi } from "./Api.ts"
import * as AccountsHttp from "./accounts/Http.ts"
import * as AgentsHttp from "./agents/Http.ts"
import { AlertPagesRepo } from "./alerts/AlertPagesRepo.ts"
import * as AlertsHttp from "./alerts/Http.ts"
import * as BooksHttp from "./books/Http.ts"
import * as PageEventsHttp from "./events/Http.ts"
import { PageEvents } from "./events/PageEvents.ts"
import { FirstRunRepo } from "./firstRun/FirstRunRepo.ts"
import * as FirstRunHttp from "./firstRun/Http.ts"
import * as KeysHttp from "./keys/Http.ts"
import * as LinksHttp from "./links/Http.ts"
import * as NotificationPreferencesHttp from "./notificationPreferences/Http.ts"
import * as Pages from "./Pages.ts"
import * as PaymentsHttp from "./payments/Http.ts"
import { OverviewRepo } from "./payments/OverviewRepo.ts"
import { PaymentPagesRepo } from "./payments/PaymentPagesRepo.ts"
import * as RefundsHttp from "./refunds/Http.ts"
import { layerSession } from "./Session/layerSession.ts"
import * as SettingsHttp from "./settings/Http.ts"
import * as SettlementLevelsHttp from "./settlementLevels/Http.ts"
import * as TransfersHttp from "./transfers/Http.ts"
import { DeliveryPagesRepo } from "./webhooks/DeliveryPagesRepo.ts"
import * as WebhooksHttp from "./webhooks/Http.ts"

const secondProofs = Layer.merge(Passkeys.layer, SecondFactors.layer.pipe(Layer.provide(SecretBox.layer)))

const repos = Layer.mergeAll(
  NotificationRepo.layer,
  FirstRunRepo.layer,
  AlertHooks.layer.pipe(Layer.provide(SecretBox.layer)),
  PageEvents.layer,
  OverviewRepo.layer,
  PaymentPagesRepo.layer,
  DeliveryPagesRepo.layer,
  UnsentRepo.layer,
  ReplayRepo.layer,
  AlertPagesRepo.layer,
  MemberRepo.layer,
  AuditRepo.layer,
  MerchantRepo.layer,
  ReceiverChangeRepo.layer,
  Receivers.layer
)

/** Routes for the service's router. */
export const layer = Layer.merge(
  HttpApiBuilder.layer(DashboardApi).pipe(
    Layer.provide([
      AccountsHttp.layerSignIn,
      AccountsHttp.layerAccount,
      PaymentsHttp.layer,
      KeysHttp.layer,
      WebhooksHttp.layer,
      SettingsHttp.layer,
      SettlementLevelsHttp.layer,
      AlertsHttp.layer,
      AgentsHttp.layer,
      TransfersHttp.layer,
      LinksHttp.layer,
      RefundsHttp.layer,
      BooksHttp.layer,
      NotificationPreferencesHttp.layer,
      FirstRunHttp.layer,
      PageEventsHttp.layer
    ]),
    Layer.provide(layerSession)
  ),
  Pages.layer
).pipe(Layer.provide([Accounts.layer, secondProofs, repos]))
