// What codes mean, in the words of the pages. A code without its words does not compile.
import type { AlertKind } from "../../domain/AlertKind.ts"
import type { FailureReason } from "../../domain/Payment.ts"
import type { MismatchReason, PendingReason, VerdictReason } from "../../domain/VerdictReason.ts"
import type { AttemptFailure } from "../../domain/Webhook.ts"

const pendingWords: Readonly<Record<PendingReason, string>> = {
  not_found: "Not on chain yet",
  spreading: "Seen by some RPC nodes",
  confirmations: "Waiting for confirmations",
  reorganised: "Its block was reorganised away",
  disagreement: "RPC nodes disagree",
  rpc_unavailable: "RPC nodes are unreachable",
  wrong_network: "RPC nodes serve another network"
}

const mismatchWords: Readonly<Record<MismatchReason, string>> = {
  receiver: "Paid to another address",
  amount: "Another amount was paid",
  token: "Another token was sent",
  payer: "Not sent by the buyer's wallet",
  reverted: "The transaction reverted",
  too_old: "The transfer is older than the payment",
  declared_changes: "The report does not match the transaction",
  no_transfer: "The transaction transfers no USDC",
  already_used: "The transfer already pays another payment"
}

/** Of a code that a later release, sharing the database, has written. */
const unknownWords = { unknown: "Unknown: reload after the service is updated" }

/** Why a report has not settled its payment. */
export const verdictWords: Readonly<Record<VerdictReason | "unknown", string>> = {
  ...pendingWords,
  ...mismatchWords,
  conflict: "Another transaction settled the payment",
  ...unknownWords
}

export const isPendingVerdict = (verdict: VerdictReason | "unknown"): boolean =>
  Object.hasOwn(pendingWords, verdict)

/** Why an attempt of a delivery failed. */
export const failureWords: Readonly<Record<AttemptFailure, string>> = {
  dns: "The host name does not resolve",
  blocked: "The address is not public",
  connect: "Connection refused",
  tls: "TLS handshake failed or the certificate is not trusted",
  timeout: "No response within 15 seconds",
  response: "The response is not HTTP",
  status: "The response status is not 2xx",
  interrupted: "The service stopped during the attempt"
}

/** Why a payment failed. */
export const failedWords: Readonly<Record<FailureReason, string>> = {
  expired: "No transfer arrived in time",
  unverified: "The reported transfer could not be verified"
}

export const alertWords: Readonly<Record<AlertKind | "unknown", string>> = {
  webhook_exhausted: "Webhook delivery failed",
  transfer_dropped: "Settled transfer left the chain",
  rpc_disagreement: "RPC nodes disagree",
  rpc_malformed: "RPC node returned an invalid response",
  rpc_unreachable: "RPC node unreachable",
  wrong_chain: "RPC node serves another chain",
  faucet_empty: "Faucet is empty",
  faucet_not_configured: "Faucet is off",
  faucet_wallet_shared: "Faucet wallet is shared",
  relayer_empty: "Relayer wallet is out of gas",
  incoming_transfer: "Unmatched transfers",
  clock_skew: "Clock skew",
  account_change: "Account settings changed",
  refund_unproven: "A refund is not on the chain",
  ...unknownWords
}
