// Changes of where money goes and of who may change it: written down for good, and told to every member.
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { AppConfig } from "../AppConfig.ts"
import { AlertRepo } from "../alerts/AlertRepo.ts"
import type { Env } from "../domain/Chain.ts"
import type { MerchantId } from "../domain/Merchant.ts"
import { Mails } from "../mail/Mails.ts"
import type { AuditAction } from "./AuditAction.ts"
import { AuditRepo } from "./AuditRepo.ts"

/** Who has made a change. */
export interface Actor {
  /** The user; null for the operator's commands and for the service itself. */
  readonly id: string | null
  /** An e-mail, `operator` or `service`. */
  readonly name: string
}
export const operator: Actor = { id: null, name: "operator" }
export const service: Actor = { id: null, name: "service" }

export interface Change {
  readonly action: AuditAction
  /** Null for both environments. */
  readonly env: Env | null
  /** What was done, without who: "changed the receiving address from … to …". */
  readonly summary: string
  /** Written down alone: it gives nobody anything. */
  readonly quiet?: boolean
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /**
     * Makes a change of a merchant, and in the same transaction writes it down and tells those who were
     * members before it, unless it is quiet. Where `changeOf` says that nothing was changed, neither happens.
     */
    readonly recording: <A, E, R>(
      merchantId: MerchantId,
      actor: Actor,
      change: Effect.Effect<A, E, R>,
      changeOf: (outcome: A) => Option.Option<Change>
    ) => Effect.Effect<A, E, R>
    /** Inside a transaction: a change of the whole service, which no merchant's members are told. */
    readonly note: (actor: Actor, change: Change) => Effect.Effect<void>
  }
>()("quittance/audit/AuditLog") {
  static readonly layer: Layer.Layer<
    AuditLog,
    never,
    SqlClient.SqlClient | AppConfig | SecureRandom.SecureRandom
  > = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const repo = yield* AuditRepo
      const alerts = yield* AlertRepo
      const mails = yield* Mails
      const random = yield* SecureRandom.SecureRandom
      const { baseUrl } = yield* AppConfig

      /** A command says itself what it did. */
      const log = (actor: Actor, { action, env, summary }: Change, merchant: string) =>
        actor === operator
          ? Effect.void
          : Effect.logInfo(`${actor.name} ${summary}`).pipe(
              Effect.annotateLogs({
                audit: action,
                merchant,
                env: env ?? "both",
                user: actor.id ?? actor.name
              })
            )

      return {
        recording: Effect.fnUntraced(function* (merchantId, actor, change, changeOf) {
          const { made, outcome } = yield* repo.transaction(
            Effect.gen(function* () {
              const members = yield* repo.members(merchantId)
              const outcome = yield* change
              const made = changeOf(outcome)
              if (Option.isNone(made)) return { made, outcome }
              const { action, env, summary } = made.value
              const at = yield* DateTime.nowAsDate
              yield* repo.insert(
                { merchantId, env, actorId: actor.id, actor: actor.name, action, summary },
                at
              )
              const side = env ?? "live"
              const where = env === null ? "" : ` (${env})`
              const message = `${actor.name} ${summary}${where}.`
              for (const { email, id } of made.value.quiet === true ? [] : members) {
                const alertId = yield* random.uuidV7()
                yield* alerts.insert(
                  alertId,
                  {
                    kind: "account_change",
                    tenant: Option.some({ merchantId, env: side }),
                    userId: id,
                    subject: alertId,
                    message
                  },
                  at
                )
                yield* mails.queue({
                  recipient: email,
                  subject: `Quittance: ${action.replace(/[._]/g, " ")}${where}`,
                  body: [
                    message,
                    "",
                    `At ${at.toISOString()}, for a merchant that you are a member of.`,
                    `${baseUrl}/dashboard/${merchantId}/${side}/settings`,
                    "",
                    "If nobody of yours did this: change your password, sign out everywhere, and withdraw it."
                  ].join("\n")
                })
              }
              return { made, outcome }
            })
          )
          if (Option.isSome(made)) yield* log(actor, made.value, merchantId)
          return outcome
        }),
        note: Effect.fn("AuditLog.note")(function* (actor, change) {
          const { action, env, summary } = change
          yield* repo.insert(
            { merchantId: null, env, actorId: actor.id, actor: actor.name, action, summary },
            yield* DateTime.nowAsDate
          )
          yield* log(actor, change, "none")
        })
      }
    })
  ).pipe(Layer.provide([AuditRepo.layer, AlertRepo.layer, Mails.layer]))
}
