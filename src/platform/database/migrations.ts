// The list of this release's migrations.
import { Context } from "effect"
import * as initial from "../../../migrations/0001_initial.ts"
import * as moneyStays from "../../../migrations/0002_money_stays.ts"
import * as eventTypes from "../../../migrations/0003_event_types.ts"
import * as secretFingerprints from "../../../migrations/0004_secret_fingerprints.ts"
import * as gatheredNotifications from "../../../migrations/0005_gathered_notifications.ts"
import * as unsentSettlements from "../../../migrations/0006_unsent_settlements.ts"
import * as daySums from "../../../migrations/0007_day_sums.ts"
import * as relayedWei from "../../../migrations/0008_relayed_wei.ts"
import * as settlementLimits from "../../../migrations/0009_settlement_limits.ts"
import * as closedNetworks from "../../../migrations/0010_closed_networks.ts"
import * as identityStays from "../../../migrations/0011_identity_stays.ts"
import type { Migration } from "./migrate.ts"

/** Each runs once, in the order of its number. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001_initial": initial,
  "0002_money_stays": moneyStays,
  "0003_event_types": eventTypes,
  "0004_secret_fingerprints": secretFingerprints,
  "0005_gathered_notifications": gatheredNotifications,
  "0006_unsent_settlements": unsentSettlements,
  "0007_day_sums": daySums,
  "0008_relayed_wei": relayedWei,
  "0009_settlement_limits": settlementLimits,
  "0010_closed_networks": closedNetworks,
  "0011_identity_stays": identityStays
}

/** Every table that the migrations create. */
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
  "day_sum_changes",
  "day_sums",
  "faucet_grants",
  "incoming_transfers",
  "known_browsers",
  "mails",
  "merchant_branding",
  "merchant_members",
  "merchant_receivers",
  "merchant_settlement_limits",
  "merchants",
  "notified_groups",
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
  "secret_fingerprints",
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

/**
 * The migrations that this release runs and needs. A later release has more, and may share a database with this
 * release.
 */
export const Migrations = Context.Reference<Readonly<Record<string, Migration>>>(
  "quittance/platform/Migrations",
  {
    defaultValue: () => migrations
  }
)
