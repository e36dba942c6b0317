// The rows of agents and of their payments as SQL returns them, and their domain shapes.
import { Effect, Option, Schema } from "effect"
import { AddressBytes, HashBytes } from "../../../chain/ChainBytes.ts"
import {
  type Agent,
  AgentId,
  type AgentPayment,
  AgentPaymentStatus,
  AgentStatus,
  type Allowance
} from "../../../domain/Agent.ts"
import { Address, Env } from "../../../domain/Chain.ts"
import { MerchantId } from "../../../domain/Merchant.ts"
import { AtomicUsdc } from "../../../domain/Money.ts"
import type { AgentSummary } from "./AgentStore.ts"

const AgentRow = Schema.Struct({
  id: AgentId,
  merchant_id: MerchantId,
  env: Env,
  name: Schema.String,
  wallet_index: Schema.Int,
  address: AddressBytes,
  key_id: Schema.String,
  last_four: Schema.String,
  cap_per_payment: Schema.BigIntFromString,
  cap_per_day: Schema.BigIntFromString,
  allowed_hosts: Schema.NullOr(Schema.Array(Schema.String)),
  allowed_payees: Schema.NullOr(Schema.Array(Address)),
  status: AgentStatus,
  created_at: Schema.Date
})

/** The columns of `AgentRow`: agents `a` with their keys `k`. */
export const agentColumns = `a.id, a.merchant_id, a.env, a.name, a.wallet_index, a.address, a.key_id, k.last_four,
  a.cap_per_payment::text AS cap_per_payment, a.cap_per_day::text AS cap_per_day,
  a.allowed_hosts, a.allowed_payees, a.status, a.created_at`

const toAgent = (row: typeof AgentRow.Type): Agent => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  name: row.name,
  walletIndex: row.wallet_index,
  address: row.address,
  keyId: row.key_id,
  keyLastFour: row.last_four,
  capPerPayment: AtomicUsdc.make(row.cap_per_payment),
  capPerDay: AtomicUsdc.make(row.cap_per_day),
  allowedHosts: row.allowed_hosts,
  allowedPayees: row.allowed_payees,
  status: row.status,
  createdAt: row.created_at
})

const AgentPaymentRow = Schema.Struct({
  id: Schema.String,
  agent_id: AgentId,
  request_id: Schema.String,
  request_hash: Schema.Uint8Array,
  status: AgentPaymentStatus,
  x402_version: Schema.Literals([1, 2]),
  resource: Schema.String,
  requirements: Schema.String,
  pay_to: AddressBytes,
  amount: Schema.BigIntFromString,
  valid_after: Schema.BigInt,
  valid_before: Schema.BigInt,
  nonce: HashBytes,
  transaction_id: Schema.NullOr(HashBytes),
  created_at: Schema.Date
})

/** The columns of `AgentPaymentRow`. */
export const paymentColumns = `id, agent_id, request_id, request_hash, status, x402_version, resource, requirements,
  pay_to, amount::text AS amount, valid_after, valid_before, nonce, transaction_id, created_at`

const toPayment = (row: typeof AgentPaymentRow.Type): AgentPayment => ({
  id: row.id,
  agentId: row.agent_id,
  requestId: row.request_id,
  requestHash: row.request_hash,
  status: row.status,
  x402Version: row.x402_version,
  resource: row.resource,
  requirements: row.requirements,
  payTo: row.pay_to,
  amount: AtomicUsdc.make(row.amount),
  validAfter: row.valid_after,
  validBefore: row.valid_before,
  nonce: row.nonce,
  transactionId: row.transaction_id,
  createdAt: row.created_at
})

const decodeAgents = Schema.decodeUnknownEffect(Schema.Array(AgentRow))
const decodePayments = Schema.decodeUnknownEffect(Schema.Array(AgentPaymentRow))

export const allAgents = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeAgents(rows), (all) => all.map(toAgent))

export const firstAgent = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeAgents(rows), ([row]) => Option.map(Option.fromNullishOr(row), toAgent))

export const allPayments = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodePayments(rows), (all) => all.map(toPayment))

export const firstPayment = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodePayments(rows), ([row]) => Option.map(Option.fromNullishOr(row), toPayment))

export const allowanceOf = (agent: Agent, spent: bigint): Allowance => ({
  spent,
  remaining: spent >= agent.capPerDay ? 0n : agent.capPerDay - spent
})

const AgentSummaryRow = Schema.Struct({ ...AgentRow.fields, spent: Schema.BigIntFromString })

export const decodeSummaries = Schema.decodeUnknownEffect(Schema.Array(AgentSummaryRow))

export const toSummary = (row: typeof AgentSummaryRow.Type): AgentSummary => {
  const agent = toAgent(row)
  return { agent, allowance: allowanceOf(agent, row.spent) }
}
