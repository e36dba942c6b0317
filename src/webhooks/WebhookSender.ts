// Sends one signed POST to a merchant's endpoint: over the network, or in memory for tests. Callers decide
// about retries.
import { Clock, Context, Effect, Layer } from "effect"
import { makeConnectionPool } from "../platform/egress/ConnectionPool.ts"
import { EgressPolicy } from "../platform/egress/EgressPolicy.ts"
import { Resolver } from "../platform/egress/Resolver.ts"
import { makeSafePost } from "../platform/egress/SafePost.ts"
import { maxWindow } from "./DeliveryWorker/EndpointPacing.ts"
import { type SignatureHeaders, signatureHeaders } from "./Signature.ts"
import { answered, type SendOutcome, type SendRequest } from "./WebhookSender/SendOutcome.ts"

const headerSafe = /^[\x21-\x7e]+$/

/** A request that the in-memory sender received. */
export interface SentRequest extends Omit<SendRequest, "secret"> {
  readonly headers: SignatureHeaders
}

/** Controls and reads the in-memory sender of `WebhookSender.layerMemory`. */
export class WebhookSenderMemory extends Context.Service<
  WebhookSenderMemory,
  {
    /** Everything sent so far, oldest first. */
    readonly sent: Effect.Effect<ReadonlyArray<SentRequest>>
    /**
     * Scripts the responses of a URL: each outcome once, then the last one repeatedly. URLs without a script
     * respond with 200.
     */
    readonly script: (
      url: string,
      outcomes: readonly [
        SendOutcome | Effect.Effect<SendOutcome>,
        ...Array<SendOutcome | Effect.Effect<SendOutcome>>
      ]
    ) => Effect.Effect<void>
  }
>()("quittance/webhooks/WebhookSenderMemory") {}

/** Sends webhooks. `send` never fails: an error is an outcome, and the caller decides about retries. */
export class WebhookSender extends Context.Service<
  WebhookSender,
  { readonly send: (request: SendRequest) => Effect.Effect<SendOutcome> }
>()("quittance/webhooks/WebhookSender") {
  static readonly layer: Layer.Layer<WebhookSender, never, Resolver | EgressPolicy> = Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const policy = yield* EgressPolicy
      const resolver = yield* Resolver
      const pool = yield* makeConnectionPool({ ...policy.budgets, maxIdlePerOrigin: maxWindow })
      const post = makeSafePost(policy, resolver, pool, "Quittance-Webhooks/1")

      const send = ({ url, id, body, order, secret }: SendRequest) =>
        Effect.clockWith((clock) => {
          if (!headerSafe.test(id)) return Effect.die(new TypeError("delivery id is not header-safe"))
          const started = clock.monotonicTimeNanosUnsafe()
          const passed = () => Number((clock.monotonicTimeNanosUnsafe() - started) / 1_000_000n)
          let sent: { readonly requestHead: string } | undefined
          const headersAt = (timestamp: number) =>
            Object.entries(signatureHeaders({ id, timestamp, body, order }, secret))
          return post({ url, body, headersAt }, (requestHead) => {
            sent = { requestHead }
          }).pipe(
            Effect.match({
              onSuccess: (answer): SendOutcome => ({
                _tag: "Answered",
                ...answer,
                durationMs: passed(),
                ...sent
              }),
              onFailure: (failure): SendOutcome => ({
                _tag: "Failed",
                failure,
                durationMs: passed(),
                ...sent
              })
            })
          )
        })

      return { send }
    })
  )

  /** Sends nothing: records requests and responds as `WebhookSenderMemory` scripts it. */
  static readonly layerMemory: Layer.Layer<WebhookSender | WebhookSenderMemory> = Layer.effectContext(
    Effect.sync(() => {
      const sent: Array<SentRequest> = []
      const scripts = new Map<string, Array<SendOutcome | Effect.Effect<SendOutcome>>>()

      const send = Effect.fnUntraced(function* ({ url, id, body, order, secret }: SendRequest) {
        const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        sent.push({ url, id, body, order, headers: signatureHeaders({ id, timestamp, body, order }, secret) })
        const script = scripts.get(url) ?? []
        const next = script.length > 1 ? script.shift() : script[0]
        if (next === undefined) return answered(200)
        return Effect.isEffect(next) ? yield* next : next
      })

      return Context.make(WebhookSender, { send }).pipe(
        Context.add(WebhookSenderMemory, {
          sent: Effect.sync(() => [...sent]),
          script: (url, outcomes) => Effect.sync(() => void scripts.set(url, [...outcomes]))
        })
      )
    })
  )
}
