// Creating intents: nothing is stored, the token carries what was agreed.
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AppConfig } from "../AppConfig.ts"
import { networks } from "../domain/Chain.ts"
import { ReceiverTaken } from "../domain/Errors.ts"
import type { Principal } from "../domain/Merchant.ts"
import { type AtomicUsdc, formatUsd } from "../domain/Money.ts"
import { PaymentId } from "../domain/Payment.ts"
import type { CreatedIntent } from "./Api.ts"
import { IntentTokens } from "./IntentTokens.ts"

const moved =
  "Your receiving address belongs to another merchant now. Set another one in the settings, then create the intent."

export class PaymentIntents extends Context.Service<
  PaymentIntents,
  {
    /** Signs an intent to pay the principal's merchant in its environment. */
    readonly create: (
      principal: Principal,
      input: { readonly amount: AtomicUsdc; readonly intentUrl: string }
    ) => Effect.Effect<typeof CreatedIntent.Encoded, ReceiverTaken>
  }
>()("quittance/intents/PaymentIntents") {
  static readonly layer: Layer.Layer<PaymentIntents, never, AppConfig | SecureRandom.SecureRandom> =
    Layer.effect(
      PaymentIntents,
      Effect.gen(function* () {
        const tokens = yield* IntentTokens
        const random = yield* SecureRandom.SecureRandom

        const create = Effect.fnUntraced(function* (
          { merchant, env }: Principal,
          { amount, intentUrl }: { readonly amount: AtomicUsdc; readonly intentUrl: string }
        ) {
          if (merchant.movedReceivers?.includes(env) === true)
            return yield* new ReceiverTaken({ message: moved })
          const { chainId, usdc } = networks[env]
          const token = { address: usdc.address, chainId }
          const receiver = merchant.receivers[env]
          const intentToken = yield* tokens.sign({
            // Time-ordered, so that the payments' index grows at its end.
            jti: PaymentId.make(yield* random.uuidV7()),
            amount,
            intentUrl,
            merchant: merchant.id,
            env,
            receiver,
            token
          })
          return {
            intent: { amount: formatUsd(amount), currency: "USD" as const, mode: env, receiver, token },
            intentToken
          }
        })

        return PaymentIntents.of({ create })
      })
    ).pipe(Layer.provide(IntentTokens.layer))
}
