// The demo's merchant: a server that creates intents with its secret key and ships
// only after a verified webhook.
import { Deferred, Effect, type Scope } from "effect"
import { idempotencyKey, verifyWebhook, type WebhookEvent } from "../../packages/client/verifyWebhook.ts"

export interface Shop {
  readonly port: number
  /** Set once the endpoint's secret is known. */
  readonly secret: { value: string }
  /** The first verified `payment.settled`. */
  readonly settled: Effect.Effect<WebhookEvent>
}

/** Opens the shop's receiver at `/webhooks/quittance`. */
export const openShop: Effect.Effect<Shop, never, Scope.Scope> = Effect.gen(function* () {
  const settled = yield* Deferred.make<WebhookEvent>()
  const secret = { value: "" }
  const fulfilled = new Set<string>()

  const receive = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== "/webhooks/quittance") return new Response(null, { status: 404 })
    try {
      const event = await verifyWebhook(await request.arrayBuffer(), request.headers, secret.value)
      // A real shop stores this key under a unique constraint, in the transaction that fulfils the order.
      const key = idempotencyKey(event)
      if (event.type === "payment.settled" && !fulfilled.has(key)) {
        fulfilled.add(key)
        Effect.runSync(Deferred.succeed(settled, event))
      }
      return new Response(null, { status: 204 })
    } catch (error) {
      return new Response(error instanceof Error ? error.message : "refused", { status: 400 })
    }
  }

  const server = yield* Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: receive })),
    (running) => Effect.promise(() => running.stop(true))
  )
  return { port: server.port ?? 0, secret, settled: Deferred.await(settled) }
})
