// What this release's database is made of.
import { Context } from "effect"
import * as initial from "../../../migrations/0001_initial.ts"
import type { Migration } from "./migrate.ts"

/** Each runs once, in the order of its number. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001_initial": initial
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
  "incoming_transfers",
  "known_browsers",
  "mails",
  "merchant_branding",
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

/** What this release runs and needs. A later release has more, and may share a database with this one. */
export const Migrations = Context.Reference<Readonly<Record<string, Migration>>>(
  "quittance/platform/Migrations",
  {
    defaultValue: () => migrations
  }
)
