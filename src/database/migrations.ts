// What this release's database is made of.
import { Context } from "effect"
import * as initial from "../../migrations/0001_initial.ts"
import * as dashboard from "../../migrations/0002_dashboard.ts"
import * as agents from "../../migrations/0003_agents.ts"
import * as incomingTransfers from "../../migrations/0004_incoming_transfers.ts"
import * as x402 from "../../migrations/0005_x402.ts"
import * as receivers from "../../migrations/0006_receivers.ts"
import * as reservations from "../../migrations/0007_reservations.ts"
import * as webhookWorkers from "../../migrations/0008_webhook_workers.ts"
import * as movedReceivers from "../../migrations/0009_moved_receivers.ts"
import * as linksAndBrowsers from "../../migrations/0010_links_and_browsers.ts"
import * as moneyLevers from "../../migrations/0011_money_levers.ts"
import * as auditTriggerAlways from "../../migrations/0012_audit_trigger_always.ts"
import * as buyersWays from "../../migrations/0013_buyers_ways.ts"
import * as refunds from "../../migrations/0014_refunds.ts"
import * as books from "../../migrations/0015_books.ts"
import * as eventsFeed from "../../migrations/0017_events_feed.ts"
import * as roles from "../../migrations/0020_roles.ts"
import * as secondFactors from "../../migrations/0021_second_factors.ts"
import * as keyNames from "../../migrations/0022_key_names.ts"
import * as telling from "../../migrations/0023_telling.ts"
import * as receiptMails from "../../migrations/0024_receipt_mails.ts"
import * as acknowledgedBy from "../../migrations/0030_acknowledged_by.ts"
import * as findingPayments from "../../migrations/0031_finding_payments.ts"
import * as decisions from "../../migrations/0032_decisions.ts"
import * as payersTransfers from "../../migrations/0033_payers_transfers.ts"
import * as refundsBlock from "../../migrations/0034_refunds_block.ts"
import * as payersReports from "../../migrations/0035_payers_reports.ts"
import * as settlementsTransaction from "../../migrations/0036_settlements_transaction.ts"
import * as droppedClaims from "../../migrations/0037_dropped_claims.ts"
import * as restsPayment from "../../migrations/0038_rests_payment.ts"
import type { Migration } from "./migrate.ts"

/** Each runs once, in the order of its number. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001_initial": initial,
  "0002_dashboard": dashboard,
  "0003_agents": agents,
  "0004_incoming_transfers": incomingTransfers,
  "0005_x402": x402,
  "0006_receivers": receivers,
  "0007_reservations": reservations,
  "0008_webhook_workers": webhookWorkers,
  "0009_moved_receivers": movedReceivers,
  "0010_links_and_browsers": linksAndBrowsers,
  "0011_money_levers": moneyLevers,
  "0012_audit_trigger_always": auditTriggerAlways,
  "0013_buyers_ways": buyersWays,
  "0014_refunds": refunds,
  "0015_books": books,
  "0017_events_feed": eventsFeed,
  "0020_roles": roles,
  "0021_second_factors": secondFactors,
  "0022_key_names": keyNames,
  "0023_telling": telling,
  "0024_receipt_mails": receiptMails,
  "0030_acknowledged_by": acknowledgedBy,
  "0031_finding_payments": findingPayments,
  "0032_decisions": decisions,
  "0033_payers_transfers": payersTransfers,
  "0034_refunds_block": refundsBlock,
  "0035_payers_reports": payersReports,
  "0036_settlements_transaction": settlementsTransaction,
  "0037_dropped_claims": droppedClaims,
  "0038_rests_payment": restsPayment
}

/** Every table that the migrations make. */
export const tables = [
  "agent_payees",
  "agent_payments",
  "agents",
  "alert_hooks",
  "alert_posts",
  "alerts",
  "api_keys",
  "audit_entries",
  "authenticators",
  "authorization_nonces",
  "chain_cursors",
  "claimed_transfers",
  "faucet_grants",
  "faucet_transactions",
  "incoming_transfers",
  "known_browsers",
  "mails",
  "merchant_faces",
  "merchant_members",
  "merchant_receivers",
  "merchants",
  "one_time_links",
  "outgoing_transfers",
  "passkey_challenges",
  "passkeys",
  "payment_attempts",
  "payment_links",
  "payment_reports",
  "payment_verdicts",
  "payments",
  "receipt_keys",
  "receipt_mails",
  "receipts",
  "receiver_balances",
  "receiver_changes",
  "recovery_codes",
  "refunds",
  "relayer_transactions",
  "sessions",
  "shown_addresses",
  "users",
  "wallet_transactions",
  "webhook_attempts",
  "webhook_deliveries",
  "webhook_endpoints",
  "webhook_workers",
  "x402_settlements"
]

/** Of what each migration adds to a table of another, one column. */
export const addedColumns = [
  "agent_payments.payment_id",
  "alerts.tell_at",
  "alerts.acknowledged_by",
  "alerts.user_id",
  "api_keys.public_key",
  "claimed_transfers.ordinal",
  "claimed_transfers.refund_id",
  "merchant_members.role",
  "merchant_members.told_alerts",
  "merchant_receivers.watched_since",
  "merchants.moved_receivers",
  "merchants.time_zone",
  "merchants.token_lifetime_seconds",
  "one_time_links.invited_by",
  "payment_links.rest_for",
  "payment_reports.payer_type",
  "payments.failed_earlier_at",
  "refunds.created_block",
  "sessions.confirmed_at",
  "sessions.seen_at",
  "webhook_attempts.request_head",
  "webhook_deliveries.claimed_by",
  "x402_settlements.answered_at",
  "x402_settlements.payer_type",
  "x402_settlements.reserves"
]

/** What this release runs and needs. A later release has more, and may share a database with this one. */
export const Migrations = Context.Reference<Readonly<Record<string, Migration>>>(
  "quittance/database/Migrations",
  {
    defaultValue: () => migrations
  }
)
