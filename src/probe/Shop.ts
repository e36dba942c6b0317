// What a publishable key reveals of the service; read once, before the cases are built.
import { Effect, Option, Schema } from "effect"
import { ask, describeReply, under } from "./ask.ts"

export interface QuittanceTarget {
  readonly url: string
  readonly publishableKey: string
  readonly secretKey: string | undefined
}

export interface ProbedShop extends QuittanceTarget {
  readonly env: "test" | "live"
  /** For whom buyers sign their tokens. */
  readonly audience: string
  readonly receiver: string
  /** Two intents' tokens, signed by the service; none where no key may mint them. */
  readonly intentTokens: readonly [string, string] | undefined
}

const Context = Schema.fromJsonString(
  Schema.Struct({
    env: Schema.Literals(["test", "live"]),
    audience: Schema.String,
    receiver: Schema.String
  })
)
const decodeContext = Schema.decodeUnknownOption(Context)

const decodeIntent = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ intentToken: Schema.String }))
)

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** By the playground with a test key, else by the secret key. Neither stores anything. */
const mint = Effect.fnUntraced(function* (target: QuittanceTarget, amount: string) {
  const playground = `${under(target.url, "api/v1/checkout/playground-intent")}?pk=${encodeURIComponent(target.publishableKey)}&amount=${amount}`
  const minted = yield* ask({ method: "GET", url: playground })
  if (minted._tag === "Answered" && minted.status < 300) return decodeIntent(minted.text)
  if (target.secretKey === undefined) return Option.none()
  const created = yield* ask({
    method: "POST",
    url: under(target.url, "api/v1/payment-intents"),
    headers: { ...bearer(target.secretKey), "content-type": "application/json" },
    body: JSON.stringify({ amount, intentUrl: "https://shop.example.com/probe" })
  })
  return created._tag === "Answered" ? decodeIntent(created.text) : Option.none()
})

/** The shop, or why it cannot be read. */
export const readShop = Effect.fnUntraced(function* (target: QuittanceTarget) {
  const reply = yield* ask({
    method: "GET",
    url: under(target.url, "api/v1/checkout-context"),
    headers: bearer(target.publishableKey)
  })
  const context =
    reply._tag === "Answered" && reply.status === 200 ? decodeContext(reply.text) : Option.none()
  if (Option.isNone(context)) {
    return `the publishable key gets ${describeReply(reply)} where a Quittance describes its checkout`
  }
  const [first, second] = yield* Effect.all([mint(target, "0.50"), mint(target, "1.00")])
  const shop: ProbedShop = {
    ...target,
    ...context.value,
    intentTokens:
      Option.isSome(first) && Option.isSome(second)
        ? [first.value.intentToken, second.value.intentToken]
        : undefined
  }
  return shop
})
