// Changing where a merchant's money goes. An address of another merchant moves only by a
// signature of its owner, who is asked outside of every transaction.
import { Context, Effect, Layer, Option } from "effect"
import { type Hex, hashMessage, recoverMessageAddress } from "viem"
import { parseAddress } from "../chain/Address.ts"
import { ContractSignatures } from "../chain/ContractSignatures.ts"
import { orChainUnavailable } from "../chain/orChainUnavailable.ts"
import { type ChainUnavailableError, ReceiverTaken } from "../domain/Errors.ts"
import { MerchantRepo, type ReceiverChange } from "./MerchantRepo.ts"
import type { ReceiverHolder, ReceiverPlace } from "./ReceiverRepo.ts"
import { receiverMessage } from "./receiverMessage.ts"

/** The refusal, with the text that the owner may sign. `wrong` where a signature was given. */
const taken = (place: ReceiverPlace, holder: ReceiverHolder, wrong: boolean) =>
  new ReceiverTaken({
    ...(wrong ? { reason: "signature" } : {}),
    details: [
      {
        path: "body.signature",
        message: wrong
          ? "This is no signature of the text in `expected` by the address's key."
          : "If the address is yours, sign the text in `expected` with its key (personal_sign) and send the signature.",
        expected: receiverMessage(place, holder)
      }
    ]
  })

export class Receivers extends Context.Service<
  Receivers,
  {
    /** `signature` is hex. New intents name the new address; those that exist keep theirs. None where there is no such merchant. */
    readonly change: (
      place: ReceiverPlace,
      signature: Option.Option<string>
    ) => Effect.Effect<Option.Option<ReceiverChange>, ReceiverTaken | ChainUnavailableError>
  }
>()("quittance/keys/Receivers") {
  static readonly layer: Layer.Layer<Receivers, never, MerchantRepo | ContractSignatures> = Layer.effect(
    Receivers,
    Effect.gen(function* () {
      const merchants = yield* MerchantRepo
      const contracts = yield* ContractSignatures

      const signedByOwner = Effect.fnUntraced(function* (
        { env, address }: ReceiverPlace,
        message: string,
        text: string
      ) {
        const signature: Hex = `0x${text.slice(2)}`
        const signer = yield* Effect.tryPromise(() => recoverMessageAddress({ message, signature })).pipe(
          Effect.map(parseAddress),
          Effect.orElseSucceed(() => undefined)
        )
        if (signer === address) return true
        return yield* contracts.verify(env, address, hashMessage(message), signature).pipe(orChainUnavailable)
      })

      return {
        change: Effect.fn("Receivers.change")(function* (place, signature) {
          const changed = yield* merchants.changeReceiver(place)
          if (changed._tag === "Changed") return Option.some(changed.change)
          if (changed._tag === "Unknown") return Option.none()
          const { holder } = changed
          if (Option.isNone(signature)) return yield* taken(place, holder, false)
          const own = yield* signedByOwner(place, receiverMessage(place, holder), signature.value)
          if (!own) return yield* taken(place, holder, true)
          const moved = yield* merchants.changeReceiver(place, holder)
          if (moved._tag === "Taken") return yield* taken(place, moved.holder, true)
          return moved._tag === "Changed" ? Option.some(moved.change) : Option.none()
        })
      }
    })
  )
}
