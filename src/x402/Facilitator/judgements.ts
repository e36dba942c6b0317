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
import { denied, type Obstacle, used } from "./obstacles.ts"
import { resourceUrl } from "./resourceUrl.ts"

/** The merchant to be paid, and the existing payment, if any. */
export interface Account {
  readonly merchant: Merchant
  readonly env: Principal["env"]
  readonly payment: Payment | undefined
  readonly payerType: PayerType
}

/** Seconds that an authorization may reserve a payment for. */
const longestReservation = 900n

/** True if it is signed as it is known. */
export const isSameSignature = (known: X402Settlement, { authorization }: ExactPayment) =>
  known.authorization.validAfter === authorization.validAfter &&
  known.authorization.validBefore === authorization.validBefore &&
  known.authorization.signature === authorization.signature

export type Judgements = ReturnType<typeof makeJudgements>

export const makeJudgements = ({
  baseUrl,
  chain,
  denyList,
  relayer,
  executing: { executes, isClosing },
  repo
}: {
  readonly baseUrl: string
  readonly chain: AuthorizationChain["Service"]
  readonly denyList: DenyList
  readonly relayer: Relayer["Service"]
  readonly executing: Networks
  readonly repo: SettlementRepo["Service"]
}) => {
  /** Everything but whether the nonce is still free and the transfer would go through. */
  const judge = Effect.fnUntraced(function* (
    { merchant, env, payment }: Account,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<InvalidReason | undefined, RpcUnavailable> {
    const network = networks[env]
    // While it closes, what was opened before is paid, and no new payment begins.
    if (!executes(env) || (payment === undefined && isClosing(env)))
      return "invalid_exact_evm_network_mismatch"
    const terms = judgeTerms(network, exact, requirements)
    if (terms !== undefined) return terms
    if (requirements.domain === undefined) return "invalid_exact_evm_missing_eip712_domain"
    if (requirements.asset === network.usdc.address) {
      const signed = yield* chain.isSigned(env, exact.authorization, requirements.domain)
      if (!signed) return "invalid_exact_evm_signature"
    }
    const now = BigInt(Math.floor((yield* DateTime.nowAsDate).getTime() / 1000))
    // An address that has become another merchant's takes no money of this one's resources.
    if (payment === undefined && merchant.movedReceivers?.includes(env) === true)
      return "invalid_exact_evm_recipient_mismatch"
    const receiver = payment === undefined ? merchant.receivers[env] : payment.receiver
    const judged = judgeAuthorization(exact, requirements, receiver, now)
    if (judged !== undefined) return judged
    // Asked of a buyer for a payment, it pays that one alone.
    const asked = yield* repo.paymentOfNonce(exact.authorization.nonce)
    if (Option.isSome(asked) && asked.value !== payment?.id) return "invalid_exact_evm_nonce_already_used"
    // While it is good it reserves the payment.
    if (payment !== undefined && exact.authorization.validBefore > now + longestReservation)
      return "invalid_exact_evm_payload_authorization_valid_before"
    if (Option.isNone(amountOf(exact.authorization))) return "invalid_exact_evm_authorization_value"
    if (requirements.asset !== network.usdc.address && !(yield* chain.hasCode(env, requirements.asset)))
      return "asset_not_deployed_contract"
    return judgeToken(network, requirements)
  })

  /** The chain's objections to relaying it now. */
  const tryOut = Effect.fnUntraced(function* (
    { env }: Account,
    exact: ExactPayment
  ): Effect.fn.Return<Obstacle | undefined, RpcUnavailable> {
    const { address: from, state } = relayer.on(env)
    const sender = from === undefined ? undefined : { from, state: yield* state }
    const plan = yield* chain.plan(env, exact.authorization, sender)
    return plan._tag === "Ready" ? undefined : plan
  })

  const isSameResource = (known: X402Settlement, requirements: Requirements) =>
    requirements.resource === undefined || known.resource === resourceUrl(requirements, baseUrl)

  /**
   * True if what is asked now is what the known settlement is for: the same money for the same thing. A payment
   * is one thing, by whichever key its address is asked.
   */
  const isSame = (known: X402Settlement, account: Account, exact: ExactPayment, requirements: Requirements) =>
    known.merchantId === account.merchant.id &&
    known.env === account.env &&
    (account.payment === undefined
      ? known.opensPayment && isSameResource(known, requirements)
      : known.paymentId === account.payment.id) &&
    known.authorization.to === exact.authorization.to &&
    known.authorization.value === exact.authorization.value

  /** Everything of a new authorization: its terms, its signature, its times, and the transfer itself. */
  const judgeNew = Effect.fnUntraced(function* (
    account: Account,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<Obstacle | undefined, RpcUnavailable> {
    const reason = yield* judge(account, exact, requirements)
    if (reason !== undefined) return { reason }
    // What has been used already needs no relaying: that comes first.
    const tried = yield* tryOut(account, exact)
    return tried ?? (isDenied(denyList, exact.authorization) ? denied : undefined)
  })

  /**
   * Judges whether a known authorization meets the present requirements. Its nonce and amount are public, so a
   * different signature of it must still be its payer's.
   */
  const judgeAgain = Effect.fnUntraced(function* (
    known: X402Settlement,
    account: Account,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<Obstacle | undefined, RpcUnavailable> {
    const wrong = judgeKnown(networks[account.env], exact, requirements)
    if (wrong !== undefined) return { reason: wrong }
    if (!isSame(known, account, exact, requirements)) return used
    if (isSameSignature(known, exact)) return undefined
    const reason = yield* judge(account, exact, requirements)
    return reason === undefined ? undefined : { reason }
  })

  /**
   * True if what was signed for this payment is on the chain already, brought there by anybody: also where it is
   * handed in once it is over, and was used while it was good. By its nonce alone it is for this payment: what the
   * chain shows of any other, whoever reads it could hand in for a payment of theirs.
   */
  const isThere = Effect.fnUntraced(function* (
    { env, payment }: Account,
    { authorization: { from, nonce, validBefore } }: ExactPayment,
    { reason }: Obstacle
  ): Effect.fn.Return<boolean, RpcUnavailable> {
    if (payment === undefined || !isAuthorizationNonceOf(nonce, payment.id)) return false
    if (reason === used.reason) return true
    if (reason !== "invalid_exact_evm_payload_authorization_valid_before") return false
    return (yield* chain.standing(env, from, nonce, validBefore)) === "used"
  })

  return { isSame, isThere, judgeAgain, judgeNew }
}
