// Payment links: a merchant creates them once, and each opening signs an intent for the checkout.

import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  IncomingTransferExplained,
  type InvalidRequest,
  invalidField,
  LiveModeGated,
  PaymentLinkClosed,
  PaymentLinkNotFound,
  type ReceiverTaken
} from "../../domain/Errors.ts"
import type { Merchant, Tenant } from "../../domain/Merchant.ts"
import { type AtomicUsdc, formatUsd } from "../../domain/Money.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { AuditLog, service } from "../../merchants/audit/AuditLog.ts"
import { KeyAuth } from "../../merchants/keys/KeyAuth.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Networks } from "../../platform/Networks.ts"
import { PaymentIntents } from "../intents/PaymentIntents.ts"
import { PaymentRepo } from "../PaymentRepo.ts"
import type { LinkList, LinkView, NewLink, OpenedLink } from "./Api.ts"
import type { StoredLink } from "./LinkRepo/LinkRow.ts"
import type { ShortTransfer } from "./LinkRepo/remainderSql.ts"
import { LinkRepo } from "./LinkRepo.ts"

interface Owner {
  readonly merchant: Merchant
  readonly env: Tenant["env"]
}

type PaidTo = Tenant & Partial<Pick<StoredLink, "publishableKey">>

/** An id must not begin with a hyphen: a command would read it as an option. */
const linkIdOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url").replace(/^-/, "_")

interface ListedPage {
  readonly limit?: number | undefined
  readonly startingAfter?: string | undefined
}

const defaultLimit = 100

export class Links extends Context.Service<
  Links,
  {
    readonly create: (
      owner: Owner,
      input: typeof NewLink.Type
    ) => Effect.Effect<LinkView, InvalidRequest | LiveModeGated>
    /** The outstanding amounts of payments after counting a transfer; absent if nothing is outstanding. */
    readonly remaindersOf: LinkRepo["Service"]["remaindersOf"]
    /** The only open link for the outstanding amount of an incoming transfer: a new one, or the existing one. */
    readonly createRemainderLink: (
      owner: Owner,
      input: typeof NewLink.Type,
      short: ShortTransfer
    ) => Effect.Effect<
      LinkView,
      InvalidRequest | LiveModeGated | PaymentLinkNotFound | IncomingTransferExplained
    >
    /** Newest first, or those before `startingAfter`. */
    readonly list: (owner: Owner, page?: ListedPage) => Effect.Effect<LinkList, InvalidRequest>
    readonly close: (owner: Owner, id: string) => Effect.Effect<void, PaymentLinkNotFound>
    readonly read: (id: string) => Effect.Effect<LinkView, PaymentLinkNotFound>
    readonly open: (
      id: string,
      terms: { readonly amount?: AtomicUsdc; readonly paymentId?: PaymentId }
    ) => Effect.Effect<
      typeof OpenedLink.Encoded,
      PaymentLinkNotFound | PaymentLinkClosed | InvalidRequest | ReceiverTaken
    >
  }
>()("quittance/payments/Links") {
  static readonly layer: Layer.Layer<
    Links,
    never,
    AppConfig | LinkRepo | KeyAuth | PaymentIntents | PaymentRepo | SecureRandom.SecureRandom
  > = Layer.effect(
    Links,
    Effect.gen(function* () {
      const { begins } = yield* Networks
      const repo = yield* LinkRepo
      const keys = yield* KeyAuth
      const intents = yield* PaymentIntents
      const payments = yield* PaymentRepo
      const random = yield* SecureRandom.SecureRandom
      const { baseUrl } = yield* AppConfig
      const pageOf = (id: string) => `${baseUrl}/link/${id}`

      /**
       * The payee of a link and its publishable key. If the link's key was rotated or revoked, another key of the
       * merchant is used, so printed links keep working. None if the merchant has no key, which closes its links.
       */
      const payeeOf = Effect.fnUntraced(function* ({ env, merchantId, publishableKey }: PaidTo) {
        const by = (key: string) =>
          Effect.map(Effect.option(keys.authenticate(key)), (authenticated) =>
            Option.map(authenticated, (principal) => ({ principal, publishableKey: key }))
          )
        const own = publishableKey === undefined ? Option.none() : yield* by(publishableKey)
        if (Option.isSome(own)) return own
        const current = (yield* keys.listKeys(merchantId)).filter(
          (key) => key.kind === "publishable" && key.env === env && key.revokedAt === null
        )
        for (const { publicKey } of current) {
          const other = publicKey === null ? Option.none() : yield* by(publicKey)
          if (Option.isSome(other)) return other
        }
        return Option.none()
      })

      const paymentOf = (link: StoredLink) =>
        link.paymentId === null ? Effect.succeed(Option.none()) : payments.find(link, link.paymentId)

      const stateOf = Effect.fnUntraced(function* (link: StoredLink): Effect.fn.Return<LinkView["state"]> {
        const payment = yield* paymentOf(link)
        if (Option.isSome(payment) && payment.value.status === "settled") return "paid"
        // A payment that another has replaced may be paid late, or settled by a person.
        if (link.once && link.paymentId !== null && (yield* repo.isPaid(link, pageOf(link.id)))) return "paid"
        if (link.closedAt !== null) return "closed"
        if (link.once && Option.isSome(payment) && payment.value.status === "failed") {
          // If somebody tried to pay it, the money may still arrive.
          if (!(yield* repo.isUntried(payment.value.id))) return "expired"
        }
        const now = yield* DateTime.nowAsDate
        return link.expiresAt !== null && link.expiresAt.getTime() <= now.getTime() ? "expired" : "open"
      })

      const viewOf = Effect.fnUntraced(function* (link: StoredLink, merchant: string, isPayable = true) {
        const { amount, least, most } = link
        const state = yield* stateOf(link)
        const view: LinkView = {
          id: link.id,
          url: pageOf(link.id),
          posterUrl: `${pageOf(link.id)}/poster`,
          env: link.env,
          merchant,
          description: link.description,
          ...(amount === null ? {} : { amount: formatUsd(amount) }),
          ...(least === null ? {} : { minAmount: formatUsd(least) }),
          ...(most === null ? {} : { maxAmount: formatUsd(most) }),
          currency: "USD",
          once: link.once,
          state: state === "open" && !isPayable ? "closed" : state,
          createdAt: link.createdAt.toISOString(),
          ...(link.expiresAt === null ? {} : { expiresAt: link.expiresAt.toISOString() })
        }
        return view
      })

      const findLink = Effect.fnUntraced(function* (id: string) {
        const link = yield* repo.find(id)
        return Option.isSome(link) ? link.value : yield* new PaymentLinkNotFound()
      })

      // Without a database nothing is logged.
      const audit = yield* Effect.serviceOption(AuditLog)
      /** The publishable key that serves all links of a merchant and environment. */
      const publishableKey = Effect.fnUntraced(function* ({ merchant, env }: Owner) {
        const tenant = { merchantId: merchant.id, env }
        const [last] = yield* repo.list(tenant, { limit: 1 })
        const payee = yield* payeeOf(last ?? tenant)
        if (Option.isSome(payee)) return payee.value.publishableKey
        const creating = keys.createKey(merchant.id, { kind: "publishable", env, permission: "read" })
        const created = yield* Option.match(audit, {
          onNone: () => creating,
          onSome: ({ recording }) =>
            recording(merchant.id, service, creating, () =>
              Option.some({
                action: "key.created",
                env,
                summary: "created a publishable key for payment links",
                quiet: true
              })
            )
        })
        return created.key
      })

      const newLink = Effect.fnUntraced(function* (owner: Owner, input: typeof NewLink.Type) {
        if (!begins(owner.env)) return yield* new LiveModeGated()
        const { amount, maxAmount, minAmount } = input
        const bounds = [minAmount, maxAmount].filter((bound) => bound !== undefined)
        if (bounds.length !== (amount === undefined ? 2 : 0))
          return yield* invalidField(
            "body.amount",
            "Send `amount`, or `minAmount` and `maxAmount` without it."
          )
        if (minAmount !== undefined && maxAmount !== undefined && minAmount > maxAmount)
          return yield* invalidField("body.maxAmount", "Must be at least `minAmount`.")
        const at = yield* DateTime.nowAsDate
        const expiresAt = input.expiresAt === undefined ? null : new Date(input.expiresAt)
        if (expiresAt !== null && expiresAt.getTime() <= at.getTime())
          return yield* invalidField("body.expiresAt", "Must be in the future.")
        const link: StoredLink = {
          id: linkIdOf(yield* random.randomBytes(18)),
          merchantId: owner.merchant.id,
          env: owner.env,
          publishableKey: yield* publishableKey(owner),
          description: input.description,
          amount: amount ?? null,
          least: minAmount ?? null,
          most: maxAmount ?? null,
          once: input.once ?? false,
          paymentId: null,
          createdAt: at,
          expiresAt,
          closedAt: null
        }
        return link
      })

      const create = Effect.fn("Links.create")(function* (owner: Owner, input: typeof NewLink.Type) {
        const link = yield* newLink(owner, input)
        yield* repo.insert(link)
        return yield* viewOf(link, owner.merchant.name)
      })

      const createRemainderLink = Effect.fn("Links.createRemainderLink")(function* (
        owner: Owner,
        input: typeof NewLink.Type,
        short: ShortTransfer
      ) {
        const request = yield* repo.insertRemainderLink(yield* newLink(owner, input), short)
        switch (request._tag) {
          case "Requested":
            return yield* viewOf(request.link, owner.merchant.name)
          case "Unknown":
            return yield* new PaymentLinkNotFound()
          case "NotOwed":
            return yield* new IncomingTransferExplained()
        }
      })

      const amountOf = ({ amount, least, most }: StoredLink, chosen: AtomicUsdc | undefined) => {
        if (amount !== null)
          return chosen === undefined || chosen === amount
            ? Effect.succeed(amount)
            : Effect.fail(invalidField("body.amount", `Must be ${formatUsd(amount)}, or absent.`))
        const [from, to] = [least ?? 1n, most ?? 0n]
        return chosen !== undefined && chosen >= from && chosen <= to
          ? Effect.succeed(chosen)
          : Effect.fail(invalidField("body.amount", `Must be from ${formatUsd(from)} to ${formatUsd(to)}.`))
      }

      return Links.of({
        create,
        remaindersOf: repo.remaindersOf,
        createRemainderLink,
        list: Effect.fn("Links.list")(function* ({ merchant, env }, page = {}) {
          const { limit = defaultLimit, startingAfter } = page
          const tenant = { merchantId: merchant.id, env }
          const before =
            startingAfter === undefined
              ? undefined
              : Option.getOrUndefined(
                  Option.filter(
                    yield* repo.find(startingAfter),
                    (link) => link.merchantId === merchant.id && link.env === env
                  )
                )
          if (startingAfter !== undefined && before === undefined)
            return yield* invalidField(
              "query.startingAfter",
              "No payment link with this id exists. Pass the last id of the previous page."
            )
          const rows = yield* repo.list(tenant, { limit: limit + 1, before })
          const links = rows.slice(0, limit)
          const [last] = links
          // Checked once: any of the merchant's keys serves any of its links.
          const isPayable = last !== undefined && Option.isSome(yield* payeeOf(last))
          return {
            links: yield* Effect.forEach(links, (link) => viewOf(link, merchant.name, isPayable)),
            hasMore: rows.length > limit
          }
        }),
        close: Effect.fn("Links.close")(function* ({ merchant, env }, id) {
          const tenant = { merchantId: merchant.id, env }
          if (!(yield* repo.close(tenant, id, yield* DateTime.nowAsDate)))
            return yield* new PaymentLinkNotFound()
        }),
        read: Effect.fn("Links.read")(function* (id) {
          const link = yield* findLink(id)
          const payee = yield* payeeOf(link)
          if (Option.isNone(payee)) return yield* new PaymentLinkNotFound()
          return yield* viewOf(link, payee.value.principal.merchant.name)
        }),
        open: Effect.fn("Links.open")(function* (id, { amount: chosen, paymentId }) {
          const link = yield* findLink(id)
          const payee = yield* payeeOf(link)
          if (Option.isNone(payee)) return yield* new PaymentLinkClosed({ reason: "closed" })
          const { principal, publishableKey } = payee.value
          if (paymentId !== undefined) {
            const payment = yield* payments.find(link, paymentId)
            if (Option.isNone(payment) || payment.value.intentUrl !== pageOf(id))
              return yield* invalidField(
                "body.paymentId",
                "Must be a payment that was opened from this link."
              )
            return { intentToken: yield* intents.renew(payment.value), publishableKey }
          }
          const state = yield* stateOf(link)
          if (state !== "open") return yield* new PaymentLinkClosed({ reason: state })
          const mint = Effect.fnUntraced(function* (paymentId?: PaymentId) {
            const { intentToken } = yield* intents
              .create(principal, {
                amount: yield* amountOf(link, chosen),
                intentUrl: pageOf(id),
                ...(paymentId === undefined ? {} : { id: paymentId })
              })
              .pipe(
                // The link's page tells buyers that nothing can be paid here.
                Effect.catchTag(
                  "LiveModeGated",
                  ({ message }) => new PaymentLinkClosed({ reason: "closed", message })
                )
              )
            return { intentToken, publishableKey }
          })
          if (!link.once) return yield* mint()
          const payment = yield* paymentOf(link)
          const isOther =
            link.amount === null &&
            chosen !== undefined &&
            Option.exists(payment, (existing) => existing.amount !== chosen)
          // The payment keeps its terms; a later visitor gets the same payment.
          if (Option.isSome(payment) && payment.value.status !== "failed" && !isOther)
            return { intentToken: yield* intents.renew(payment.value), publishableKey }
          if (link.paymentId !== null && Option.isNone(payment)) return yield* mint(link.paymentId)
          // Signed first: if that is refused, the existing payment stays.
          const next = PaymentId.make(yield* random.uuidV7())
          const minted = yield* mint(next)
          const boundTo = yield* repo.bindPayment(id, link.paymentId, next, yield* DateTime.nowAsDate)
          if (boundTo === next) return minted
          if (boundTo !== link.paymentId) return yield* mint(boundTo)
          // Somebody has begun to pay the existing payment, so no other amount is requested beside it.
          const current = yield* paymentOf(link)
          return Option.isSome(current) && current.value.status === "pending"
            ? { intentToken: yield* intents.renew(current.value), publishableKey }
            : yield* new PaymentLinkClosed({
                reason: Option.exists(current, ({ status }) => status === "settled") ? "paid" : "expired"
              })
        })
      })
    })
  )
}
