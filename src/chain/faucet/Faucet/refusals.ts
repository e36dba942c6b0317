// The reasons why the faucet does not pay, with the message for the caller.
import { ChainUnavailable, FaucetLimitReached, FaucetUnavailable } from "../../../domain/Errors.ts"
import { faucetLimitAdvice } from "../../../domain/faucetLimits.ts"
import type { BlockingLimit } from "./limits.ts"

/** 429 with the limit that blocks longest. */
export const limitReached = ({ limit, retryAfter }: BlockingLimit): FaucetLimitReached =>
  new FaucetLimitReached({ reason: limit, message: faucetLimitAdvice[limit], retryAfter })

export const notConfigured = new FaucetUnavailable({
  reason: "not_configured",
  message: "This deployment has no faucet: its operator has not set FAUCET_PRIVATE_KEY."
})

export const emptyWallet = new FaucetUnavailable({
  reason: "empty",
  message: "The faucet's wallet is empty. The operator has been notified; fund the wallet another way."
})

export const deniedRecipient = new FaucetUnavailable({
  reason: "declined",
  message: "The operator sends no test funds to this wallet. Use another wallet, or ask the operator."
})

export const revertingToken = new FaucetUnavailable({
  reason: "transfer_reverts",
  message:
    "The test funds did not move: the token refused the transfer. The operator has been notified; fund the wallet another way."
})

export const sharedWallet = new FaucetUnavailable({
  reason: "wallet_shared",
  message:
    "The test funds did not move: something else uses the faucet's wallet. The operator has been notified; try again later or fund the wallet another way."
})

export const underWay = new ChainUnavailable({
  retryAfter: 5,
  message:
    "The grant was sent but is not in a block yet. Check the wallet's balance before you request funds again."
})
