// What codes mean, in the words of the pages.

/** Why a report has not settled its payment: pending reasons, then mismatches. */
export const verdictWords: Readonly<Record<string, string>> = {
  not_found: "Not on the chain yet",
  spreading: "Seen by some of the chain's nodes",
  confirmations: "Waiting for confirmations",
  reorganised: "Its block was reorganised away",
  disagreement: "The chain's nodes disagree",
  rpc_unavailable: "The chain's nodes do not answer",
  wrong_network: "The nodes serve another network",
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

const pending = [
  "not_found",
  "spreading",
  "confirmations",
  "reorganised",
  "disagreement",
  "rpc_unavailable",
  "wrong_network"
]
export const isPendingVerdict = (verdict: string): boolean => pending.includes(verdict)

export const failureWords: Readonly<Record<string, string>> = {
  dns: "The host name has no address",
  blocked: "The address is not a public one",
  connect: "Nobody accepts the connection",
  tls: "No trusted TLS connection",
  timeout: "No answer within 15 seconds",
  response: "The answer is not HTTP",
  status: "The answer is not 2xx",
  interrupted: "The service stopped during the attempt"
}

export const failedWords: Readonly<Record<string, string>> = {
  expired: "Nobody reported a payment in time",
  unverified: "What was reported never verified"
}

export const alertWords: Readonly<Record<string, string>> = {
  webhook_exhausted: "Webhook delivery failed",
  transfer_dropped: "Settled transfer left the chain",
  rpc_disagreement: "Chain nodes disagree",
  rpc_malformed: "A chain node answers nonsense",
  rpc_unreachable: "Chain node unreachable",
  wrong_chain: "Node serves another chain",
  faucet_empty: "Faucet is empty",
  faucet_not_configured: "Faucet is off",
  faucet_wallet_shared: "Faucet wallet is shared",
  relayer_empty: "Relaying wallet lacks gas",
  incoming_transfer: "Transfers without a payment",
  clock_skew: "Clock is wrong",
  account_change: "A setting of your money was changed"
}

export const deliveryWords: Readonly<Record<string, string>> = {
  pending: "Waiting",
  delivered: "Delivered",
  failed: "Failed",
  cancelled: "Not sent"
}
