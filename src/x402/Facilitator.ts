// The x402 facilitator of a merchant (scheme `exact`, versions 1 and 2): says what it takes,
// whether a payment is good, and settles it. Testnet only while Mainnet is gated.
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { AppConfig } from "../AppConfig.ts"
import type { Alerts } from "../alerts/Alerts.ts"
import type { ContractSignatures } from "../chain/ContractSignatures.ts"
import type { RpcPool } from "../chain/RpcPool.ts"
import { RpcUnavailable } from "../chain/Verification.ts"
import { authorizationNonceOf } from "../domain/authorizationNonce.ts"
import { type Address, networks } from "../domain/Chain.ts"
import type { Merchant, Principal } from "../domain/Merchant.ts"
import { type PayerType, type Payment, PaymentId } from "../domain/Payment.ts"
import type { InvalidReason, SettleReason } from "../domain/SettleReason.ts"
import type { PaymentRepo } from "../payments/PaymentRepo.ts"
import type { Payments } from "../payments/Payments.ts"
import { typedDataOf } from "./Authorization.ts"
import { AuthorizationChain } from "./AuthorizationChain.ts"
import { judgeAuthorization, judgeKnown, judgeTerms, judgeToken } from "./Facilitator/judgeExact.ts"
import { requirementsOf } from "./paymentRequirements.ts"
import { Relayer, type RelayObstacle } from "./Relayer.ts"
import {
  amountOf,
  isDeliverable,
  type PaymentTaken,
  SettlementRepo,
  type X402Settlement
} from "./Settlements/SettlementRepo.ts"
import { budgetReasons, Settlements } from "./Settlements.ts"
import { type ExactPayment, networkNames, type Requirements } from "./Wire.ts"

type Shape = typeof Facilitator.Service

/** Answer of `/verify`. `payer` is who would pay. */
export interface VerifyAnswer {
  readonly isValid: boolean
  readonly invalidReason?: SettleReason
  readonly invalidMessage?: string
  readonly payer: string
}

/** Answer of `/settle`. `transaction` is empty where none was sent. */
export interface SettleAnswer {
  readonly success: boolean
  readonly errorReason?: SettleReason
  readonly errorMessage?: string
  readonly payer: string
  readonly transaction: string
  readonly network: string
}

/** A buyer's signature. All else that is signed follows from the payment. */
export interface SignedTerms {
  readonly payer: Address
  /** Unix seconds. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly signature: Hex
}

export interface SupportedAnswer {
  readonly kinds: ReadonlyArray<{
    readonly x402Version: number
    readonly scheme: "exact"
    readonly network: string
  }>
  readonly extensions: ReadonlyArray<string>
  readonly signers: { readonly [family: string]: ReadonlyArray<string> }
}

/** Whose money is asked for, and the payment it is for, where there is one already. */
interface Account {
  readonly merchant: Merchant
  readonly env: Principal["env"]
  readonly payment: Payment | undefined
  readonly payerType: PayerType
}

/** Why a payment is not good, with what the caller can do about it. */
interface Obstacle {
  readonly reason: SettleReason
  readonly message?: string | undefined
}

/** Seconds for which what a buyer signs is good. */
const signedFor = 600n
/** Seconds by which the chain's clock may be behind. */
const clockSlack = 600n

/** How long another instance leaves a settlement to the one that took it. */
const firstCheckMillis = 20_000

const messages: { readonly [R in SettleReason]?: string } = {
  invalid_exact_evm_eip3009_not_supported:
    "This facilitator settles Circle's USDC of its environment's network only; see /supported.",
  invalid_exact_evm_recipient_mismatch:
    "`to` and `payTo` must be the merchant's receiving address of the key's environment.",
  invalid_exact_evm_network_mismatch:
    "The payment, the requirements and the key's environment must name one network; see /supported.",
  payment_already_settled:
    "The payment was settled another way. Where no transaction is named, nothing was sent for this authorization.",
  payment_failed: "The payment has failed. Open a new one.",
  [budgetReasons.merchant]:
    "The gas that is spent for this merchant in 24 hours is used up. Try later, or have the operator raise RELAY_GAS_PER_MERCHANT.",
  [budgetReasons.payer]:
    "The gas that is spent for this payer in 24 hours is used up. Try later, or have the operator raise RELAY_GAS_PER_PAYER.",
  [budgetReasons.reverts]:
    "Three transactions of this payer have reverted within 24 hours. Nothing of it is relayed until that is over.",
  [budgetReasons.reserve]:
    "The relaying wallet runs low, and what is left is for merchants that have used little of it. The operator has to fund it."
}

/** Seconds that an authorization may reserve a payment for. */
const longestReservation = 900n
/** Of an address in its encoded form. */
const longestUrl = 2048

/** The resource that the merchant's own requirements name as the payment's `intentUrl`. */
const resourceUrl = ({ resource }: Requirements, baseUrl: string): string => {
  const url = resource === undefined ? null : URL.parse(resource)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
  if (!plain) return baseUrl
  url.hash = ""
  if (url.href.length > longestUrl) url.search = ""
  return url.href.length > longestUrl ? url.origin : url.href
}

const unconfigured = new RpcUnavailable({
  reason: "unconfigured",
  message: "no RPC node is configured"
})

const make = Effect.gen(function* () {
  const { baseUrl, paymentExpiry } = yield* AppConfig
  const chain = yield* AuthorizationChain
  const repo = yield* SettlementRepo
  const settlements = yield* Settlements
  const relayer = yield* Relayer
  const random = yield* SecureRandom.SecureRandom
  const network = networks.test

  const find = ({ authorization }: ExactPayment) =>
    repo.find(network.chainId, network.usdc.address, authorization.from, authorization.nonce)

  /** Everything but whether the nonce is still free and the transfer would go through. */
  const judge = Effect.fnUntraced(function* (
    { merchant, env, payment }: Account,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<InvalidReason | undefined, RpcUnavailable> {
    if (env !== "test") return "invalid_exact_evm_network_mismatch"
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
    const receiver = payment === undefined ? merchant.receivers.test : payment.receiver
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

  /** Whether what is asked now is what the known settlement is for: the same money for the same thing. */
  const isSame = (known: X402Settlement, account: Account, exact: ExactPayment, requirements: Requirements) =>
    known.merchantId === account.merchant.id &&
    known.env === account.env &&
    isSameResource(known, requirements) &&
    (account.payment === undefined ? known.opensPayment : known.paymentId === account.payment.id) &&
    known.authorization.to === exact.authorization.to &&
    known.authorization.value === exact.authorization.value

  const isSameSignature = (known: X402Settlement, { authorization }: ExactPayment) =>
    known.authorization.validAfter === authorization.validAfter &&
    known.authorization.validBefore === authorization.validBefore &&
    known.authorization.signature === authorization.signature

  const used: Obstacle = {
    reason: "invalid_exact_evm_nonce_already_used",
    message:
      "This authorization has paid, or pays for something else. Have the payer sign a new one; where an answer was lost, repeat the request under its quittance-idempotency-key within ten minutes."
  }

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

  const verify: Shape["verify"] = Effect.fn("Facilitator.verify")(
    function* (principal, exact, requirements, identity) {
      const payer = exact.authorization.from
      const account = {
        merchant: principal.merchant,
        env: principal.env,
        payment: undefined,
        payerType: "agent"
      } as const
      const at = yield* DateTime.nowAsDate
      const known = yield* find(exact)
      const judgeOne = Effect.fnUntraced(function* (one: X402Settlement) {
        const wrong = yield* judgeAgain(one, account, exact, requirements)
        if (wrong !== undefined) return wrong
        if (one.status === "settled") return isDeliverable(one, identity, at) ? undefined : used
        // In flight: the call that settles it reports the success.
        if (one.status === "pending" && one.toldReason === null) return undefined
        return yield* judgeNew(account, exact, requirements)
      })
      const obstacle = yield* Option.match(known, {
        onNone: () => judgeNew(account, exact, requirements),
        onSome: judgeOne
      })
      if (obstacle === undefined) return { isValid: true, payer }
      const message = obstacle.message ?? messages[obstacle.reason]
      return {
        isValid: false,
        invalidReason: obstacle.reason,
        ...(message === undefined ? {} : { invalidMessage: message }),
        payer
      }
    }
  )

  const pendingReasonOf = ({ toldReason }: X402Settlement) => toldReason ?? "settlement_pending"
  const refused = (exact: ExactPayment, { reason, message }: Obstacle, transaction = ""): SettleAnswer => {
    const said = message ?? messages[reason]
    return {
      success: false,
      errorReason: reason,
      ...(said === undefined ? {} : { errorMessage: said }),
      payer: exact.authorization.from,
      transaction,
      network: exact.network
    }
  }
  const paymentTaken: Obstacle = {
    reason: "payment_already_taken",
    message: "Another authorization is settling this payment, or has settled it. Nothing was sent."
  }

  /** How a settlement stands, for a caller. The success of one that no payment waits for is delivered once. */
  const answerOf = Effect.fnUntraced(function* (
    exact: ExactPayment,
    settlement: X402Settlement,
    identity: string | undefined
  ) {
    const transaction = settlement.transactionId ?? ""
    switch (settlement.status) {
      case "settled": {
        const isTheirs =
          !settlement.opensPayment ||
          (yield* repo.deliver(settlement.id, identity, yield* DateTime.nowAsDate))
        return isTheirs
          ? { success: true, payer: exact.authorization.from, transaction, network: exact.network }
          : refused(exact, used)
      }
      case "pending":
        return refused(exact, { reason: pendingReasonOf(settlement) }, transaction)
      case "failed":
        return refused(
          exact,
          { reason: settlement.errorReason ?? "invalid_exact_evm_transaction_failed" },
          transaction
        )
    }
  })

  /**
   * Whether what a buyer has signed for this payment is on the chain already, brought there by anybody: also
   * where it is handed in once it is over, and was used while it was good.
   */
  const isThere = Effect.fnUntraced(function* (
    { payerType }: Account,
    { authorization: { from, nonce, validBefore } }: ExactPayment,
    { reason }: Obstacle
  ): Effect.fn.Return<boolean, RpcUnavailable> {
    if (payerType !== "human") return false
    if (reason === used.reason) return true
    if (reason !== "invalid_exact_evm_payload_authorization_valid_before") return false
    return (yield* chain.standing(from, nonce, validBefore)) === "used"
  })

  /** The transaction that has used it before it came here, since what it is for began. */
  const moverOf = Effect.fnUntraced(function* (
    { authorization: { from, nonce } }: ExactPayment,
    since: Date
  ) {
    const use = yield* chain.findUse(from, nonce, since)
    return Option.isSome(use) && !use.value.cancelled ? use.value.transactionId : null
  })

  const settleKnown = Effect.fnUntraced(function* (
    given: X402Settlement,
    account: Account,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<X402Settlement | Obstacle, RpcUnavailable | PaymentTaken> {
    const known = given.status === "pending" ? yield* settlements.settle(given) : given
    // What is asked is settled, or the chain has yet to say so.
    if (known.status === "settled" || (known.status === "pending" && isSameSignature(known, exact)))
      return known
    if (known.status === "pending") return { reason: pendingReasonOf(known) }
    // It has just come to its end.
    if (given.status === "pending" && isSameSignature(known, exact)) return known
    // One that failed may be tried again for as long as it is good, also re-signed with the same nonce.
    const obstacle = yield* judgeNew(account, exact, requirements)
    if (
      obstacle !== undefined &&
      obstacle.reason !== used.reason &&
      !(yield* isThere(account, exact, obstacle))
    )
      return obstacle
    const movedBy =
      obstacle === undefined ? null : yield* moverOf(exact, account.payment?.createdAt ?? known.createdAt)
    const now = yield* DateTime.nowAsDate
    yield* repo.revive(known, exact.authorization, movedBy, new Date(now.getTime() + firstCheckMillis))
    return yield* settlements.settle(known)
  })

  const settleFor = Effect.fn("Facilitator.settle")(
    function* (
      account: Account,
      exact: ExactPayment,
      requirements: Requirements,
      identity: string | undefined
    ) {
      const known = yield* find(exact)
      if (Option.isSome(known)) {
        const wrong = yield* judgeAgain(known.value, account, exact, requirements)
        if (wrong !== undefined) return refused(exact, wrong)
        const came = yield* settleKnown(known.value, account, exact, requirements)
        return "status" in came ? yield* answerOf(exact, came, identity) : refused(exact, came)
      }
      const obstacle = yield* judgeNew(account, exact, requirements)
      if (obstacle !== undefined && !(yield* isThere(account, exact, obstacle)))
        return refused(exact, obstacle)
      const movedBy =
        obstacle === undefined || account.payment === undefined
          ? null
          : yield* moverOf(exact, account.payment.createdAt)
      const id = yield* random.uuidV7()
      const at = yield* DateTime.nowAsDate
      const { settlement } = yield* repo.register({
        id,
        merchantId: account.merchant.id,
        env: account.env,
        paymentId: account.payment?.id ?? PaymentId.make(id),
        opensPayment: account.payment === undefined,
        payerType: account.payerType,
        chainId: network.chainId,
        asset: network.usdc.address,
        authorization: exact.authorization,
        resource: resourceUrl(requirements, baseUrl),
        movedBy,
        at,
        nextCheckAt: new Date(at.getTime() + firstCheckMillis)
      })
      if (!isSame(settlement, account, exact, requirements)) return refused(exact, used)
      return yield* answerOf(exact, yield* settlements.settle(settlement), identity)
    },
    (effect, _account, exact) =>
      Effect.catchTags(effect, {
        PaymentTaken: () => Effect.succeed(refused(exact, paymentTaken)),
        PaymentClosed: () => Effect.succeed(refused(exact, { reason: "payment_already_settled" }))
      })
  )

  const shape: Shape = {
    supported: ({ env }) => ({
      kinds:
        env === "test" && relayer.address !== undefined
          ? ([1, 2] as const).flatMap((x402Version) => {
              const name = networkNames.test[x402Version]
              return name === undefined ? [] : [{ x402Version, scheme: "exact" as const, network: name }]
            })
          : [],
      extensions: [],
      signers: { "eip155:*": relayer.address === undefined ? [] : [relayer.address] }
    }),
    verify,
    settle: ({ merchant, env }, exact, requirements, identity) =>
      settleFor({ merchant, env, payment: undefined, payerType: "agent" }, exact, requirements, identity),
    settlePayment: (merchant, payment, exact, requirements) =>
      settleFor({ merchant, env: payment.env, payment, payerType: "agent" }, exact, requirements, undefined),
    terms: Effect.fn("Facilitator.terms")(function* (merchant, payment, payer) {
      const at = yield* DateTime.nowAsDate
      const now = BigInt(Math.floor(at.getTime() / 1000))
      const nonce = authorizationNonceOf(payment.id)
      // Beyond it the payment has failed, and its link or order may have another one.
      const deadline = BigInt(
        Math.floor((payment.createdAt.getTime() + Duration.toMillis(paymentExpiry)) / 1000)
      )
      const longest = now + signedFor
      yield* repo.noteNonce(payment.id, nonce, at)
      return {
        typedData: typedDataOf(network, {
          from: payer,
          to: payment.receiver,
          value: payment.amount,
          validAfter: now - clockSlack,
          validBefore: longest < deadline ? longest : deadline,
          nonce
        }),
        obstacle: yield* relayer.obstacle(merchant.id, payer)
      }
    }),
    settleSigned: (merchant, payment, { payer, validAfter, validBefore, signature }) => {
      const resource = `${baseUrl}/api/v1/payments/${payment.id}/authorization`
      const requirements = requirementsOf(payment, 2, resource)
      const exact: ExactPayment = {
        version: 2,
        scheme: requirements.scheme,
        network: requirements.network,
        authorization: {
          from: payer,
          to: payment.receiver,
          value: payment.amount,
          validAfter,
          validBefore,
          nonce: authorizationNonceOf(payment.id),
          signature
        },
        identifier: undefined,
        asksReceipt: false
      }
      const account: Account = { merchant, env: payment.env, payment, payerType: "human" }
      return settleFor(account, exact, requirements, undefined)
    }
  }
  return shape
})

export class Facilitator extends Context.Service<
  Facilitator,
  {
    readonly supported: (principal: Principal) => SupportedAnswer
    /** `identity` is the caller's own id of what it sells: under it a lost success is repeated. */
    readonly verify: (
      principal: Principal,
      payment: ExactPayment,
      requirements: Requirements,
      identity: string | undefined
    ) => Effect.Effect<VerifyAnswer, RpcUnavailable>
    /** Succeeds once for each authorization, and again under the same `identity` for ten minutes. */
    readonly settle: (
      principal: Principal,
      payment: ExactPayment,
      requirements: Requirements,
      identity: string | undefined
    ) => Effect.Effect<SettleAnswer, RpcUnavailable>
    /** Settles a payment that was opened from an intent, once however often it is asked. */
    readonly settlePayment: (
      merchant: Merchant,
      payment: Payment,
      authorization: ExactPayment,
      requirements: Requirements
    ) => Effect.Effect<SettleAnswer, RpcUnavailable>
    /** What a buyer's wallet signs to pay the payment, and why it would not be relayed now. */
    readonly terms: (
      merchant: Merchant,
      payment: Payment,
      payer: Address
    ) => Effect.Effect<
      { readonly typedData: ReturnType<typeof typedDataOf>; readonly obstacle: RelayObstacle | undefined },
      RpcUnavailable
    >
    /** Settles a payment by what its buyer has signed of these terms, once however often it is asked. */
    readonly settleSigned: (
      merchant: Merchant,
      payment: Payment,
      signed: SignedTerms
    ) => Effect.Effect<SettleAnswer, RpcUnavailable>
  }
>()("quittance/x402/Facilitator") {
  static readonly layer: Layer.Layer<
    Facilitator,
    never,
    | AppConfig
    | RpcPool
    | ContractSignatures
    | SqlClient.SqlClient
    | PaymentRepo
    | Payments
    | Alerts
    | SecureRandom.SecureRandom
  > = Layer.effect(Facilitator, make).pipe(
    Layer.provide([SettlementRepo.layer, Settlements.layer, AuthorizationChain.layer, Relayer.layer])
  )

  /** For chains without a node: takes nothing. */
  static readonly layerNone: Layer.Layer<Facilitator> = Layer.succeed(Facilitator, {
    supported: () => ({ kinds: [], extensions: [], signers: {} }),
    verify: () => Effect.fail(unconfigured),
    settle: () => Effect.fail(unconfigured),
    settlePayment: () => Effect.fail(unconfigured),
    terms: () => Effect.fail(unconfigured),
    settleSigned: () => Effect.fail(unconfigured)
  })
}
