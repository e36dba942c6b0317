// Whether an authorization is good for what is asked: by its terms, its signature, its payment and the chain.

import { DateTime, Effect, Option } from "effect"
import type { RpcUnavailable } from "../../chain/Verification.ts"
import { isAuthorizationNonceOf } from "../../domain/authorizationNonce.ts"
import type { Merchant, Principal } from "../../domain/Merchant.ts"
import { walletNetwork } from "../../domain/networks.ts"
import type { PayerType, Payment } from "../../domain/Payment.ts"
import type { InvalidReason } from "../../domain/SettleReason.ts"
import type { Networks } from "../../platform/Networks.ts"
import type { AuthorizationChain } from "../AuthorizationChain.ts"
import type { Relayer } from "../Relayer.ts"
import type { SettlementRepo } from "../Settlements/SettlementRepo.ts"
import { amountOf, type X402Settlement } from "../Settlements/X402Settlement.ts"
import type { ExactPayment, Requirements } from "../Wire.ts"
import { judgeAuthorization, judgeKnown, judgeTerms, judgeToken } from "./judgeExact.ts"
import { type Obstacle, used } from "./obstacles.ts"
import { resourceUrl } from "./resourceUrl.ts"

/** Whose money is asked for, and the payment it is for, where there is one already. */
export interface Account {
  readonly merchant: Merchant
  readonly env: Principal["env"]
  readonly payment: Payment | undefined
  readonly payerType: PayerType
}

/** Seconds that an authorization may reserve a payment for. */
const longestReservation = 900n

/** Whether it is signed as it is known. */
export const isSameSignature = (known: X402Settlement, { authorization }: ExactPayment) =>
  known.authorization.validAfter === authorization.validAfter &&
  known.authorization.validBefore === authorization.validBefore &&
  known.authorization.signature === authorization.signature

export type Judgements = ReturnType<typeof makeJudgements>

export const makeJudgements = ({
  baseUrl,
  chain,
  relayer,
  relays,
  repo
}: {
  readonly baseUrl: string
  readonly chain: AuthorizationChain["Service"]
  readonly relayer: Relayer["Service"]
  readonly relays: Networks["relays"]
  readonly repo: SettlementRepo["Service"]
}) => {
  const network = walletNetwork

  /** Everything but whether the nonce is still free and the transfer would go through. */
  const judge = Effect.fnUntraced(function* (
    { merchant, env, payment }: Account,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<InvalidReason | undefined, RpcUnavailable> {
    if (!relays(env)) return "invalid_exact_evm_network_mismatch"
    const terms = judgeTerms(network, exact, requirements)
    if (terms !== undefined) return terms
    if (requirements.domain === undefined) return "invalid_exact_evm_missing_eip712_domain"
    if (requirements.asset === network.usdc.address) {
      const signed = yield* chain.isSigned(exact.authorization, requirements.domain)
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
    if (requirements.asset !== network.usdc.address && !(yield* chain.hasCode(requirements.asset)))
      return "asset_not_deployed_contract"
    return judgeToken(network, requirements)
  })

  /** What the chain says against relaying it now. */
  const tryOut = Effect.fnUntraced(function* (
    exact: ExactPayment
  ): Effect.fn.Return<Obstacle | undefined, RpcUnavailable> {
    const { address: from } = relayer
    const sender = from === undefined ? undefined : { from, state: yield* relayer.state }
    const plan = yield* chain.plan(exact.authorization, sender)
    return plan._tag === "Ready" ? undefined : plan
  })

  const isSameResource = (known: X402Settlement, requirements: Requirements) =>
    requirements.resource === undefined || known.resource === resourceUrl(requirements, baseUrl)

  /**
   * Whether what is asked now is what the known settlement is for: the same money for the same thing. A payment
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
    return reason === undefined ? yield* tryOut(exact) : { reason }
  })

  /**
   * What is wrong with paying by a known authorization what is asked now. Its nonce and amount are
   * public: signed otherwise than it is known, it must be its payer's all the same.
   */
  const judgeAgain = Effect.fnUntraced(function* (
    known: X402Settlement,
    account: Account,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<Obstacle | undefined, RpcUnavailable> {
    const wrong = judgeKnown(network, exact, requirements)
    if (wrong !== undefined) return { reason: wrong }
    if (!isSame(known, account, exact, requirements)) return used
    if (isSameSignature(known, exact)) return undefined
    const reason = yield* judge(account, exact, requirements)
    return reason === undefined ? undefined : { reason }
  })

  /**
   * Whether what was signed for this payment is on the chain already, brought there by anybody: also where it is
   * handed in once it is over, and was used while it was good. By its nonce alone it is for this payment: what the
   * chain shows of any other, whoever reads it could hand in for a payment of theirs.
   */
  const isThere = Effect.fnUntraced(function* (
    { payment }: Account,
    { authorization: { from, nonce, validBefore } }: ExactPayment,
    { reason }: Obstacle
  ): Effect.fn.Return<boolean, RpcUnavailable> {
    if (payment === undefined || !isAuthorizationNonceOf(nonce, payment.id)) return false
    if (reason === used.reason) return true
    if (reason !== "invalid_exact_evm_payload_authorization_valid_before") return false
    return (yield* chain.standing(from, nonce, validBefore)) === "used"
  })

  return { isSame, isThere, judgeAgain, judgeNew }
}
