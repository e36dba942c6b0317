// Settles signed authorizations, only once however often a caller asks.
import { DateTime, Effect, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { RpcUnavailable } from "../../chain/Verification.ts"
import type { TransactionHash } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { AuthorizationChain } from "../AuthorizationChain.ts"
import type { PaymentTaken, SettlementRepo } from "../Settlements/SettlementRepo.ts"
import type { X402Settlement } from "../Settlements/X402Settlement.ts"
import type { Settlements } from "../Settlements.ts"
import type { ExactPayment, Requirements } from "../Wire.ts"
import { isSameSignature, type Judgements, type Payee } from "./judgements.ts"
import { nonceUsedObstacle, type Obstacle, paymentTakenObstacle, refusalResponse } from "./obstacles.ts"
import { resourceUrl } from "./resourceUrl.ts"

/** The time for which other instances leave a settlement to the instance that registered it. */
const firstCheckMillis = 20_000

export const makeSettleFor = (
  {
    baseUrl,
    chain,
    random,
    repo,
    settlements
  }: {
    readonly baseUrl: string
    readonly chain: AuthorizationChain["Service"]
    readonly random: SecureRandom.SecureRandom["Service"]
    readonly repo: SettlementRepo["Service"]
    readonly settlements: Settlements["Service"]
  },
  { isSame, isOnChain, judgeAgain, judgeNew }: Judgements
) => {
  const pendingReasonOf = ({ reportedReason }: X402Settlement) => reportedReason ?? "settlement_pending"

  /** A settlement's state as a response. A success without an existing payment is returned only once. */
  const answerOf = Effect.fnUntraced(function* (
    exact: ExactPayment,
    settlement: X402Settlement,
    idempotencyKey: string | undefined
  ) {
    const transaction = settlement.transactionId ?? ""
    switch (settlement.status) {
      case "settled": {
        const isTheirs =
          !settlement.opensPayment ||
          (yield* repo.deliver(settlement.id, idempotencyKey, yield* DateTime.nowAsDate))
        return isTheirs
          ? { success: true, payer: exact.authorization.from, transaction, network: exact.network }
          : refusalResponse(exact, nonceUsedObstacle)
      }
      case "pending":
        return refusalResponse(exact, { reason: pendingReasonOf(settlement) }, transaction)
      case "failed":
        return refusalResponse(
          exact,
          { reason: settlement.errorReason ?? "invalid_exact_evm_transaction_failed" },
          transaction
        )
    }
  })

  /** The transaction that used the authorization before it was submitted here, searched from `since`. */
  const movingTransactionOf = Effect.fnUntraced(function* (
    { env }: Payee,
    { authorization: { from, nonce } }: ExactPayment,
    since: Date
  ) {
    const use = yield* chain.findUse(env, from, nonce, since)
    return Option.isSome(use) && !use.value.cancelled ? use.value.transactionId : null
  })

  /** Callers learn that an authorization was spent without paying, even if the payment is taken. */
  const spentOr =
    (obstacle: Obstacle | undefined, movedBy: TransactionHash | null) =>
    (refusal: PaymentTaken): Effect.Effect<Obstacle, PaymentTaken> =>
      obstacle === undefined || movedBy !== null ? Effect.fail(refusal) : Effect.succeed(obstacle)

  const settleStored = Effect.fnUntraced(function* (
    stored: X402Settlement,
    payee: Payee,
    exact: ExactPayment,
    requirements: Requirements
  ): Effect.fn.Return<X402Settlement | Obstacle, RpcUnavailable | PaymentTaken> {
    const current = stored.status === "pending" ? yield* settlements.settle(stored) : stored
    // The requested settlement has succeeded, or the chain has not decided yet.
    if (current.status === "settled" || (current.status === "pending" && isSameSignature(current, exact)))
      return current
    if (current.status === "pending") return { reason: pendingReasonOf(current) }
    // The settlement has just ended.
    if (stored.status === "pending" && isSameSignature(current, exact)) return current
    // A failed authorization may be tried again while it is valid, also re-signed with the same nonce.
    const obstacle = yield* judgeNew(payee, exact, requirements)
    if (
      obstacle !== undefined &&
      obstacle.reason !== nonceUsedObstacle.reason &&
      !(yield* isOnChain(payee, exact, obstacle))
    )
      return obstacle
    const movedBy =
      obstacle === undefined
        ? null
        : yield* movingTransactionOf(payee, exact, payee.payment?.createdAt ?? current.createdAt)
    const now = yield* DateTime.nowAsDate
    const spent = yield* repo
      .revive(current, exact.authorization, movedBy, plusMillis(now, firstCheckMillis))
      .pipe(Effect.catchTag("PaymentTaken", spentOr(obstacle, movedBy)))
    return spent ?? (yield* settlements.settle(current))
  })

  const settleFor = Effect.fn("Facilitator.settleFor")(
    function* (
      payee: Payee,
      exact: ExactPayment,
      requirements: Requirements,
      idempotencyKey: string | undefined
    ) {
      const { from, nonce } = exact.authorization
      const network = networks[payee.env]
      const stored = yield* repo.find(network.chainId, network.usdc.address, from, nonce)
      if (Option.isSome(stored)) {
        const wrong = yield* judgeAgain(stored.value, payee, exact, requirements)
        if (wrong !== undefined) return refusalResponse(exact, wrong)
        const result = yield* settleStored(stored.value, payee, exact, requirements)
        return "status" in result
          ? yield* answerOf(exact, result, idempotencyKey)
          : refusalResponse(exact, result)
      }
      const obstacle = yield* judgeNew(payee, exact, requirements)
      if (obstacle !== undefined && !(yield* isOnChain(payee, exact, obstacle)))
        return refusalResponse(exact, obstacle)
      const movedBy =
        obstacle === undefined || payee.payment === undefined
          ? null
          : yield* movingTransactionOf(payee, exact, payee.payment.createdAt)
      const id = yield* random.uuidV7()
      const at = yield* DateTime.nowAsDate
      const registering = repo.register({
        id,
        merchantId: payee.merchant.id,
        env: payee.env,
        paymentId: payee.payment?.id ?? PaymentId.make(id),
        opensPayment: payee.payment === undefined,
        payerType: payee.payerType,
        chainId: network.chainId,
        asset: network.usdc.address,
        authorization: exact.authorization,
        resource: resourceUrl(requirements, baseUrl),
        movedBy,
        at,
        nextCheckAt: plusMillis(at, firstCheckMillis)
      })
      const registered = yield* Effect.catchTag(registering, "PaymentTaken", spentOr(obstacle, movedBy))
      if ("reason" in registered) return refusalResponse(exact, registered)
      const { settlement } = registered
      if (!isSame(settlement, payee, exact, requirements)) return refusalResponse(exact, nonceUsedObstacle)
      return yield* answerOf(exact, yield* settlements.settle(settlement), idempotencyKey)
    },
    (effect, _payee, exact) =>
      Effect.catchTags(effect, {
        PaymentTaken: () => Effect.succeed(refusalResponse(exact, paymentTakenObstacle)),
        PaymentClosed: () => Effect.succeed(refusalResponse(exact, { reason: "payment_already_settled" }))
      })
  )

  return settleFor
}
