// What codes mean, in the words of the pages. A code without its words does not compile.
import type { AlertKind } from "../../alerts/AlertKind.ts"
import type { MismatchReason, PendingReason } from "../../chain/ChainVerifier/Verification.ts"
import type { AttemptFailure, DeliveryStatus } from "../../domain/Webhook.ts"

/** A later release, sharing the database, may have codes that this one does not know. */
const wordsOf =
  <K extends string>(table: Readonly<Record<K, string>>) =>
  (code: string): string =>
    new Map(Object.entries<string>(table)).get(code) ?? code

const pendingWords: Readonly<Record<PendingReason, string>> = {
  not_found: "Not on the chain yet",
  spreading: "Seen by some of the chain's nodes",
  confirmations: "Waiting for confirmations",
  reorganised: "Its block was reorganised away",
  disagreement: "The chain's nodes disagree",
  rpc_unavailable: "The chain's nodes do not answer",
  wrong_network: "The nodes serve another network"
}

const mismatchWords: Readonly<Record<MismatchReason, string>> = {
  receiver: "Paid to another address",
  amount: "Another amount was paid",
  token: "Another token was sent",
  payer: "Sent by somebody else than the buyer",
  reverted: "The transaction was reverted",
  too_old: "The transfer is older than the payment",
  declared_changes: "The report names other changes than the chain",
  no_transfer: "The transaction moves no USDC",
  already_used: "The transfer pays another payment"
}

/** Why a report has not settled its payment. */
export const verdictWords = wordsOf({ ...pendingWords, ...mismatchWords })

export const isPendingVerdict = (verdict: string): boolean => Object.hasOwn(pendingWords, verdict)

/** Why an attempt of a delivery failed. */
export const failureWords: Readonly<Record<AttemptFailure, string>> = {
  dns: "The host name has no address",
  blocked: "The address is not a public one",
  connect: "Nobody accepts the connection",
  tls: "No trusted TLS connection",
  timeout: "No answer within 15 seconds",
  response: "The answer is not HTTP",
  status: "The answer is not 2xx",
  interrupted: "The service stopped during the attempt"
}

/** Why a payment failed. */
export const failedWords = wordsOf({
  expired: "Nobody reported a payment in time",
  unverified: "What was reported never verified"
})

const alerts: Readonly<Record<AlertKind, string>> = {
  webhook_exhausted: "Webhook delivery failed",
  transfer_dropped: "Settled transfer left the chain",
  rpc_disagreement: "Chain nodes disagree",
  rpc_malformed: "RPC node returned an invalid response",
  rpc_unreachable: "Chain node unreachable",
  wrong_chain: "Node serves another chain",
  faucet_empty: "Faucet is empty",
  faucet_not_configured: "Faucet is off",
  faucet_wallet_shared: "Faucet wallet is shared",
  relayer_empty: "Relaying wallet lacks gas",
  incoming_transfer: "Transfers without a payment",
  clock_skew: "Clock is wrong",
  account_change: "Account settings changed"
}
export const alertWords = wordsOf(alerts)

export const deliveryWords: Readonly<Record<DeliveryStatus, string>> = {
  pending: "Waiting",
  delivered: "Delivered",
  failed: "Failed",
  cancelled: "Not sent"
}
