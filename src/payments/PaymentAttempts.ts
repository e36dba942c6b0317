// Attempts to pay: a wallet announces its payment before the buyer is prompted. A second browser then sends nothing
// while the first may still pay, and the transfer settles without a report.

import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import { chainRetryAfter } from "../chain/orChainUnavailable.ts"
import type { Address } from "../domain/Chain.ts"
import {
  ChainUnavailable,
  type InvalidBuyerToken,
  type InvalidRequest,
  invalidField,
  LiveModeGated,
  PaymentAttemptOpen,
  PaymentFailed,
  PaymentNotFound,
  PaymentSettled,
  RateLimited
} from "../domain/Errors.ts"
import type { Principal } from "../domain/Merchant.ts"
import type { AttemptMethod, Payment, PaymentId } from "../domain/Payment.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { RateLimiter } from "../platform/limits/RateLimiter.ts"
import { Networks } from "../platform/Networks.ts"
import type { KnownAttempts, PaymentAttempt } from "./AttemptRepo/AttemptStore.ts"
import { AttemptRepo } from "./AttemptRepo.ts"
import { BuyerIdentity } from "./buyers/BuyerIdentity.ts"
import { ClaimRepo } from "./ClaimRepo.ts"
import { evidenceOf } from "./evidenceOf.ts"
import { makeAttemptEndOf, type SentAttempt } from "./PaymentAttempts/attemptEndOf.ts"
import { PaymentRepo } from "./PaymentRepo.ts"
import { makeVerifyPayer } from "./Payments/verifyPayer.ts"
import { Payments } from "./Payments.ts"
import { replacedClaims } from "./replacedClaims.ts"
import { TransferRepo } from "./TransferRepo.ts"

export interface Announce {
  readonly buyerDidToken: string
  readonly method: AttemptMethod
  /** The caller's id for the attempt. The same id again means the same attempt. */
  readonly attemptId?: string
  /** The account nonce that the wallet will use. */
  readonly nonce?: bigint
  /** The client address of the request, for the limit. */
  readonly client: string
}

/** The reason why nothing may be sent, with the payment's state. */
export interface AttemptRefused {
  readonly _tag: "AttemptRefused"
  readonly error: PaymentAttemptOpen | PaymentSettled | PaymentFailed
  readonly known: KnownAttempts
}

export interface AttemptReader {
  readonly payer: Address | undefined
  /** The reader's own attempt, if its wallet has sent a transaction for it. */
  readonly own: SentAttempt | undefined
  /** The client address of the request, for the limit. */
  readonly client: string
}

export interface AttemptAnnounced {
  readonly _tag: "AttemptAnnounced"
  readonly attempt: PaymentAttempt
  /** False if the same attempt was announced before. */
  readonly created: boolean
  readonly known: KnownAttempts
}

type AttemptError =
  | PaymentNotFound
  | InvalidBuyerToken
  | ChainUnavailable
  | InvalidRequest
  | LiveModeGated
  | RateLimited

/** Announcements and reads of one payment from one client address: 2 a second. */
const attemptLimit = { rate: 2, perSeconds: 1, burst: 30 }

export class PaymentAttempts extends Context.Service<
  PaymentAttempts,
  {
    readonly announce: (
      principal: Principal,
      paymentId: PaymentId,
      announce: Announce
    ) => Effect.Effect<AttemptAnnounced | AttemptRefused, AttemptError>
    /** Reads a payment's state and attempts; if `payer` is set, only the attempts of that wallet. */
    readonly read: (
      principal: Principal,
      paymentId: PaymentId,
      by: AttemptReader
    ) => Effect.Effect<KnownAttempts, PaymentNotFound | RateLimited>
    /** Notes that the buyer sees the address to send to. Returns the pending payment. */
    readonly showAddress: (
      principal: Principal,
      paymentId: PaymentId,
      client: string
    ) => Effect.Effect<
      Payment,
      PaymentNotFound | PaymentSettled | PaymentFailed | LiveModeGated | RateLimited
    >
    /** The wallet reports that it will send nothing. */
    readonly decline: (
      principal: Principal,
      paymentId: PaymentId,
      attemptId: string
    ) => Effect.Effect<void, PaymentNotFound>
  }
>()("quittance/payments/PaymentAttempts") {
  static readonly layer: Layer.Layer<
    PaymentAttempts,
    never,
    | AppConfig
    | PaymentRepo
    | AttemptRepo
    | ClaimRepo
    | TransferRepo
    | Payments
    | BuyerIdentity
    | ChainVerifier
    | RateLimiter
    | SecureRandom.SecureRandom
  > = Layer.effect(
    PaymentAttempts,
    Effect.gen(function* () {
      const { baseUrl } = yield* AppConfig
      const { executes } = yield* Networks
      const repo = yield* PaymentRepo
      const attemptRepo = yield* AttemptRepo
      const claimRepo = yield* ClaimRepo
      const transferRepo = yield* TransferRepo
      const chain = yield* ChainVerifier
      const limiter = yield* RateLimiter
      const random = yield* SecureRandom.SecureRandom
      const payments = yield* Payments
      const verifyPayer = makeVerifyPayer(yield* BuyerIdentity, repo, baseUrl)
      const attemptEndOf = makeAttemptEndOf({ attemptRepo, transferRepo, chain })

      const enforceLimit = (principal: Principal, paymentId: PaymentId, client: string) =>
        Effect.flatMap(
          limiter.take(`attempts ${principal.keyId} ${paymentId} ${client}`, attemptLimit),
          (wait) => (wait > 0 ? Effect.fail(new RateLimited({ retryAfter: wait })) : Effect.void)
        )

      /** Closes the wallet's open attempt if it has ended. Returns true if it did. */
      const closeEnded = Effect.fnUntraced(function* (payment: Payment, payer: Address, own?: SentAttempt) {
        const open = yield* attemptRepo.openAttempt(payment.id, payer)
        if (Option.isNone(open)) return false
        const end = yield* attemptEndOf(payment, open.value, own)
        if (end === undefined) return false
        yield* attemptRepo.closeAttempt(payment.id, open.value.id, end, yield* DateTime.nowAsDate)
        return true
      })

      const attemptsOf = Effect.fnUntraced(function* (
        principal: Principal,
        paymentId: PaymentId,
        by?: { readonly payer: Address; readonly only: boolean }
      ) {
        const tenant = { merchantId: principal.merchant.id, env: principal.env }
        const attempts = yield* attemptRepo.attempts(tenant, paymentId, by)
        return Option.isSome(attempts) ? attempts.value : yield* new PaymentNotFound()
      })

      const refusalOf = ({ attempts, payment }: KnownAttempts, payer: Address) => {
        switch (payment.status) {
          case "settled":
            return new PaymentSettled()
          case "failed":
            return new PaymentFailed()
          case "pending":
            return attempts.some((attempt) => attempt.payer === payer) ? new PaymentAttemptOpen() : undefined
        }
      }

      /**
       * Settles a payment by a transfer that its wallet sent since the payment opened, unless the transfer may be for
       * an equal payment. Returns true while the transfer is undecided: by the chain, by an authorization that it may
       * belong to, or by a person who is attaching it.
       */
      const settleByUnclaimedTransfer = Effect.fnUntraced(function* (payment: Payment, payer: Address) {
        if (payment.status !== "pending") return false
        const transactionId = yield* attemptRepo.unclaimedTransfer(payment, payer)
        if (Option.isNone(transactionId)) return false
        const { amount, env, receiver } = payment
        // A transfer signed for one payment pays no other.
        const nonces = yield* chain.usedAuthorizations(env, transactionId.value, payer)
        if (nonces === undefined) return true
        const signedPayments =
          nonces.length === 0
            ? []
            : yield* transferRepo.paymentsOfNonces({ env, payer, receiver, amount }, nonces)
        if (signedPayments.some(({ id }) => id !== payment.id)) return false
        const at = yield* DateTime.nowAsDate
        if (
          signedPayments.length === 0 &&
          (yield* attemptRepo.mayPayAnotherPayment(payment, payer, transactionId.value, at))
        )
          return false
        if (yield* transferRepo.awaitsSettlement({ env, payer, receiver, amount })) return true
        const transfer = { amount, env, payer, receiver, transactionId: transactionId.value }
        // A transfer that replaces a dropped one pays the payment of the dropped one.
        const sender = yield* chain.sender(env, transactionId.value)
        const replaced = yield* replacedClaims(claimRepo, chain, transfer, sender, true)
        if (replaced === undefined) return true
        if (replaced.length > 0) return false
        const evidence = evidenceOf(transfer)
        const check = yield* payments.check(payment, evidence, at)
        return check._tag === "Pending"
      })

      const announce = Effect.fn("PaymentAttempts.announce")(function* (
        principal: Principal,
        paymentId: PaymentId,
        input: Announce
      ): Effect.fn.Return<AttemptAnnounced | AttemptRefused, AttemptError> {
        yield* enforceLimit(principal, paymentId, input.client)
        const tenant = { merchantId: principal.merchant.id, env: principal.env }
        const payment = yield* repo.find(tenant, paymentId)
        if (Option.isNone(payment)) return yield* new PaymentNotFound()
        if (!executes(principal.env)) return yield* new LiveModeGated()
        const payer = yield* verifyPayer(principal, input.buyerDidToken, paymentId, { boundOnly: true })
        // Money of this wallet that has already arrived is used before the wallet is prompted again.
        const isUndecided = yield* settleByUnclaimedTransfer(payment.value, payer)
        if (isUndecided) {
          const known = yield* attemptsOf(principal, paymentId, { payer, only: false })
          const error = refusalOf(known, payer)
          if (error !== undefined) return { _tag: "AttemptRefused", error, known }
        }
        const [account, cursor] = yield* Effect.all(
          [Effect.option(chain.account(principal.env, payer)), transferRepo.cursor(principal.env)],
          { concurrency: 2 }
        )
        // A node may lag or not respond, so the height read so far counts as well.
        const heights = [
          ...Option.toArray(Option.map(account, ({ head }) => head)),
          ...Option.toArray(Option.map(cursor, ({ blockNumber }) => blockNumber))
        ]
        const [height] = heights.toSorted((left, right) => Number(right - left))
        if (height === undefined) return yield* new ChainUnavailable({ retryAfter: chainRetryAfter })
        const { nonce: minedNonce, pending } = Option.getOrElse(account, () => ({
          nonce: null,
          pending: null
        }))
        const now = yield* DateTime.nowAsDate
        const attempt: PaymentAttempt = {
          id: input.attemptId ?? (yield* random.uuidV7()),
          payer,
          method: input.method,
          blockNumber: height,
          nonce: input.method === "transfer" ? (input.nonce ?? pending) : null,
          announcedAt: now
        }
        const announceAttempt = attemptRepo.announce({
          ...tenant,
          paymentId,
          attempt,
          minedNonce
        })
        const first = yield* announceAttempt
        const announced =
          Option.isNone(first) && (yield* closeEnded(payment.value, payer)) ? yield* announceAttempt : first
        const known = yield* attemptsOf(principal, paymentId, { payer, only: false })
        if (Option.isSome(announced)) {
          return {
            _tag: "AttemptAnnounced",
            attempt: announced.value,
            created: announced.value.announcedAt.getTime() === now.getTime(),
            known: { ...known, attempts: known.attempts.filter((attempt) => attempt.payer !== payer) }
          }
        }
        const error = refusalOf(known, payer)
        if (error !== undefined) return { _tag: "AttemptRefused", error, known }
        return yield* invalidField(
          "body.attemptId",
          "An attempt of this id has ended. Announce one with a new id."
        )
      })

      return {
        announce,
        read: Effect.fn("PaymentAttempts.read")(function* (principal, paymentId, { client, own, payer }) {
          yield* enforceLimit(principal, paymentId, client)
          const by = payer === undefined ? undefined : { payer, only: true }
          const known = yield* attemptsOf(principal, paymentId, by)
          const mayHaveEnded = payer !== undefined && known.payment.status === "pending"
          return mayHaveEnded && (yield* closeEnded(known.payment, payer, own))
            ? yield* attemptsOf(principal, paymentId, by)
            : known
        }),
        showAddress: Effect.fn("PaymentAttempts.showAddress")(function* (principal, paymentId, client) {
          yield* enforceLimit(principal, paymentId, client)
          const tenant = { merchantId: principal.merchant.id, env: principal.env }
          while (true) {
            const payment = yield* repo.find(tenant, paymentId)
            if (Option.isNone(payment)) return yield* new PaymentNotFound()
            if (!executes(principal.env)) return yield* new LiveModeGated()
            if (payment.value.status === "settled") return yield* new PaymentSettled()
            if (payment.value.status === "failed") return yield* new PaymentFailed()
            // The payment may end in the meantime.
            if (yield* attemptRepo.recordAddressShown(paymentId, yield* DateTime.nowAsDate))
              return payment.value
          }
        }),
        decline: Effect.fn("PaymentAttempts.decline")(function* (principal, paymentId, attemptId) {
          const tenant = { merchantId: principal.merchant.id, env: principal.env }
          const payment = yield* repo.find(tenant, paymentId)
          if (Option.isNone(payment)) return yield* new PaymentNotFound()
          yield* attemptRepo.closeAttempt(paymentId, attemptId, "declined", yield* DateTime.nowAsDate)
        })
      }
    })
  )
}
