// Changes of where money goes and of who may change it: recorded permanently, and sent to every member or
// operator.
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { AuditAction } from "../../domain/AuditAction.ts"
import type { Env } from "../../domain/Chain.ts"
import { RoleRequired } from "../../domain/Errors.ts"
import type { MerchantId, Tenant } from "../../domain/Merchant.ts"
import type { Role } from "../../domain/Role.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { AlertRepo } from "../../platform/alerts/AlertRepo.ts"
import { Mails } from "../../platform/mail/Mails.ts"
import { filled, type MailWords, mailWords } from "../../platform/mail/mailWords.ts"
import { AuditRepo, type Recipient } from "./AuditRepo.ts"

/** The author of a change. */
export interface Actor {
  /** The user; null for the operator's commands and for the service itself. */
  readonly id: string | null
  /** An e-mail, `operator` or `service`. */
  readonly name: string
}
/** A member who asks for a change at the dashboard. */
export interface Asker extends Actor {
  readonly id: string
  /** In which the request was allowed. */
  readonly role: Role
  /** The hash of its session. */
  readonly session: Uint8Array
}
/** No person. */
export interface Impersonal extends Actor {
  readonly id: null
}
export const operator: Impersonal = { id: null, name: "operator" }
export const service: Impersonal = { id: null, name: "service" }

export interface Change {
  readonly action: AuditAction
  /** Null for both environments. */
  readonly env: Env | null
  /** The change without its author: "changed the receiving address from … to …". */
  readonly summary: string
  /** Logged without notifying anyone: the action grants nothing. */
  readonly quiet?: boolean
}

interface News {
  /** None for the whole service. */
  readonly tenant: Option.Option<Tenant>
  readonly message: string
  readonly at: Date
  /** The mail in a member's language; the body as its lines. */
  readonly mail: (words: MailWords) => { readonly subject: string; readonly body: ReadonlyArray<string> }
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
    /** Makes a merchant, and writes down in the same transaction what it began with. It has no members to notify. */
    readonly recordingNew: <A, E, R>(
      actor: Actor,
      change: Effect.Effect<A, E, R>,
      changesOf: (outcome: A) => {
        readonly merchantId: MerchantId
        readonly changes: ReadonlyArray<Change>
      }
    ) => Effect.Effect<A, E, R>
    /**
     * Makes a change of a merchant while its other changes wait, unless who asks for it has lost the session, the
     * membership or the role since the request was allowed.
     */
    readonly permitted: <A, E, R>(
      merchantId: MerchantId,
      asker: Asker,
      change: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | RoleRequired, R>
    /** Logs a service-wide change inside its transaction and notifies the other operators. */
    readonly note: (actor: Actor, change: Change) => Effect.Effect<void>
  }
>()("quittance/merchants/AuditLog") {
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

      const tell = Effect.fnUntraced(function* (recipients: ReadonlyArray<Recipient>, news: News) {
        const { at, mail, message, tenant } = news
        for (const { email, id, locale } of recipients) {
          const alertId = yield* random.uuidV7()
          yield* alerts.insert(
            alertId,
            { kind: "account_change", tenant, userId: id, subject: alertId, message },
            at
          )
          const { body, subject } = mail(mailWords[locale])
          yield* mails.queue({ recipient: email, subject, body: body.join("\n") })
        }
      })

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
              yield* tell(made.value.quiet === true ? [] : members, {
                tenant: Option.some({ merchantId, env: side }),
                message,
                at,
                mail: (words) => ({
                  subject: `Quittance: ${filled(words.changeSubject, { action: `${action.replace(/[._]/g, " ")}${where}` })}`,
                  body: [
                    message,
                    "",
                    filled(words.changeAt, { at: at.toISOString() }),
                    `${baseUrl}/dashboard/${merchantId}/${side}/settings`,
                    "",
                    words.changeNotYou
                  ]
                })
              })
              return { made, outcome }
            })
          )
          if (Option.isSome(made)) yield* log(actor, made.value, merchantId)
          return outcome
        }),
        recordingNew: Effect.fnUntraced(function* (actor, change, changesOf) {
          const { changes, merchantId, outcome } = yield* repo.transaction(
            Effect.gen(function* () {
              const outcome = yield* change
              const { changes, merchantId } = changesOf(outcome)
              const at = yield* DateTime.nowAsDate
              for (const { action, env, summary } of changes)
                yield* repo.insert(
                  { merchantId, env, actorId: actor.id, actor: actor.name, action, summary },
                  at
                )
              return { changes, merchantId, outcome }
            })
          )
          for (const made of changes) yield* log(actor, made, merchantId)
          return outcome
        }),
        permitted: (merchantId, asker, change) =>
          repo.transaction(
            Effect.gen(function* () {
              if (!(yield* repo.isPermitted(merchantId, asker))) return yield* new RoleRequired()
              return yield* change
            })
          ),
        note: Effect.fn("AuditLog.note")(function* (actor, change) {
          const { action, env, summary } = change
          const at = yield* DateTime.nowAsDate
          yield* repo.insert(
            { merchantId: null, env, actorId: actor.id, actor: actor.name, action, summary },
            at
          )
          const message = `${actor.name} ${summary}.`
          yield* tell(yield* repo.otherOperators(actor.id), {
            tenant: Option.none(),
            message,
            at,
            // To operators, in the language of the command line.
            mail: () => ({
              subject: `Quittance: ${action.replace(/[._]/g, " ")}`,
              body: [
                message,
                "",
                `At ${at.toISOString()}, for the service that you are an operator of.`,
                `${baseUrl}/dashboard`,
                "",
                "If none of you did this: someone can run commands on the service's machine or its database."
              ]
            })
          })
          yield* log(actor, change, "none")
        })
      }
    })
  ).pipe(Layer.provide([AuditRepo.layer, AlertRepo.layer, Mails.layer]))
}
