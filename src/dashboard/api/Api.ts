// The contract of the dashboard, group by group: its own API beside the merchants', for people with a session. No API
// key opens it.
import { HttpApi } from "effect/http-api"
import { ResponseEnvelope } from "../../platform/http/RequestRules.ts"
import { AccountApi, SignInApi } from "./accounts/Api.ts"
import { AgentPagesApi } from "./agents/Api.ts"
import { AlertPagesApi } from "./alerts/Api.ts"
import { BookPagesApi } from "./books/Api.ts"
import { PageEventsApi } from "./events/Api.ts"
import { FirstRunPagesApi } from "./firstRun/Api.ts"
import { KeyPagesApi } from "./keys/Api.ts"
import { LinkPagesApi } from "./links/Api.ts"
import { NotificationPreferencesApi } from "./notificationPreferences/Api.ts"
import { PaymentPagesApi } from "./payments/Api.ts"
import { RefundPagesApi } from "./refunds/Api.ts"
import { SettingsPagesApi } from "./settings/Api.ts"
import { SettlementLevelPagesApi } from "./settlementLevels/Api.ts"
import { TransferPagesApi } from "./transfers/Api.ts"
import { WebhookPagesApi } from "./webhooks/Api.ts"

export class DashboardApi extends HttpApi.make("dashboard")
  .add(
    SignInApi,
    AccountApi,
    PaymentPagesApi,
    KeyPagesApi,
    WebhookPagesApi,
    SettingsPagesApi,
    SettlementLevelPagesApi,
    AlertPagesApi,
    AgentPagesApi,
    TransferPagesApi,
    LinkPagesApi,
    RefundPagesApi,
    BookPagesApi,
    NotificationPreferencesApi,
    FirstRunPagesApi,
    PageEventsApi
  )
  .prefix("/dashboard/api")
  .middleware(ResponseEnvelope)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error", errors: "all" }) {}
