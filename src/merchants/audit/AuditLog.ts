// Changes of a merchant's money and access: addresses, settlement limits, keys, members, agents, alert webhooks. Each is
// recorded permanently and, unless it grants nothing, mailed to the members or operators.
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
import { fillPlaceholders, type MailWords, mailWords } from "../../platform/mail/mailWords.ts"
import { AuditRepo, type Recipient } from "./AuditRepo.ts"

/** The author of a change. */
export interface Actor {
  /** The user; null for the operator's commands and for the service itself. */
  readonly id: string | null
  /** An email, `operator` or `service`. */
  readonly name: string
}
/** A member who requests a change in the dashboard. */
export interface Requester extends Actor {
  readonly id: string
  /** The role with which the request was allowed. */
  readonly role: Role
  /** The hash of the member's session. */
  readonly session: Uint8Array
}
/** An author who is not a person. */
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
  /** None for service-wide changes. */
  readonly tenant: Option.Option<Tenant>
  readonly message: string
  readonly at: Date
  /** The mail in a member's language; the body as its lines. */
  readonly mail: (words: MailWords) => { readonly subject: string; readonly body: ReadonlyArray<string> }
}

/** The subjects of mails about changes. */
const subjects: { readonly [A in AuditAction]: string } = {
  "merchant.created": "merchant created",
  "receiver.changed": "receiving address changed",
  "receiver.change_requested": "receiving address change requested",
  "receiver.change_withdrawn": "receiving address change withdrawn",
  "receiver.change_lost": "receiving address change not applied",
  "settlement_limits.changed": "settlement limits changed",
  "key.created": "API key created",
  "key.rotated": "API key rotated",
  "key.revoked": "API key revoked",
  "member.invited": "member invited",
  "member.invitation_withdrawn": "invitation withdrawn",
  "member.joined": "member joined",
  "member.removed": "member removed",
  "member.left": "member left",
  "member.role_changed": "member role changed",
  "member.reset_link_created": "password reset link created",
  "member.authenticator_removed": "authenticator app removed",
  "agent.created": "agent created",
  "agent.changed": "agent changed",
  "agent.revoked": "agent revoked",
  "alert_hook.added": "alert webhook added",
  "alert_hook.removed": "alert webhook removed",
  "operator.granted": "operator added"
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /**
     * Makes a change of a merchant. In the same transaction it logs the change and, unless the change is
     * quiet, notifies those who were members before. Does neither if `changeOf` returns none.
     */
    readonly recording: <A, E, R>(
      merchantId: MerchantId,
      actor: Actor,
      change: Effect.Effect<A, E, R>,
      changeOf: (outcome: A) => Option.Option<Change>
    ) => Effect.Effect<A, E, R>
    /** Creates a merchant and logs its first state in the same transaction. It has no members to notify. */
    readonly recordingNew: <A, E, R>(
      actor: Actor,
      change: Effect.Effect<A, E, R>,
      changesOf: (outcome: A) => {
        readonly merchantId: MerchantId
        readonly changes: ReadonlyArray<Change>
      }
    ) => Effect.Effect<A, E, R>
    /**
     * Makes a change of a merchant while its other changes wait. Fails if the requester has lost the session,
     * the membership or the role since the request was allowed.
     */
    readonly permitted: <A, E, R>(
      merchantId: MerchantId,
      requester: Requester,
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

      /** Commands print their own result. */
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

      const notify = Effect.fnUntraced(function* (recipients: ReadonlyArray<Recipient>, news: News) {
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
          const { logged, outcome } = yield* repo.transaction(
            Effect.gen(function* () {
              const members = yield* repo.members(merchantId)
              const outcome = yield* change
              const logged = changeOf(outcome)
              if (Option.isNone(logged)) return { logged, outcome }
              const { action, env, summary } = logged.value
              const at = yield* DateTime.nowAsDate
              yield* repo.insert(
                { merchantId, env, actorId: actor.id, actor: actor.name, action, summary },
                at
              )
              const side = env ?? "live"
              const where = env === null ? "" : ` (${env})`
              const message = `${actor.name} ${summary}${where}.`
              yield* notify(logged.value.quiet === true ? [] : members, {
                tenant: Option.some({ merchantId, env: side }),
                message,
                at,
                mail: (words) => ({
                  subject: `Quittance: ${fillPlaceholders(words.changeSubject, { action: `${subjects[action]}${where}` })}`,
                  body: [
                    message,
                    "",
                    fillPlaceholders(words.changeAt, { at: at.toISOString() }),
                    `${baseUrl}/dashboard/${merchantId}/${side}/settings`,
                    "",
                    words.changeNotYou
                  ]
                })
              })
              return { logged, outcome }
            })
          )
          if (Option.isSome(logged)) yield* log(actor, logged.value, merchantId)
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
          for (const logged of changes) yield* log(actor, logged, merchantId)
          return outcome
        }),
        permitted: (merchantId, requester, change) =>
          repo.transaction(
            Effect.gen(function* () {
              if (!(yield* repo.isPermitted(merchantId, requester))) return yield* new RoleRequired()
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
          yield* notify(yield* repo.otherOperators(actor.id), {
            tenant: Option.none(),
            message,
            at,
            // For operators, in English like the command line.
            mail: () => ({
              subject: `Quittance: ${subjects[action]}`,
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
