// Changes of receiving addresses. Another merchant's address moves only with a signature of its owner, which
// is verified outside of any transaction. On Mainnet, a member's change waits, so that another member can
// withdraw it.

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
import { plusMillis } from "../domain/plusMillis.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { AuditLog, type Impersonal, operator, type Requester, service } from "./audit/AuditLog.ts"
import { MerchantRepo, type ReceiverChange, type ReceiverOutcome } from "./MerchantRepo.ts"
import { ReceiverChangeRepo, type WaitingChange } from "./ReceiverChangeRepo.ts"
import type { ReceiverHolder, ReceiverPlace } from "./ReceiverRepo.ts"
import { receiverMessage } from "./Receivers/receiverMessage.ts"
import { withdrawnChange } from "./withdrawnChange.ts"

/** The refusal, with the text that the owner may sign. `isWrong` if a signature was sent. */
const receiverTaken = (place: ReceiverPlace, holder: ReceiverHolder, isWrong: boolean) =>
  new ReceiverTaken({
    ...(isWrong ? { reason: "signature" } : {}),
    details: [
      {
        path: "body.signature",
        message: isWrong
          ? "The signature does not match: sign the text in `expected` with the address's key."
          : "If the address is yours, sign the text in `expected` with its key (personal_sign) and send the signature.",
        expected: receiverMessage(place, holder)
      }
    ]
  })

export class Receivers extends Context.Service<
  Receivers,
  {
    /**
     * Changes the receiving address; `signature` is hex. New intents use the new address, existing ones keep
     * theirs. A live address waits for LIVE_RECEIVER_DELAY, unless the operator changes it. None if the
     * merchant does not exist. Fails if the member lost the permission in the meantime.
     */
    readonly change: (
      place: ReceiverPlace,
      signature: Option.Option<string>,
      actor: Requester | Impersonal
    ) => Effect.Effect<Option.Option<ReceiverChange>, ReceiverTaken | ChainUnavailable | RoleRequired>
    /** The pending change. */
    readonly waiting: (merchantId: MerchantId, env: Env) => Effect.Effect<Option.Option<WaitingChange>>
    /** False if no change is pending. */
    readonly withdraw: (
      merchantId: MerchantId,
      env: Env,
      requester: Requester
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

      const waitOf = Effect.fnUntraced(function* (env: Env, { id: userId }: Requester | Impersonal) {
        if (isTest(env) || userId === null || Duration.isZero(liveReceiverDelay)) return Option.none()
        const at = yield* DateTime.nowAsDate
        return Option.some({
          id: yield* random.uuidV7(),
          userId,
          at,
          dueAt: plusMillis(at, Duration.toMillis(liveReceiverDelay))
        })
      })

      const permitted = <A, E, R>(
        merchantId: MerchantId,
        actor: Requester | Impersonal,
        change: Effect.Effect<A, E, R>
      ): Effect.Effect<A, E | RoleRequired, R> =>
        actor.id === null ? change : audit.permitted(merchantId, actor, change)

      const recorded = Effect.fnUntraced(function* (
        place: ReceiverPlace,
        actor: Requester | Impersonal,
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
                  summary: `requested to change the receiving address from ${before} to ${after} on ${due.toISOString().slice(0, 16).replace("T", " ")} UTC; until then an owner or developer can withdraw the change`
                })
              })
            )
          })
        if (holder === undefined) return yield* taking(merchants.changeReceiver(place, { wait }))
        /** The author in the holder's log, which does not identify the other merchant. */
        const by = actor === operator ? operator : service
        const losing = <E, R>(change: Effect.Effect<ReceiverOutcome, E, R>) =>
          audit.recording(holder.merchantId, by, change, (outcome) =>
            outcome._tag === "Changed"
              ? Option.some({
                  action: "receiver.changed" as const,
                  env: place.env,
                  summary: `moved the address ${place.address} to another merchant, who proved ownership with its key; if it was the current receiving address, no payments can be created until a new address is set in Settings`
                })
              : Option.none()
          )
        const change = merchants.changeReceiver(place, { holder, wait })
        // Each recording locks its merchant's row until the end, so both directions lock in the same order.
        return yield* holder.merchantId < place.merchantId ? losing(taking(change)) : taking(losing(change))
      })

      return {
        waiting: changes.find,
        withdraw: Effect.fn("Receivers.withdraw")(function* (merchantId, env, requester) {
          const waiting = yield* changes.find(merchantId, env)
          if (Option.isNone(waiting)) return false
          const { id, requestedBy } = waiting.value
          return yield* audit.recording(
            merchantId,
            requester,
            audit.permitted(
              merchantId,
              requester,
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
          if (Option.isNone(signature)) return yield* receiverTaken(place, holder, false)
          const isOwner = yield* signedByOwner(place, receiverMessage(place, holder), signature.value)
          if (!isOwner) return yield* receiverTaken(place, holder, true)
          const moved = yield* recorded(place, actor, holder)
          if (moved._tag === "Taken") return yield* receiverTaken(place, moved.holder, true)
          return moved._tag === "Changed" ? Option.some(moved.change) : Option.none()
        })
      }
    })
  ).pipe(Layer.provide([MerchantRepo.layer, ReceiverChangeRepo.layer]))
}
