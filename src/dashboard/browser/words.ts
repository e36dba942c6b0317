// The dashboard's text for each code. A code without text does not compile.
import type { AlertKind } from "../../domain/AlertKind.ts"
import type { FailureReason } from "../../domain/Payment.ts"
import type { MismatchReason, PendingReason, VerdictReason } from "../../domain/VerdictReason.ts"
import type { AttemptFailure } from "../../domain/Webhook.ts"

const pendingWords: Readonly<Record<PendingReason | "denied", string>> = {
  not_found: "Waiting for the transfer",
  spreading: "Only some RPC nodes see it",
  confirmations: "Waiting for confirmations",
  safe: "Waiting until its block is safe on Ethereum",
  finalized: "Waiting until its block is final on Ethereum",
  reorganised: "A reorganisation removed its block",
  disagreement: "RPC nodes disagree",
  rpc_unavailable: "RPC nodes are unreachable",
  wrong_network: "RPC nodes serve another network",
  denied: "The sender is on the operator’s deny list: attach the transfer to settle the payment"
}

const mismatchWords: Readonly<Record<MismatchReason, string>> = {
  receiver: "The receiving address differs",
  amount: "The amount differs",
  token: "The token differs",
  payer: "Not sent by the buyer's wallet",
  reverted: "The transaction reverted",
  too_old: "The transfer is older than the payment",
  declared_changes: "The report does not match the transaction",
  no_transfer: "The transaction transfers no USDC",
  already_used: "The transfer already settled another payment"
}

/** For a code written by a later release that shares the database. */
const unknownWords = { unknown: "Unknown status. Reload the page." }

/** The reason why a report has not settled its payment. */
export const verdictWords: Readonly<Record<VerdictReason | "unknown", string>> = {
  ...pendingWords,
  ...mismatchWords,
  conflict: "Another transaction settled the payment",
  ...unknownWords
}

export const isPendingVerdict = (verdict: VerdictReason | "unknown"): boolean =>
  Object.hasOwn(pendingWords, verdict)

/** The reason why a delivery attempt failed. */
export const failureWords: Readonly<Record<AttemptFailure, string>> = {
  dns: "The host name does not resolve",
  blocked: "The address is not public",
  connect: "The connection failed",
  tls: "TLS handshake failed or the certificate is not trusted",
  timeout: "No response within 15 seconds",
  response: "The response is not HTTP",
  status: "The endpoint did not answer with 2xx",
  interrupted: "The service stopped during the attempt"
}

/** The outcome of a delivery attempt. */
export const outcomeWords = (attempt: {
  readonly durationMs: number | null
  readonly responseStatus?: number | null
  readonly failure?: AttemptFailure | null
}): string => {
  const { durationMs, failure = null, responseStatus = null } = attempt
  if (responseStatus !== null) return `HTTP ${responseStatus}`
  if (failure !== null) return failureWords[failure]
  return durationMs === null ? "Being sent" : "Failed"
}

/** The reason why a payment failed. */
export const failedWords: Readonly<Record<FailureReason, string>> = {
  expired: "No transfer arrived in time, or another payment replaced it",
  unverified: "The reported transfer could not be verified"
}

export const alertWords: Readonly<Record<AlertKind | "unknown", string>> = {
  webhook_exhausted: "Webhook delivery failed",
  settlements_unsent: "Settled payments without a webhook",
  transfer_dropped: "Settled transfer no longer on the chain",
  rpc_disagreement: "RPC nodes disagree",
  rpc_malformed: "RPC node returned an invalid response",
  rpc_unreachable: "RPC node unreachable",
  rpc_refusing: "RPC node returns errors",
  wrong_chain: "RPC node serves another chain",
  chain_gap: "Blocks were not read",
  chain_halted: "The chain has stopped producing blocks",
  faucet_empty: "Faucet is empty",
  faucet_not_configured: "Faucet is off",
  faucet_wallet_shared: "Faucet wallet is shared",
  faucet_transfer_reverts: "Faucet transfers revert",
  relayer_empty: "Relayer’s wallet has too little ETH",
  relaying_stopped: "Payments by signature are stopped",
  incoming_transfer: "Unmatched transfers",
  other_token: "A token other than USDC arrived",
  receiver_blacklisted: "Receiving address is blacklisted",
  deny_list_refused: "Deny list is invalid",
  clock_skew: "Clock skew",
  work_stalled: "Background work has stopped",
  account_change: "Addresses, keys or members changed",
  refund_unproven: "A refund is not confirmed on the chain",
  ...unknownWords
}
