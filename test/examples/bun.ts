import { Quittance } from "../../src/packages/client/Quittance.ts"
import { verifyDelivery, WebhookVerificationError } from "../../src/packages/client/verifyWebhook.ts"
import { fulfilOnce, tokenOf } from "./orders.ts"

const { QUITTANCE_KEY = "", QUITTANCE_URL = "", WEBHOOK_SECRET = "" } = process.env
const quittance = new Quittance({ key: QUITTANCE_KEY, baseUrl: QUITTANCE_URL })

Bun.serve({
  port: Number(process.env["PORT"] ?? 3000),
  routes: {
    "/checkout": {
      POST: async () => {
        const intentToken = await tokenOf(quittance, "https://shop.example.com/orders/1042")
        return intentToken === undefined
          ? new Response("The order is paid.", { status: 409 })
          : Response.json({ intentToken })
      }
    },
    "/webhooks/quittance": {
      POST: async (request: Request) => {
        try {
          const { event, order } = await verifyDelivery(
            await request.arrayBuffer(),
            request.headers,
            WEBHOOK_SECRET
          )
          fulfilOnce(event, order?.intentUrl)
          return new Response(null, { status: 204 })
        } catch (error) {
          if (!(error instanceof WebhookVerificationError)) throw error
          return new Response(error.message, { status: 400 })
        }
      }
    }
  }
})
