// Changing where a merchant's money goes. An address of another merchant moves only by a signature of its
// owner, which is judged outside of every transaction. What a member changes on Mainnet waits, so that
// another can withdraw it.

import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { type Hex, hashMessage } from "viem"
import { ContractSignatures } from "../chain/ContractSignatures.ts"
import { orChainUnavailable } from "../chain/orChainUnavailable.ts"
import { recoverAddress } from "../chain/recoverAddress.ts"
import type { Env } from "../domain/Chain.ts"
import { type ChainUnavailable, ReceiverTaken, type RoleRequired } from "../domain/Errors.ts"
import type { MerchantId } from "../domain/Merchant.ts"
import { isTest } from "../domain/networks.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { type Asker, AuditLog, type Impersonal, operator, service } from "./audit/AuditLog.ts"
import { MerchantRepo, type ReceiverChange, type ReceiverOutcome } from "./MerchantRepo.ts"
import { ReceiverChangeRepo, type WaitingChange } from "./ReceiverChangeRepo.ts"
import type { ReceiverHolder, ReceiverPlace } from "./ReceiverRepo.ts"
import { receiverMessage } from "./Receivers/receiverMessage.ts"
import { withdrawnChange } from "./withdrawnChange.ts"

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
    /**
     * `signature` is hex. New intents name the new address; those that exist keep theirs. A live address
     * waits for LIVE_RECEIVER_DELAY, unless the operator changes it. None where there is no such merchant. A
     * member must be permitted still when the change is made.
     */
    readonly change: (
      place: ReceiverPlace,
      signature: Option.Option<string>,
      actor: Asker | Impersonal
    ) => Effect.Effect<Option.Option<ReceiverChange>, ReceiverTaken | ChainUnavailable | RoleRequired>
    /** The change that waits. */
    readonly waiting: (merchantId: MerchantId, env: Env) => Effect.Effect<Option.Option<WaitingChange>>
    /** False where no change waits. */
    readonly withdraw: (
      merchantId: MerchantId,
      env: Env,
      asker: Asker
    ) => Effect.Effect<boolean, RoleRequired>
  }
>()("quittance/merchants/Receivers") {
  static readonly layer: Layer.Layer<
    Receivers,
    never,
    SqlClient.SqlClient | ContractSignatures | AuditLog | AppConfig | SecureRandom.SecureRandom
  > = Layer.effect(
    Receivers,
    Effect.gen(function* () {
      const merchants = yield* MerchantRepo
      const changes = yield* ReceiverChangeRepo
      const audit = yield* AuditLog
      const random = yield* SecureRandom.SecureRandom
      const { liveReceiverDelay } = yield* AppConfig
      const contracts = yield* ContractSignatures

      const signedByOwner = Effect.fnUntraced(function* (
        { env, address }: ReceiverPlace,
        message: string,
        text: string
      ) {
        const signature: Hex = `0x${text.slice(2)}`
        const hash = hashMessage(message)
        if ((yield* recoverAddress(hash, signature)) === address) return true
        return yield* contracts.verify(env, address, hash, signature).pipe(orChainUnavailable)
      })

      const waitOf = Effect.fnUntraced(function* (env: Env, { id: userId }: Asker | Impersonal) {
        if (isTest(env) || userId === null || Duration.isZero(liveReceiverDelay)) return Option.none()
        const at = yield* DateTime.nowAsDate
        return Option.some({
          id: yield* random.uuidV7(),
          userId,
          at,
          dueAt: new Date(at.getTime() + Duration.toMillis(liveReceiverDelay))
        })
      })

      const permitted = <A, E, R>(
        merchantId: MerchantId,
        actor: Asker | Impersonal,
        change: Effect.Effect<A, E, R>
      ): Effect.Effect<A, E | RoleRequired, R> =>
        actor.id === null ? change : audit.permitted(merchantId, actor, change)

      const recorded = Effect.fnUntraced(function* (
        place: ReceiverPlace,
        actor: Asker | Impersonal,
        holder?: ReceiverHolder
      ) {
        const wait = yield* waitOf(place.env, actor)
        const taking = <E, R>(change: Effect.Effect<ReceiverOutcome, E, R>) =>
          audit.recording(place.merchantId, actor, permitted(place.merchantId, actor, change), (outcome) => {
            if (outcome._tag !== "Changed") return Option.none()
            const { after, before, dueAt, withdrawn } = outcome.change
            if (before === after)
              return Option.map(withdrawn, (address) => ({
                action: "receiver.change_withdrawn" as const,
                env: place.env,
                summary: `withdrew the change of the receiving address to ${address}: it stays ${before}`
              }))
            return Option.some(
              Option.match(dueAt, {
                onNone: () => ({
                  action: "receiver.changed" as const,
                  env: place.env,
                  summary: `changed the receiving address from ${before} to ${after}`
                }),
                onSome: (due) => ({
                  action: "receiver.change_requested" as const,
                  env: place.env,
                  summary: `asked for another receiving address: ${after} instead of ${before} from ${due.toISOString().slice(0, 16).replace("T", " ")} UTC on; until then an owner or a developer can withdraw it`
                })
              })
            )
          })
        if (holder === undefined) return yield* taking(merchants.changeReceiver(place, { wait }))
        /** Notifies its members without naming the other merchant. */
        const by = actor === operator ? operator : service
        const losing = <E, R>(change: Effect.Effect<ReceiverOutcome, E, R>) =>
          audit.recording(holder.merchantId, by, change, (outcome) =>
            outcome._tag === "Changed"
              ? Option.some({
                  action: "receiver.changed" as const,
                  env: place.env,
                  summary: `gave the address ${place.address} to another merchant, by a signature of its key; if it is the present receiving address, no intent is created until another is set`
                })
              : Option.none()
          )
        const change = merchants.changeReceiver(place, { holder, wait })
        // Each holds its merchant's row to the end: in one order, whichever takes from the other.
        return yield* holder.merchantId < place.merchantId ? losing(taking(change)) : taking(losing(change))
      })

      return {
        waiting: changes.find,
        withdraw: Effect.fn("Receivers.withdraw")(function* (merchantId, env, asker) {
          const waiting = yield* changes.find(merchantId, env)
          if (Option.isNone(waiting)) return false
          const { id, requestedBy } = waiting.value
          return yield* audit.recording(
            merchantId,
            asker,
            audit.permitted(
              merchantId,
              asker,
              Effect.flatMap(DateTime.nowAsDate, (at) => changes.withdraw(id, at))
            ),
            (withdrawn) =>
              withdrawn ? Option.some(withdrawnChange(waiting.value, requestedBy)) : Option.none()
          )
        }),
        change: Effect.fn("Receivers.change")(function* (place, signature, actor) {
          const changed = yield* recorded(place, actor)
          if (changed._tag === "Changed") return Option.some(changed.change)
          if (changed._tag === "Unknown") return Option.none()
          const { holder } = changed
          if (Option.isNone(signature)) return yield* taken(place, holder, false)
          const own = yield* signedByOwner(place, receiverMessage(place, holder), signature.value)
          if (!own) return yield* taken(place, holder, true)
          const moved = yield* recorded(place, actor, holder)
          if (moved._tag === "Taken") return yield* taken(place, moved.holder, true)
          return moved._tag === "Changed" ? Option.some(moved.change) : Option.none()
        })
      }
    })
  ).pipe(Layer.provide([MerchantRepo.layer, ReceiverChangeRepo.layer]))
}
