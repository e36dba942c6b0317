import express from "express"
import { Quittance } from "../../src/packages/client/Quittance.ts"
import { verifyDelivery, WebhookVerificationError } from "../../src/packages/client/verifyWebhook.ts"
import { fulfilOnce, tokenOf } from "./orders.ts"

const { QUITTANCE_KEY = "", QUITTANCE_URL = "", WEBHOOK_SECRET = "" } = process.env
const quittance = new Quittance({ key: QUITTANCE_KEY, baseUrl: QUITTANCE_URL })
const app = express()

app.post("/checkout", async (_request, response) => {
  const intentToken = await tokenOf(quittance, "https://shop.example.com/orders/1042")
  if (intentToken === undefined) response.status(409).send("The order is paid.")
  else response.json({ intentToken })
})

// The raw body: a JSON parser before this route would change the bytes that were signed.
app.post("/webhooks/quittance", express.raw({ type: "application/json" }), async (request, response) => {
  try {
    const { event, order } = await verifyDelivery(request.body, request.headers, WEBHOOK_SECRET)
    fulfilOnce(event, order?.intentUrl)
    response.status(204).end()
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.status(400).send(error.message)
  }
})

app.listen(Number(process.env["PORT"] ?? 3000))
