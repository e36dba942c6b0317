// Judges an authorization by its terms, its signature, its payment and the chain.

import { DateTime, Effect, Option } from "effect"
import { type DenyList, isDenied } from "../../chain/DenyList.ts"
import type { RpcUnavailable } from "../../chain/Verification.ts"
import { isAuthorizationNonceOf } from "../../domain/authorizationNonce.ts"
import type { Merchant, Principal } from "../../domain/Merchant.ts"
import { networks } from "../../domain/networks.ts"
import type { PayerType, Payment } from "../../domain/Payment.ts"
import type { InvalidReason } from "../../domain/SettleReason.ts"
import type { Networks } from "../../platform/Networks.ts"
import type { AuthorizationChain } from "../AuthorizationChain.ts"
import type { Relayer } from "../Relayer.ts"
import type { SettlementRepo } from "../Settlements/SettlementRepo.ts"
import { amountOf, type X402Settlement } from "../Settlements/X402Settlement.ts"
import type { ExactPayment, Requirements } from "../Wire.ts"
import { judgeAuthorization, judgeKnown, judgeTerms, judgeToken } from "./judgeExact.ts"
import { deniedObstacle, nonceUsedObstacle, type Obstacle } from "./obstacles.ts"
import { resourceUrl } from "./resourceUrl.ts"

/** The merchant to be paid, and the existing payment, if any. */
export interface Payee {
  readonly merchant: Merchant
  readonly env: Principal["env"]
  readonly payment: Payment | undefined
  readonly payerType: PayerType
}

/** The longest time in seconds for which an authorization may reserve a payment. */
const maxReservationSeconds = 900n

/** True if the signature is the stored one. */
export const isSameSignature = (stored: X402Settlement, { authorization }: ExactPayment) =>
  stored.authorization.validAfter === authorization.validAfter &&
  stored.authorization.validBefore === authorization.validBefore &&
  stored.authorization.signature === authorization.signature

export type Judgements = ReturnType<typeof makeJudgements>

export const makeJudgements = ({
  baseUrl,
  chain,
  denyList,
  relayer,
  networkStates: { begins, executes },
  repo
}: {
  readonly baseUrl: string
  readonly chain: AuthorizationChain["Service"]
  readonly denyList: DenyList
  readonly relayer: Relayer["Service"]
  readonly networkStates: Networks
  readonly repo: SettlementRepo["Service"]
}) => {
  /** Checks everything except whether the nonce is unused and the transfer would succeed. */
  const judge = Effect.fnUntraced(function* (
    { merchant, env, payment }: Payee,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<InvalidReason | undefined, RpcUnavailable> {
    const network = networks[env]
    // A closing network settles payments that are already open, but begins no new ones.
    if (payment === undefined ? !begins(env) : !executes(env)) return "invalid_exact_evm_network_mismatch"
    const terms = judgeTerms(network, exact, requirements)
    if (terms !== undefined) return terms
    if (requirements.domain === undefined) return "invalid_exact_evm_missing_eip712_domain"
    if (requirements.asset === network.usdc.address) {
      const signed = yield* chain.isSigned(env, exact.authorization, requirements.domain)
      if (!signed) return "invalid_exact_evm_signature"
    }
    const now = BigInt(Math.floor((yield* DateTime.nowAsDate).getTime() / 1000))
    // An address that moved to another merchant receives no money for this merchant's resources.
    if (payment === undefined && merchant.movedReceivers?.includes(env) === true)
      return "invalid_exact_evm_recipient_mismatch"
    const receiver = payment === undefined ? merchant.receivers[env] : payment.receiver
    const judgement = judgeAuthorization(exact, requirements, receiver, now)
    if (judgement !== undefined) return judgement
    // An authorization that was requested for a payment pays only that payment.
    const requestedPayment = yield* repo.paymentOfNonce(exact.authorization.nonce)
    if (Option.isSome(requestedPayment) && requestedPayment.value !== payment?.id)
      return "invalid_exact_evm_nonce_already_used"
    // The authorization reserves the payment while it is valid.
    if (payment !== undefined && exact.authorization.validBefore > now + maxReservationSeconds)
      return "invalid_exact_evm_payload_authorization_valid_before"
    if (Option.isNone(amountOf(exact.authorization))) return "invalid_exact_evm_authorization_value"
    if (requirements.asset !== network.usdc.address && !(yield* chain.hasCode(env, requirements.asset)))
      return "asset_not_deployed_contract"
    return judgeToken(network, requirements)
  })

  /** The chain's objections to relaying the authorization now. */
  const simulate = Effect.fnUntraced(function* (
    { env }: Payee,
    exact: ExactPayment
  ): Effect.fn.Return<Obstacle | undefined, RpcUnavailable> {
    const { address: from, state } = relayer.on(env)
    const sender = from === undefined ? undefined : { from, state: yield* state }
    const plan = yield* chain.plan(env, exact.authorization, sender)
    return plan._tag === "Ready" ? undefined : plan
  })

  const isSameResource = (stored: X402Settlement, requirements: Requirements) =>
    requirements.resource === undefined || stored.resource === resourceUrl(requirements, baseUrl)

  /**
   * True if the request and the stored settlement are for the same money and the same purchase. A payment is
   * one purchase, whichever key requests it.
   */
  const isSame = (stored: X402Settlement, payee: Payee, exact: ExactPayment, requirements: Requirements) =>
    stored.merchantId === payee.merchant.id &&
    stored.env === payee.env &&
    (payee.payment === undefined
      ? stored.opensPayment && isSameResource(stored, requirements)
      : stored.paymentId === payee.payment.id) &&
    stored.authorization.to === exact.authorization.to &&
    stored.authorization.value === exact.authorization.value

  /** Judges everything of a new authorization: terms, signature, times, and the transfer itself. */
  const judgeNew = Effect.fnUntraced(function* (
    payee: Payee,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<Obstacle | undefined, RpcUnavailable> {
    const reason = yield* judge(payee, exact, requirements)
    if (reason !== undefined) return { reason }
    // Checked first, because an authorization that is already used needs no relaying.
    const objection = yield* simulate(payee, exact)
    return objection ?? (isDenied(denyList, exact.authorization) ? deniedObstacle : undefined)
  })

  /**
   * Judges whether a stored authorization meets the current requirements. Its nonce and amount are public, so
   * a different signature must still be the payer's.
   */
  const judgeAgain = Effect.fnUntraced(function* (
    stored: X402Settlement,
    payee: Payee,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<Obstacle | undefined, RpcUnavailable> {
    const mismatch = judgeKnown(networks[payee.env], exact, requirements)
    if (mismatch !== undefined) return { reason: mismatch }
    if (!isSame(stored, payee, exact, requirements)) return nonceUsedObstacle
    if (isSameSignature(stored, exact)) return undefined
    const reason = yield* judge(payee, exact, requirements)
    return reason === undefined ? undefined : { reason }
  })

  /**
   * True if this payment's authorization was already used on chain, by anyone, even if it is submitted here
   * after it expired. Only the payment-derived nonce proves that it belongs here: anyone could read another
   * authorization from the chain and submit it for a payment of their own.
   */
  const isOnChain = Effect.fnUntraced(function* (
    { env, payment }: Payee,
    { authorization: { from, nonce, validBefore } }: ExactPayment,
    { reason }: Obstacle
  ): Effect.fn.Return<boolean, RpcUnavailable> {
    if (payment === undefined || !isAuthorizationNonceOf(nonce, payment.id)) return false
    if (reason === nonceUsedObstacle.reason) return true
    if (reason !== "invalid_exact_evm_payload_authorization_valid_before") return false
    return (yield* chain.authorizationState(env, from, nonce, validBefore)) === "used"
  })

  return { isSame, isOnChain, judgeAgain, judgeNew }
}
