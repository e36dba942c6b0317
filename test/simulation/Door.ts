// How people reach an instance: through its HttpApi handlers, or straight through its services, which
// is several times as fast. Both answer alike.
import { Context, Effect, Option, Redacted, Result, Schema, type Scope } from "effect"
import { HttpEffect, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { AgentChange } from "../../src/agents/AgentRepo.ts"
import { Address, type TransactionHash } from "../../src/domain/Chain.ts"
import type { CodedError } from "../../src/domain/Errors.ts"
import type { MerchantId } from "../../src/domain/Merchant.ts"
import { AtomicUsdc, UsdAmount } from "../../src/domain/Money.ts"
import { PaymentId, type PaymentSummary } from "../../src/domain/Payment.ts"
import type { TokenChange } from "../../src/domain/TokenChange.ts"
import { PaymentIntents } from "../../src/intents/PaymentIntents.ts"
import { KeyAuth } from "../../src/keys/KeyAuth.ts"
import { PaymentView } from "../../src/payments/Api.ts"
import { viewOf } from "../../src/payments/Http.ts"
import { IncomingTransfers } from "../../src/payments/IncomingTransfers.ts"
import { PaymentAttempts } from "../../src/payments/PaymentAttempts.ts"
import type { KnownAttempts } from "../../src/payments/PaymentRepo/AttemptStore.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Payments } from "../../src/payments/Payments.ts"
import { Refunds } from "../../src/refunds/Refunds.ts"
import { WebhookEndpoints } from "../../src/webhooks/WebhookEndpoints.ts"
import type { Authorization, SignedAuthorization } from "../../src/x402/Authorization.ts"
import type { SettleAnswer } from "../../src/x402/Facilitator.ts"

/** Of each order. */
export const intentUrl = "https://shop.example.com/orders/1"

const Body = Schema.Struct({
  error: Schema.optionalKey(
    Schema.Struct({
      code: Schema.String,
      reason: Schema.optionalKey(Schema.String),
      details: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            path: Schema.String,
            expected: Schema.optionalKey(Schema.String),
            actual: Schema.optionalKey(Schema.String)
          })
        )
      )
    })
  ),
  payment: Schema.optionalKey(Schema.toEncoded(PaymentView)),
  attempt: Schema.optionalKey(Schema.Struct({ id: Schema.String, nonce: Schema.optionalKey(Schema.Number) })),
  attempts: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        payer: Schema.String,
        since: Schema.String,
        transactionId: Schema.optionalKey(Schema.String)
      })
    )
  ),
  intentToken: Schema.optionalKey(Schema.String),
  secret: Schema.optionalKey(Schema.String)
})
export type Body = typeof Body.Type
const decodeBody = Schema.decodeUnknownSync(Schema.fromJsonString(Body))

/** An answer's status, and of its body what people look at. */
export interface Answer {
  readonly status: number
  readonly body: Body
  readonly signing?: Signing
}

/** What people ask. */
export type Ask =
  | { readonly do: "create intent"; readonly key: string; readonly amount: string }
  | { readonly do: "open"; readonly key: string; readonly intentToken: string }
  | {
      readonly do: "announce"
      readonly key: string
      readonly paymentId: string
      readonly buyerDidToken: string
      readonly attemptId: string
      readonly nonce?: number
    }
  | {
      readonly do: "report"
      readonly key: string
      readonly paymentId: string
      readonly buyerDidToken: string
      readonly transactionId: TransactionHash
      readonly tokenChanges: ReadonlyArray<TokenChange>
    }
  | { readonly do: "retrieve"; readonly key: string; readonly paymentId: string }
  | {
      readonly do: "read attempts"
      readonly key: string
      readonly paymentId: string
      readonly payer?: string
      readonly own?: { readonly attemptId: string; readonly nonce: number }
    }
  | { readonly do: "decline"; readonly key: string; readonly paymentId: string; readonly attemptId: string }
  | { readonly do: "create endpoint"; readonly key: string; readonly url: string }
  | { readonly do: "change endpoint"; readonly key: string; readonly url: string }
  | { readonly do: "delete endpoint"; readonly key: string }
  | { readonly do: "send test"; readonly key: string }
  | { readonly do: "renew secret"; readonly key: string }
  /** Somebody at the merchant's puts a new key in the place of the current one. */
  | {
      readonly do: "rotate key"
      readonly key: string
      readonly merchantId: MerchantId
      readonly kind: "secret" | "publishable"
    }
  /** Of a settled payment, in atomic units. */
  | {
      readonly do: "create refund"
      readonly key: string
      readonly id: string
      readonly paymentId: string
      readonly amount: bigint
    }
  | {
      readonly do: "name refund"
      readonly key: string
      readonly id: string
      readonly transactionId: TransactionHash
    }
  | { readonly do: "cancel refund"; readonly key: string; readonly id: string }
  /** A person looks at the transfers of this payer that nothing explains, and explains the first. */
  | { readonly do: "explain a transfer"; readonly key: string; readonly payer: Address }
  | SigningAsk

/** What concerns signatures: on SQL alone. */
export type SigningAsk =
  | {
      readonly do: "read terms"
      readonly key: string
      readonly paymentId: string
      readonly payer: Address
    }
  | {
      readonly do: "pay by signature"
      readonly key: string
      readonly paymentId: string
      readonly authorization: SignedAuthorization
    }
  /** Of a payment of the service, with the header that its client has sent. */
  | {
      readonly do: "pay by header"
      readonly key: string
      readonly paymentId: string
      readonly header: string
    }
  | {
      readonly do: "settle"
      readonly key: string
      readonly header: string
      readonly requirements: unknown
      /** The server's own id of the request. */
      readonly identity: string | undefined
    }
  | {
      readonly do: "provision agent"
      readonly key: string
      readonly capPerPayment: bigint
      readonly capPerDay: bigint
      readonly allowedHosts: ReadonlyArray<string> | null
    }
  | {
      readonly do: "change agent"
      readonly key: string
      readonly agentId: string
      readonly change: AgentChange
    }
  | {
      readonly do: "sign for agent"
      readonly key: string
      readonly requestId: string
      readonly resource: string
      readonly accepts: ReadonlyArray<unknown>
    }

export const isSigningAsk = (ask: Ask): ask is SigningAsk =>
  [
    "read terms",
    "pay by signature",
    "pay by header",
    "settle",
    "provision agent",
    "change agent",
    "sign for agent"
  ].includes(ask.do)

/** Where a payment is paid by x402. */
export const x402Url = (paymentId: string) => `http://localhost:8787/api/v1/payments/${paymentId}/x402`

/** What was answered to it. */
export interface Signing {
  readonly terms?: Authorization | undefined
  readonly settle?: SettleAnswer
  readonly agent?: { readonly id: string; readonly address: Address; readonly key: string }
  readonly header?: string
}

export type Door = (ask: Ask) => Effect.Effect<Answer>

/** A request of the contract; undefined for what people do in the dashboard. */
const requestOf = (
  ask: Ask
): { readonly method: string; readonly path: string; readonly body?: unknown } | undefined => {
  switch (ask.do) {
    case "create intent": {
      const body = { amount: ask.amount, intentUrl }
      return { method: "POST", path: "/payment-intents", body }
    }
    case "open":
      return { method: "POST", path: "/payments", body: { intentToken: ask.intentToken } }
    case "announce": {
      const { attemptId, buyerDidToken, nonce, paymentId } = ask
      const body = { buyerDidToken, method: "transfer", attemptId, ...(nonce === undefined ? {} : { nonce }) }
      return { method: "POST", path: `/payments/${paymentId}/attempts`, body }
    }
    case "report": {
      const { buyerDidToken, paymentId, tokenChanges, transactionId } = ask
      return {
        method: "PATCH",
        path: `/payments/${paymentId}`,
        body: { buyerDidToken, transactionId, tokenChanges }
      }
    }
    case "retrieve":
      return { method: "GET", path: `/payments/${ask.paymentId}` }
    case "read attempts":
      return {
        method: "GET",
        path: `/payments/${ask.paymentId}/attempts?${new URLSearchParams({
          ...(ask.payer === undefined ? {} : { payer: ask.payer }),
          ...(ask.own === undefined ? {} : { attemptId: ask.own.attemptId, nonce: String(ask.own.nonce) })
        })}`
      }
    case "decline":
      return { method: "DELETE", path: `/payments/${ask.paymentId}/attempts/${ask.attemptId}` }
    case "create endpoint":
      return { method: "POST", path: "/webhook-endpoint", body: { url: ask.url } }
    case "change endpoint":
      return { method: "PATCH", path: "/webhook-endpoint", body: { url: ask.url } }
    case "delete endpoint":
      return { method: "DELETE", path: "/webhook-endpoint" }
    case "send test":
      return { method: "POST", path: "/webhook-endpoint/test" }
    default:
      return undefined
  }
}

type Handler = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Through the handlers of the contract, and past them for what is not in it. */
export const doorOfHandlers =
  (handler: Handler, others: Door): Door =>
  (ask) =>
    Effect.suspend(() => {
      const asked = requestOf(ask)
      if (asked === undefined) return others(ask)
      const { body, method, path } = asked
      const text = body === undefined ? undefined : JSON.stringify(body)
      const headers = {
        authorization: `Bearer ${ask.key}`,
        ...(text === undefined
          ? {}
          : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) })
      }
      const request = new Request(`http://localhost/api/v1${path}`, {
        method,
        headers,
        ...(text === undefined ? {} : { body: text })
      })
      let answered: Answer = { status: 0, body: {} }
      return HttpEffect.toHandled(handler, (_, response) =>
        Effect.sync(() => {
          const { body: sent } = response
          const read = sent._tag === "Uint8Array" ? new TextDecoder().decode(sent.body) : ""
          answered = { status: response.status, body: read === "" ? {} : decodeBody(read) }
        })
      ).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
        Effect.andThen(Effect.sync(() => answered))
      )
    })

export const paymentBody = (payment: PaymentSummary) => ({ payment: viewOf(payment) })

const attemptsBody = ({ attempts, payment }: KnownAttempts): Body => ({
  ...paymentBody(payment),
  attempts: attempts.map(({ payer, since, transactionId }) => ({
    payer: `${payer.slice(0, 6)}…${payer.slice(-4)}`,
    since: since.toISOString(),
    ...(transactionId === null ? {} : { transactionId })
  }))
})

const statuses: Readonly<Record<string, number>> = {
  PAYMENT_NOT_FOUND: 404,
  WEBHOOK_ENDPOINT_NOT_FOUND: 404,
  INVALID_API_KEY: 401,
  INVALID_BUYER_TOKEN: 401,
  RATE_LIMITED: 429,
  CHAIN_UNAVAILABLE: 503,
  TEST_SETTLEMENT_MISMATCH: 422,
  PAYMENT_REPORT_CONFLICT: 409,
  PAYMENT_FAILED: 409,
  WEBHOOK_ENDPOINT_EXISTS: 409
}

export const refused = ({ code, details, reason }: CodedError): Answer => ({
  status: statuses[code] ?? 400,
  body: {
    error: {
      code,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details })
    }
  }
})

export type Services =
  | KeyAuth
  | PaymentIntents
  | Payments
  | PaymentAttempts
  | PaymentRepo
  | IncomingTransfers
  | WebhookEndpoints
  | Refunds

/** Straight through the services, as the handlers call them. */
export const doorOfServices = (context: Context.Context<Services>): Door => {
  const keys = Context.get(context, KeyAuth)
  const intents = Context.get(context, PaymentIntents)
  const payments = Context.get(context, Payments)
  const attempts = Context.get(context, PaymentAttempts)
  const repo = Context.get(context, PaymentRepo)
  const endpoints = Context.get(context, WebhookEndpoints)
  const transfers = Context.get(context, IncomingTransfers)
  const refunds = Context.get(context, Refunds)

  const rotated = Effect.fnUntraced(function* ({ kind, merchantId }: Extract<Ask, { do: "rotate key" }>) {
    const known = yield* keys.listKeys(merchantId)
    const current = known.find((one) => one.kind === kind && one.env === "test" && one.revokedAt === null)
    const issued = current === undefined ? Option.none() : yield* keys.rotateKey(merchantId, current.id)
    return Option.match(issued, {
      onNone: (): Answer => ({ status: 404, body: {} }),
      onSome: ({ key }): Answer => ({ status: 200, body: { secret: key } })
    })
  })

  const answer = (ask: Ask): Effect.Effect<Answer, CodedError> =>
    Effect.gen(function* () {
      if (ask.do === "rotate key") return yield* rotated(ask)
      const principal = yield* keys.authenticate(ask.key)
      const tenant = { merchantId: principal.merchant.id, env: principal.env }
      switch (ask.do) {
        case "create intent": {
          const amount = Schema.decodeOption(UsdAmount)(ask.amount)
          if (Option.isNone(amount)) return { status: 400, body: {} }
          const { intentToken } = yield* intents.create(principal, {
            amount: amount.value,
            intentUrl
          })
          return { status: 201, body: { intentToken } }
        }
        case "open": {
          const { created, payment } = yield* payments.open(principal, ask.intentToken)
          return { status: created ? 201 : 200, body: paymentBody(payment) }
        }
        case "announce": {
          const { attemptId, buyerDidToken, nonce: asked } = ask
          const outcome = yield* attempts.announce(principal, PaymentId.make(ask.paymentId), {
            buyerDidToken,
            attemptId,
            ...(asked === undefined ? {} : { nonce: BigInt(asked) }),
            method: "transfer",
            client: "192.0.2.1"
          })
          if (outcome._tag === "AttemptRefused") return { ...refused(outcome.error), status: 409 }
          const { id, nonce } = outcome.attempt
          const attempt = { id, ...(nonce === null ? {} : { nonce: Number(nonce) }) }
          return { status: outcome.created ? 201 : 200, body: { attempt } }
        }
        case "report": {
          const { buyerDidToken, tokenChanges, transactionId } = ask
          const outcome = yield* payments.report(principal, PaymentId.make(ask.paymentId), {
            buyerDidToken,
            transactionId,
            tokenChanges,
            client: "192.0.2.1"
          })
          return { status: outcome._tag === "Settled" ? 200 : 202, body: paymentBody(outcome.payment) }
        }
        case "retrieve": {
          const found = yield* repo.find(tenant, PaymentId.make(ask.paymentId))
          return Option.isNone(found)
            ? { status: 404, body: {} }
            : { status: 200, body: paymentBody(found.value) }
        }
        case "read attempts": {
          const { own, paymentId, payer } = ask
          const known = yield* attempts.read(principal, PaymentId.make(paymentId), {
            payer: payer === undefined ? undefined : Address.make(payer),
            own: own === undefined ? undefined : { ...own, nonce: BigInt(own.nonce) },
            client: "192.0.2.1"
          })
          return { status: 200, body: attemptsBody(known) }
        }
        case "decline":
          yield* attempts.decline(principal, PaymentId.make(ask.paymentId), ask.attemptId)
          return { status: 204, body: {} }
        case "create endpoint": {
          const { secret } = yield* endpoints.create(tenant, ask.url)
          return { status: 201, body: { secret: Redacted.value(secret) } }
        }
        case "change endpoint":
          yield* endpoints.changeUrl(tenant, ask.url)
          return { status: 200, body: {} }
        case "delete endpoint":
          yield* endpoints.remove(tenant)
          return { status: 204, body: {} }
        case "renew secret": {
          const { secret } = yield* endpoints.regenerateSecret(tenant)
          return { status: 200, body: { secret: Redacted.value(secret) } }
        }
        case "explain a transfer": {
          const page = { status: "open", limit: 100, startingAfter: undefined } as const
          const open = yield* transfers.list(tenant, page)
          const transfer = open.find(({ payer }) => payer === ask.payer)
          if (transfer === undefined) return { status: 404, body: {} }
          const { likely } = yield* transfers.find(tenant, transfer.id)
          const by = { person: "operator@example.com", note: null }
          const [first] = likely
          if (first === undefined) {
            yield* transfers.handle(tenant, transfer.id, by)
            return { status: 204, body: {} }
          }
          const payment = yield* transfers.attach(tenant, transfer.id, first.payment.id, by)
          return { status: 200, body: paymentBody(payment) }
        }
        case "create refund": {
          const { created } = yield* refunds.create(tenant, {
            id: ask.id,
            of: { paymentId: PaymentId.make(ask.paymentId) },
            amount: AtomicUsdc.make(ask.amount),
            by: "operator@example.com"
          })
          return { status: created ? 201 : 200, body: {} }
        }
        case "name refund":
          yield* refunds.report(tenant, ask.id, ask.transactionId)
          return { status: 200, body: {} }
        case "cancel refund":
          yield* refunds.cancel(tenant, ask.id)
          return { status: 200, body: {} }
        case "send test":
          yield* endpoints.sendTest(tenant)
          return { status: 200, body: {} }
        default:
          return { status: 404, body: {} }
      }
    })

  return (ask) =>
    Effect.result(answer(ask)).pipe(
      Effect.map((result) => (Result.isSuccess(result) ? result.success : refused(result.failure)))
    )
}
