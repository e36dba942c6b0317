// The demo's merchant: a web shop that creates intents with its secret key, and ships an order only after a verified
// webhook. Its order pages are at `/orders/{number}`.
import { Deferred, Effect, type Scope } from "effect"
import { Quittance } from "../../packages/client/Quittance.ts"
import { idempotencyKey, verifyDelivery, type WebhookEvent } from "../../packages/client/verifyWebhook.ts"

interface Order {
  readonly item: string
  /** Decimal USD. */
  readonly amount: string
  paid?: true
  /** The intent of the order's current payment; each token is a separate payment. */
  intent?: { readonly token: string; readonly paymentId: string; readonly createdAt: number }
}

export interface ShopAccount {
  readonly baseUrl: string
  readonly secretKey: string
  readonly publishableKey: string
  readonly webhookSecret: string
}

export interface Shop {
  readonly port: number
  /** Sets the shop's account at the service. Until then, order pages and webhooks are refused. */
  readonly open: (account: ShopAccount) => void
  /** Makes the shop respond to its next delivery with 503, as during a restart. */
  readonly failOnce: () => void
  /** Completes with the first verified `payment.settled`. */
  readonly settled: Effect.Effect<WebhookEvent>
}

const tokenLifetimeMillis = 240_000

const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Demo Books</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 420px; margin: 0 auto; padding: 2rem 1rem }
header { font-weight: 600; margin-bottom: 2rem }
h1 { font-size: 1.5rem; margin: 0 }
dl { display: flex; justify-content: space-between; margin: .5rem 0 1.5rem }
dd { margin: 0; font-weight: 600 }
</style>
</head>
<body>
<header>Demo Books</header>
${body}
</body>
</html>
`

/** Opens the shop on a free port. */
export const openShop: Effect.Effect<Shop, never, Scope.Scope> = Effect.gen(function* () {
  const settled = yield* Deferred.make<WebhookEvent>()
  const orders = new Map<string, Order>([["1043", { item: "The Book of Sand, paperback", amount: "9.50" }]])
  const fulfilled = new Set<string>()
  let account: ShopAccount | undefined
  let failures = 0
  let port = 0
  const urlOf = (number: string) => `http://localhost:${port}/orders/${number}`

  const tokenOf = async (number: string, order: Order, { baseUrl, secretKey }: ShopAccount) => {
    const quittance = new Quittance({ key: secretKey, baseUrl })
    const isUsable = async ({ createdAt, paymentId }: NonNullable<Order["intent"]>) => {
      const payment = await quittance.payments.retrieve(paymentId).catch(() => undefined)
      return payment === undefined
        ? Date.now() - createdAt < tokenLifetimeMillis
        : payment.status !== "failed"
    }
    if (order.intent === undefined || !(await isUsable(order.intent))) {
      const intent = await quittance.paymentIntents.create({
        amount: order.amount,
        intentUrl: urlOf(number)
      })
      order.intent = {
        token: intent.intentToken,
        paymentId: intent.paymentId,
        createdAt: Date.now()
      }
    }
    return order.intent.token
  }

  const orderPage = async (number: string, order: Order, { baseUrl, ...keys }: ShopAccount) => {
    const head = `<h1>Order ${number}</h1><dl><dt>${order.item}</dt><dd>$${order.amount}</dd></dl>`
    if (order.paid === true) return page(`Order ${number}`, `${head}<p>Paid. We ship it today.</p>`)
    const token = await tokenOf(number, order, { baseUrl, ...keys })
    return page(
      `Order ${number}`,
      `${head}<script src="${baseUrl}/checkout.js" crossorigin="anonymous" defer></script>
<quittance-checkout intent-token="${token}" publishable-key="${keys.publishableKey}"></quittance-checkout>`
    )
  }

  const receive = async (request: Request, { webhookSecret }: ShopAccount): Promise<Response> => {
    if (failures > 0) {
      failures--
      return new Response("The shop is being restarted.", { status: 503 })
    }
    try {
      const { event, order } = await verifyDelivery(
        await request.arrayBuffer(),
        request.headers,
        webhookSecret
      )
      // A real shop stores this key under a unique constraint, in the transaction that fulfils the order.
      const key = idempotencyKey(event)
      if (event.type === "payment.settled" && !fulfilled.has(key)) {
        fulfilled.add(key)
        const paid = [...orders.values()].find(
          ({ intent }) => intent?.paymentId === (order?.paymentId ?? "none")
        )
        if (paid !== undefined) paid.paid = true
        Effect.runSync(Deferred.succeed(settled, event))
      }
      return new Response(null, { status: 204 })
    } catch (error) {
      return new Response(error instanceof Error ? error.message : "refused", { status: 400 })
    }
  }

  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (account === undefined) return new Response("The shop is not open yet.", { status: 503 })
    if (pathname === "/webhooks/quittance") return receive(request, account)
    const [, number = ""] = /^\/orders\/(\d+)$/.exec(pathname) ?? []
    const order = orders.get(number)
    if (order === undefined) return new Response("No such page.", { status: 404 })
    return new Response(await orderPage(number, order, account), {
      headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" }
    })
  }

  const server = yield* Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer })),
    (running) => Effect.promise(() => running.stop(true))
  )
  port = server.port ?? 0
  return {
    port,
    open: (opened) => {
      account = opened
    },
    failOnce: () => {
      failures = 1
    },
    settled: Deferred.await(settled)
  }
})
