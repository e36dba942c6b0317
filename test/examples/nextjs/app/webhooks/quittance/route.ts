import { verifyDelivery, WebhookVerificationError } from "@quittance/client"
import { fulfilOnce } from "../../../orders"

const { WEBHOOK_SECRET = "" } = process.env

export const POST = async (request: Request): Promise<Response> => {
  try {
    // The signature covers the raw bytes, not parsed JSON.
    const body = await request.arrayBuffer()
    const { event, order } = await verifyDelivery(body, request.headers, WEBHOOK_SECRET)
    await fulfilOnce(event, order?.intentUrl)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return new Response(error.message, { status: 400 })
  }
}
