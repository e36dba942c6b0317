import { Hono } from "hono"
import { Quittance } from "../../src/packages/client/Quittance.ts"
import { verifyDelivery, WebhookVerificationError } from "../../src/packages/client/verifyWebhook.ts"
import { fulfilOnce, tokenOf } from "./orders.ts"

const { QUITTANCE_KEY = "", QUITTANCE_URL = "", WEBHOOK_SECRET = "" } = process.env
const quittance = new Quittance({ key: QUITTANCE_KEY, baseUrl: QUITTANCE_URL })
const app = new Hono()

app.post("/checkout", async (context) => {
  const intentToken = await tokenOf(quittance, "https://shop.example.com/orders/1042")
  return intentToken === undefined ? context.text("The order is paid.", 409) : context.json({ intentToken })
})

app.post("/webhooks/quittance", async (context) => {
  try {
    const body = await context.req.arrayBuffer()
    const { event, order } = await verifyDelivery(body, context.req.raw.headers, WEBHOOK_SECRET)
    fulfilOnce(event, order?.intentUrl)
    return context.body(null, 204)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return context.text(error.message, 400)
  }
})

Bun.serve({ port: Number(process.env["PORT"] ?? 3000), fetch: app.fetch })
