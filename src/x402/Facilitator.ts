// The x402 facilitator of a merchant (scheme `exact`, versions 1 and 2): says what it takes,
// whether a payment is good, and settles it. Testnet only while Mainnet is gated.
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { AppConfig } from "../AppConfig.ts"
import { ChainUnavailable } from "../chain/Verification.ts"
import { networks } from "../domain/Chain.ts"
import type { Merchant, Principal } from "../domain/Merchant.ts"
import { type Payment, PaymentId } from "../domain/Payment.ts"
import { AuthorizationChain } from "./AuthorizationChain.ts"
import { type InvalidReason, judgeAuthorization, judgeTerms, judgeToken } from "./judgeExact.ts"
import { Relayer } from "./Relayer.ts"
import { amountOf, type Settlement, SettlementRepo } from "./SettlementRepo.ts"
import { Settlements } from "./Settlements.ts"
import { type ExactPayment, networkNames, type Requirements } from "./Wire.ts"

/** Answer of `/verify`. `payer` is who would pay. */
export interface VerifyAnswer {
  readonly isValid: boolean
  readonly invalidReason?: string
  readonly invalidMessage?: string
  readonly payer: string
}

/** Answer of `/settle`. `transaction` is empty where none was sent. */
export interface SettleAnswer {
  readonly success: boolean
  readonly errorReason?: string
  readonly errorMessage?: string
  readonly payer: string
  readonly transaction: string
  readonly network: string
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
}

interface Shape {
  readonly supported: (principal: Principal) => SupportedAnswer
  readonly verify: (
    principal: Principal,
    payment: ExactPayment,
    requirements: Requirements
  ) => Effect.Effect<VerifyAnswer, ChainUnavailable>
  readonly settle: (
    principal: Principal,
    payment: ExactPayment,
    requirements: Requirements
  ) => Effect.Effect<SettleAnswer, ChainUnavailable>
  /** Settles a payment that was opened from an intent. */
  readonly settlePayment: (
    merchant: Merchant,
    payment: Payment,
    authorization: ExactPayment,
    requirements: Requirements
  ) => Effect.Effect<SettleAnswer, ChainUnavailable>
}

/** How long another instance leaves a settlement to the one that took it. */
const firstLookMillis = 20_000

const messages: { readonly [R in InvalidReason]?: string } = {
  invalid_exact_evm_eip3009_not_supported:
    "This facilitator settles Circle's USDC of its environment's network only; see /supported.",
  invalid_exact_evm_recipient_mismatch:
    "`to` and `payTo` must be the merchant's receiving address of the key's environment.",
  invalid_exact_evm_network_mismatch:
    "The payment, the requirements and the key's environment must name one network; see /supported."
}

/** A resource's address as the payment's `intentUrl`. */
const resourceUrl = (text: string | undefined, baseUrl: string): string => {
  const url = text === undefined || text.length > 2048 ? null : URL.parse(text)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
  if (!plain) return baseUrl
  url.hash = ""
  return url.href
}

const unconfigured = new ChainUnavailable({
  reason: "unconfigured",
  message: "no RPC node is configured"
})

const make = Effect.gen(function* () {
  const { baseUrl } = yield* AppConfig
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
  ): Effect.fn.Return<InvalidReason | undefined, ChainUnavailable> {
    if (env !== "test") return "invalid_exact_evm_network_mismatch"
    const terms = judgeTerms(network, exact, requirements)
    if (terms !== undefined) return terms
    if (requirements.domain === undefined) return "invalid_exact_evm_missing_eip712_domain"
    if (requirements.asset === network.usdc.address) {
      const signed = yield* chain.isSigned(exact.authorization, requirements.domain)
      if (!signed) return "invalid_exact_evm_signature"
    }
    const now = BigInt(Math.floor((yield* DateTime.nowAsDate).getTime() / 1000))
    const receiver = payment === undefined ? merchant.receivers.test : payment.receiver
    const judged = judgeAuthorization(exact, requirements, receiver, now)
    if (judged !== undefined) return judged
    if (Option.isNone(amountOf(exact.authorization))) return "invalid_exact_evm_authorization_value"
    if (requirements.asset !== network.usdc.address && !(yield* chain.hasCode(requirements.asset)))
      return "asset_not_deployed_contract"
    return judgeToken(network, requirements)
  })

  const verify: Shape["verify"] = Effect.fn("Facilitator.verify")(function* (principal, exact, requirements) {
    const payer = exact.authorization.from
    const account = { merchant: principal.merchant, env: principal.env, payment: undefined }
    const reason =
      (yield* judge(account, exact, requirements)) ??
      (Option.isSome(Option.filter(yield* find(exact), ({ status }) => status !== "failed"))
        ? "invalid_exact_evm_nonce_already_used"
        : yield* chain.tryOut(exact.authorization))
    if (reason === undefined) return { isValid: true, payer }
    const message = messages[reason]
    return {
      isValid: false,
      invalidReason: reason,
      ...(message === undefined ? {} : { invalidMessage: message }),
      payer
    }
  })

  const answerOf = (exact: ExactPayment, settlement: Settlement): SettleAnswer => {
    const common = {
      payer: exact.authorization.from,
      transaction: settlement.transactionId ?? "",
      network: exact.network
    }
    switch (settlement.status) {
      case "settled":
        return { success: true, ...common }
      case "pending":
        return { success: false, errorReason: "settlement_pending", ...common }
      case "failed":
        return { success: false, errorReason: settlement.errorReason ?? "", ...common }
    }
  }

  const refused = (exact: ExactPayment, errorReason: string, errorMessage?: string): SettleAnswer => ({
    success: false,
    errorReason,
    ...(errorMessage === undefined ? {} : { errorMessage }),
    payer: exact.authorization.from,
    transaction: "",
    network: exact.network
  })
  const nonceUsed = (exact: ExactPayment) =>
    refused(
      exact,
      "invalid_exact_evm_nonce_already_used",
      "This authorization pays for something else. Have the payer sign a new one."
    )
  const paymentTaken = (exact: ExactPayment) =>
    refused(
      exact,
      "payment_already_taken",
      "Another authorization is settling this payment, or has settled it. Nothing was sent."
    )

  const isSameResource = (known: Settlement, resource: string | undefined) =>
    resource === undefined || known.resource === resourceUrl(resource, baseUrl)

  /** Whether what is asked now is what the known settlement was for. */
  const isSame = (known: Settlement, account: Account, exact: ExactPayment, requirements: Requirements) =>
    known.merchantId === account.merchant.id &&
    known.env === account.env &&
    isSameResource(known, requirements.resource ?? exact.resource) &&
    (account.payment === undefined ? known.opensPayment : known.paymentId === account.payment.id) &&
    known.authorization.to === exact.authorization.to &&
    known.authorization.value === exact.authorization.value &&
    known.authorization.validBefore === exact.authorization.validBefore &&
    known.authorization.signature === exact.authorization.signature

  const settleKnown = Effect.fnUntraced(function* (known: Settlement, exact: ExactPayment) {
    if (known.status !== "failed") return answerOf(exact, yield* settlements.settle(known))
    // A failed attempt may be repeated for as long as the authorization is good, and is looked
    // at again where somebody else has used it.
    const obstacle = yield* chain.tryOut(exact.authorization)
    if (obstacle !== undefined && obstacle !== "invalid_exact_evm_nonce_already_used")
      return answerOf(exact, known)
    const now = yield* DateTime.nowAsDate
    yield* repo.revive(known.id, new Date(now.getTime() + firstLookMillis))
    return answerOf(exact, yield* settlements.settle(known))
  })

  const settleFor = Effect.fn("Facilitator.settle")(
    function* (account: Account, exact: ExactPayment, requirements: Requirements) {
      const known = yield* find(exact)
      if (Option.isSome(known)) {
        return isSame(known.value, account, exact, requirements)
          ? yield* settleKnown(known.value, exact)
          : nonceUsed(exact)
      }
      const reason =
        (yield* judge(account, exact, requirements)) ?? (yield* chain.tryOut(exact.authorization))
      if (reason !== undefined) return refused(exact, reason, messages[reason])
      const id = yield* random.uuidV7()
      const at = yield* DateTime.nowAsDate
      const { settlement } = yield* repo.register({
        id,
        merchantId: account.merchant.id,
        env: account.env,
        paymentId: account.payment?.id ?? PaymentId.make(id),
        opensPayment: account.payment === undefined,
        chainId: network.chainId,
        asset: network.usdc.address,
        authorization: exact.authorization,
        resource: resourceUrl(requirements.resource ?? exact.resource, baseUrl),
        at,
        nextLookAt: new Date(at.getTime() + firstLookMillis)
      })
      if (!isSame(settlement, account, exact, requirements)) return nonceUsed(exact)
      return answerOf(exact, yield* settlements.settle(settlement))
    },
    (effect, _account, exact) =>
      Effect.catchTag(effect, "PaymentTaken", () => Effect.succeed(paymentTaken(exact)))
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
    settle: ({ merchant, env }, exact, requirements) =>
      settleFor({ merchant, env, payment: undefined }, exact, requirements),
    settlePayment: (merchant, payment, exact, requirements) =>
      settleFor({ merchant, env: payment.env, payment }, exact, requirements)
  }
  return shape
})

export class Facilitator extends Context.Service<Facilitator, Shape>()("quittance/x402/Facilitator") {
  static readonly layer: Layer.Layer<
    Facilitator,
    never,
    AppConfig | AuthorizationChain | SettlementRepo | Settlements | Relayer | SecureRandom.SecureRandom
  > = Layer.effect(Facilitator, make)

  /** For chains without a node: takes nothing. */
  static readonly layerNone: Layer.Layer<Facilitator> = Layer.succeed(Facilitator, {
    supported: () => ({ kinds: [], extensions: [], signers: {} }),
    verify: () => Effect.fail(unconfigured),
    settle: () => Effect.fail(unconfigured),
    settlePayment: () => Effect.fail(unconfigured)
  })
}
