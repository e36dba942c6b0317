// A merchant's x402 facilitator (scheme `exact`, versions 1 and 2). It says what it supports, verifies
// payments and settles them, on every open or closing network.

import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import type { ContractSignatures } from "../chain/ContractSignatures.ts"
import { DenyList, isDenied } from "../chain/DenyList.ts"
import type { RpcPool } from "../chain/RpcPool.ts"
import { RpcUnavailable } from "../chain/Verification.ts"
import { authorizationNonceOf } from "../domain/authorizationNonce.ts"
import type { Address } from "../domain/Chain.ts"
import type { Merchant, Principal } from "../domain/Merchant.ts"
import { faucetNetwork, networks } from "../domain/networks.ts"
import type { Payment } from "../domain/Payment.ts"
import type { SettleReason } from "../domain/SettleReason.ts"
import type { PaymentRepo } from "../payments/PaymentRepo.ts"
import type { Payments } from "../payments/Payments.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import type { Alerts } from "../platform/alerts/Alerts.ts"
import { Networks } from "../platform/Networks.ts"
import { typedDataOf } from "./Authorization.ts"
import { AuthorizationChain } from "./AuthorizationChain.ts"
import { makeJudgements, type Payee } from "./Facilitator/judgements.ts"
import { messageOf, nonceUsedObstacle, type Obstacle } from "./Facilitator/obstacles.ts"
import { makeSettleFor } from "./Facilitator/settleFor.ts"
import { requirementsOf } from "./paymentRequirements.ts"
import { obstacleReasons, Relayer, type RelayObstacle } from "./Relayer.ts"
import { SettlementRepo } from "./Settlements/SettlementRepo.ts"
import { isDeliverable, type X402Settlement } from "./Settlements/X402Settlement.ts"
import { Settlements } from "./Settlements.ts"
import { type ExactPayment, networkNames, type Requirements } from "./Wire.ts"

type Shape = typeof Facilitator.Service

/** The response of `/verify`. `payer` is the address that would pay. */
export interface VerifyResult {
  readonly isValid: boolean
  readonly invalidReason?: SettleReason
  readonly invalidMessage?: string
  readonly payer: string
}

/** The response of `/settle`. `transaction` is empty if none was sent. */
export interface SettleResult {
  readonly success: boolean
  readonly errorReason?: SettleReason
  readonly errorMessage?: string
  readonly payer: string
  readonly transaction: string
  readonly network: string
}

/** A buyer's signature. All other signed values follow from the payment. */
export interface SignedTerms {
  readonly payer: Address
  /** Unix seconds. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly signature: Hex
}

export interface SupportedResult {
  readonly kinds: ReadonlyArray<{
    readonly x402Version: number
    readonly scheme: "exact"
    readonly network: string
  }>
  readonly extensions: ReadonlyArray<string>
  readonly signers: { readonly [family: string]: ReadonlyArray<string> }
}

/** Seconds for which a buyer's signature is valid. */
const signatureLifetimeSeconds = 600n
/** Seconds by which the chain's clock may be behind ours. */
const clockSlackSeconds = 600n

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
  const networkStates = yield* Networks
  const { begins, executes } = networkStates
  const random = yield* SecureRandom.SecureRandom
  const denyList = yield* DenyList
  const judgements = makeJudgements({ baseUrl, chain, denyList, networkStates, relayer, repo })
  const { judgeAgain, judgeNew } = judgements
  const settleFor = makeSettleFor({ baseUrl, chain, random, repo, settlements }, judgements)

  const verify: Shape["verify"] = Effect.fn("Facilitator.verify")(
    function* (principal, exact, requirements, idempotencyKey) {
      const { from: payer, nonce } = exact.authorization
      const payee = {
        merchant: principal.merchant,
        env: principal.env,
        payment: undefined,
        payerType: "agent"
      } as const
      const network = networks[principal.env]
      const at = yield* DateTime.nowAsDate
      const stored = yield* repo.find(network.chainId, network.usdc.address, payer, nonce)
      // Includes the relayer's obstacles, because a merchant may serve the resource before settlement.
      const judgeAll = Effect.fnUntraced(function* (): Effect.fn.Return<
        Obstacle | undefined,
        RpcUnavailable
      > {
        const wrong = yield* judgeNew(payee, exact, requirements)
        if (wrong !== undefined) return wrong
        const relayObstacle = yield* relayer.on(payee.env).obstacle(payee.merchant.id, payer)
        return relayObstacle === undefined ? undefined : { reason: obstacleReasons[relayObstacle] }
      })
      const judgeStored = Effect.fnUntraced(function* (settlement: X402Settlement) {
        const wrong = yield* judgeAgain(settlement, payee, exact, requirements)
        if (wrong !== undefined) return wrong
        if (settlement.status === "settled")
          return isDeliverable(settlement, idempotencyKey, at) ? undefined : nonceUsedObstacle
        // In flight: the call that settles the payment reports its success.
        if (
          settlement.status === "pending" &&
          (settlement.reportedReason ?? "settlement_pending") === "settlement_pending"
        )
          return undefined
        return yield* judgeAll()
      })
      const obstacle = yield* Option.match(stored, {
        onNone: judgeAll,
        onSome: judgeStored
      })
      if (obstacle === undefined) return { isValid: true, payer }
      const message = messageOf(obstacle, exact.network)
      return {
        isValid: false,
        invalidReason: obstacle.reason,
        ...(message === undefined ? {} : { invalidMessage: message }),
        payer
      }
    }
  )

  const shape: Shape = {
    supported: ({ env }) => {
      // A key of a closed network gets the relayer's wallet of the open one.
      const { address } = relayer.on(executes(env) ? env : faucetNetwork.env)
      return {
        kinds:
          begins(env) && address !== undefined
            ? ([1, 2] as const).flatMap((x402Version) => {
                const name = networkNames[env][x402Version]
                return name === undefined ? [] : [{ x402Version, scheme: "exact" as const, network: name }]
              })
            : [],
        extensions: [],
        signers: { "eip155:*": address === undefined ? [] : [address] }
      }
    },
    verify,
    settle: ({ merchant, env }, exact, requirements, idempotencyKey) =>
      settleFor(
        { merchant, env, payment: undefined, payerType: "agent" },
        exact,
        requirements,
        idempotencyKey
      ),
    settlePayment: (merchant, payment, exact, requirements) =>
      settleFor({ merchant, env: payment.env, payment, payerType: "agent" }, exact, requirements, undefined),
    terms: Effect.fn("Facilitator.terms")(function* (merchant, payment, payer) {
      const at = yield* DateTime.nowAsDate
      const now = BigInt(Math.floor(at.getTime() / 1000))
      const nonce = authorizationNonceOf(payment.id)
      // After this time the payment has failed, and its link or order may have another payment.
      const deadline = BigInt(
        Math.floor((payment.createdAt.getTime() + Duration.toMillis(paymentExpiry)) / 1000)
      )
      const maxValidBefore = now + signatureLifetimeSeconds
      yield* repo.storeNonce(payment.id, nonce, at)
      return {
        typedData: typedDataOf(networks[payment.env], {
          from: payer,
          to: payment.receiver,
          value: payment.amount,
          validAfter: now - clockSlackSeconds,
          validBefore: maxValidBefore < deadline ? maxValidBefore : deadline,
          nonce
        }),
        obstacle: isDenied(denyList, { from: payer, to: payment.receiver })
          ? "denied"
          : yield* relayer.on(payment.env).obstacle(merchant.id, payer)
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
      const payee: Payee = { merchant, env: payment.env, payment, payerType: "human" }
      return settleFor(payee, exact, requirements, undefined)
    }
  }
  return shape
})

export class Facilitator extends Context.Service<
  Facilitator,
  {
    readonly supported: (principal: Principal) => SupportedResult
    /** `idempotencyKey` is the caller's own id of the purchase. A lost success is repeated under it. */
    readonly verify: (
      principal: Principal,
      payment: ExactPayment,
      requirements: Requirements,
      idempotencyKey: string | undefined
    ) => Effect.Effect<VerifyResult, RpcUnavailable>
    /** Succeeds once per authorization, and again under the same `idempotencyKey` for ten minutes. */
    readonly settle: (
      principal: Principal,
      payment: ExactPayment,
      requirements: Requirements,
      idempotencyKey: string | undefined
    ) => Effect.Effect<SettleResult, RpcUnavailable>
    /** Settles a payment that was opened from an intent. Repeated calls settle it only once. */
    readonly settlePayment: (
      merchant: Merchant,
      payment: Payment,
      authorization: ExactPayment,
      requirements: Requirements
    ) => Effect.Effect<SettleResult, RpcUnavailable>
    /**
     * Returns the terms that a buyer's wallet signs to pay the payment, and the reason why they would not be
     * relayed now.
     */
    readonly terms: (
      merchant: Merchant,
      payment: Payment,
      payer: Address
    ) => Effect.Effect<
      {
        readonly typedData: ReturnType<typeof typedDataOf>
        readonly obstacle: RelayObstacle | "denied" | undefined
      },
      RpcUnavailable
    >
    /** Settles a payment with a buyer's signature of these terms. Repeated calls settle it only once. */
    readonly settleSigned: (
      merchant: Merchant,
      payment: Payment,
      signed: SignedTerms
    ) => Effect.Effect<SettleResult, RpcUnavailable>
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

  /** For deployments without a node: accepts nothing. */
  static readonly layerNone: Layer.Layer<Facilitator> = Layer.succeed(Facilitator, {
    supported: () => ({ kinds: [], extensions: [], signers: {} }),
    verify: () => Effect.fail(unconfigured),
    settle: () => Effect.fail(unconfigured),
    settlePayment: () => Effect.fail(unconfigured),
    terms: () => Effect.fail(unconfigured),
    settleSigned: () => Effect.fail(unconfigured)
  })
}
