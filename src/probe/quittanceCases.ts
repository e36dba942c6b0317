// Everything against a Quittance, as far as the keys at hand allow it.
import { Effect } from "effect"
import { ask, describeReply, under } from "./ask.ts"
import { buyerTokenCases } from "./buyerTokenCases.ts"
import { type Case, skipAll } from "./Case.ts"
import { facilitatorCases } from "./facilitatorCases.ts"
import { httpCases } from "./httpCases.ts"
import { intentTokenCases } from "./intentTokenCases.ts"
import { keyCases } from "./keyCases.ts"
import { paymentHeaderCases } from "./paymentHeaderCases.ts"
import { type ProbedShop, type QuittanceTarget, readShop } from "./Shop.ts"
import { webhookCases } from "./webhookCases.ts"

const needsSecret = "needs --secret-key"

const facilitatorOf = (shop: ProbedShop) =>
  Effect.gen(function* () {
    const { secretKey } = shop
    const url = under(shop.url, "api/v1/x402")
    const cases = yield* facilitatorCases({ url, key: secretKey, payTo: shop.receiver, payer: undefined })
    return secretKey === undefined ? skipAll(cases, needsSecret) : cases
  })

const webhooksOf = (shop: ProbedShop) => {
  const url = under(shop.url, "api/v1/webhook-endpoint")
  const headers = shop.secretKey === undefined ? {} : { authorization: `Bearer ${shop.secretKey}` }
  const target = {
    url,
    method: "POST",
    headers,
    body: '{"url":"{url}"}',
    own: [`https://${new URL(shop.url).host}/`],
    // There is one endpoint: what has been registered is what this removes.
    undo: Effect.map(ask({ method: "DELETE", url, headers }), (reply) =>
      reply._tag === "Answered" && reply.status === 204
        ? "registered, and removed again"
        : `registered, and its removal got ${describeReply(reply)}: remove it`
    )
  }
  return Effect.map(webhookCases(target), (cases) =>
    shop.secretKey === undefined ? skipAll(cases, needsSecret) : cases
  )
}

/** The cases, or one sentence that says why there are none. */
export const quittanceCases = Effect.fnUntraced(function* (target: QuittanceTarget) {
  const shop = yield* readShop(target)
  if (typeof shop === "string") return shop
  const groups: ReadonlyArray<ReadonlyArray<Case>> = [
    yield* intentTokenCases(shop),
    yield* buyerTokenCases(shop),
    keyCases(shop),
    yield* paymentHeaderCases(shop),
    yield* webhooksOf(shop),
    yield* facilitatorOf(shop),
    yield* httpCases({
      url: new URL(under(shop.url, "api/v1/checkout-context")),
      postUrl: new URL(under(shop.url, "api/v1/payments")),
      headers: [["Authorization", `Bearer ${shop.publishableKey}`]]
    })
  ]
  return groups.flat()
})
