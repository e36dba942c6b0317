// Creates intents. Nothing is stored: the token contains the agreed terms.
import { Brand, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { LiveModeGated, ReceiverTaken } from "../../domain/Errors.ts"
import type { Principal } from "../../domain/Merchant.ts"
import { type AtomicUsdc, formatUsd } from "../../domain/Money.ts"
import { networks } from "../../domain/networks.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import type { AppConfig } from "../../platform/AppConfig.ts"
import { Networks } from "../../platform/Networks.ts"
import type { CreatedIntent } from "./Api.ts"
import { IntentTokens } from "./IntentTokens.ts"

interface IntentInput {
  readonly amount: AtomicUsdc
  readonly intentUrl: string
  /** The payment's future id; random by default. */
  readonly id?: PaymentId
}

const makePaymentId = Brand.nominal<PaymentId>()

const movedReceiverMessage =
  "Your receiving address belongs to another merchant now. Set another one in the settings, then create the intent."

const closingMessage =
  "Mainnet is closing: payments in progress are still settled, and no new ones begin. Use a test key, or ask the operator when live payments open again."

export class PaymentIntents extends Context.Service<
  PaymentIntents,
  {
    /** Signs an intent to pay the principal's merchant in its environment. */
    readonly create: (
      principal: Principal,
      input: IntentInput
    ) => Effect.Effect<typeof CreatedIntent.Encoded, ReceiverTaken | LiveModeGated>
    /** Another token for an existing payment, on the terms with which it was opened. */
    readonly renew: (payment: Payment) => Effect.Effect<string>
  }
>()("quittance/payments/PaymentIntents") {
  static readonly layer: Layer.Layer<PaymentIntents, never, AppConfig | SecureRandom.SecureRandom> =
    Layer.effect(
      PaymentIntents,
      Effect.gen(function* () {
        const tokens = yield* IntentTokens
        const { isClosing } = yield* Networks
        const random = yield* SecureRandom.SecureRandom

        const create = (
          { merchant, env }: Principal,
          { amount, id, intentUrl }: IntentInput
        ): Effect.Effect<typeof CreatedIntent.Encoded, ReceiverTaken | LiveModeGated> => {
          if (isClosing(env)) return Effect.fail(new LiveModeGated({ message: closingMessage }))
          if (merchant.movedReceivers?.includes(env) === true)
            return Effect.fail(new ReceiverTaken({ message: movedReceiverMessage }))
          const { chainId, usdc } = networks[env]
          const token = { address: usdc.address, chainId }
          const receiver = merchant.receivers[env]
          const intent = { amount: formatUsd(amount), currency: "USD" as const, mode: env, receiver, token }
          const signIntent = (jti: PaymentId) =>
            Effect.map(
              tokens.sign({ jti, amount, intentUrl, merchant: merchant.id, env, receiver, token }),
              (intentToken) => ({ intent, intentToken })
            )
          // Time-ordered, so that the payments' index grows at its end.
          return id === undefined
            ? Effect.flatMap(random.uuidV7(), (drawn) => signIntent(makePaymentId(drawn)))
            : signIntent(id)
        }

        const renew = ({ amount, env, id, intentUrl, merchantId, receiver }: Payment) => {
          const { chainId, usdc } = networks[env]
          const token = { address: usdc.address, chainId }
          return tokens.sign({ jti: id, amount, intentUrl, merchant: merchantId, env, receiver, token })
        }

        return PaymentIntents.of({ create, renew })
      })
    ).pipe(Layer.provide(IntentTokens.layer))
}
