// Reasons why the facilitator rejects a payment, with the message for the caller.
import { networks, type RelayBound } from "../../domain/networks.ts"
import type { SettleReason } from "../../domain/SettleReason.ts"
import { budgetReasons, obstacleReasons } from "../Relayer.ts"
import type { ExactPayment } from "../Wire.ts"

/** The settings of a budget, one per network. */
const settingsOf = (bound: RelayBound) =>
  Object.values(networks)
    .map(({ relayWei }) => relayWei[bound].setting)
    .join(" or ")

export interface Obstacle {
  readonly reason: SettleReason
  readonly message?: string | undefined
}

const messages: { readonly [R in SettleReason]?: string } = {
  invalid_exact_evm_eip3009_not_supported:
    "This facilitator settles Circle's USDC of its environment's network only; see /supported.",
  invalid_exact_evm_recipient_mismatch:
    "`to` and `payTo` must be the merchant's receiving address of the key's environment.",
  invalid_exact_evm_network_mismatch:
    "The payment, the requirements and the key's environment must be on the same network; see /supported.",
  payment_already_settled:
    "The payment was settled another way. If no transaction is returned, nothing was sent for this authorization.",
  payment_failed: "The payment has failed. Open a new one.",
  [budgetReasons.merchant]: `The service pays no more network fees for this merchant today. Try later, or ask the operator to raise ${settingsOf("merchant")}.`,
  [budgetReasons.payer]: `The service pays no more network fees for this payer today. Try later, or ask the operator to raise ${settingsOf("payer")}.`,
  [budgetReasons.total]:
    "The service pays no more network fees today, and its operator has been notified. Try later, or pay by a transfer.",
  [budgetReasons.price]:
    "The network's fees are too high for the service to pay them, and its operator has been notified. Try later, or pay by a transfer.",
  [budgetReasons.reverts]:
    "Three transactions of this payer have reverted within 24 hours. Nothing is relayed for this payer until 24 hours have passed.",
  relay_address_denied:
    "One of this payment's addresses is on the operator's deny list. Nothing was sent. Ask the operator.",
  [obstacleReasons.empty]:
    "The relayer's wallet has too little ETH: nothing is sent until the operator has funded it.",
  [budgetReasons.reserve]:
    "The relayer's wallet is almost empty; its reserve is kept for merchants that have used little of their budget. Ask the operator to fund it."
}

/** The setting of the relayer's wallet on a network, by the network's name in x402. */
const walletSettingOf = (name: string) =>
  Object.values(networks).find(({ x402 }) => Object.values(x402).includes(name))?.wallets.setting

/** The message for the caller. `network` is the payment's network, by its name in x402. */
export const messageOf = ({ reason, message }: Obstacle, network: string): string | undefined =>
  reason === obstacleReasons.not_configured
    ? `This deployment has no relayer's wallet: the operator sets ${walletSettingOf(network)}.`
    : (message ?? messages[reason])

export const deniedObstacle: Obstacle = { reason: "relay_address_denied" }

export const nonceUsedObstacle: Obstacle = {
  reason: "invalid_exact_evm_nonce_already_used",
  message:
    "This authorization was already used, or is being used for something else. Ask the payer to sign a new one. If you lost the response, repeat the request with the same quittance-idempotency-key within ten minutes."
}

export const paymentTakenObstacle: Obstacle = {
  reason: "payment_already_taken",
  message: "Another authorization is settling this payment, or has settled it. Nothing was sent."
}

/** A refusal as a response of `/settle`. */
export const refusalResponse = (exact: ExactPayment, obstacle: Obstacle, transaction = "") => {
  const text = messageOf(obstacle, exact.network)
  return {
    success: false,
    errorReason: obstacle.reason,
    ...(text === undefined ? {} : { errorMessage: text }),
    payer: exact.authorization.from,
    transaction,
    network: exact.network
  }
}
