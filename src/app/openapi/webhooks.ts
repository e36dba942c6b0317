// The `webhooks` of the OpenAPI document: requests to a merchant's endpoint (docs/contract.md 6).
import { Record, SchemaAST } from "effect"
import { type EventType, events } from "../../domain/Webhook.ts"

const header = (name: string, description: string, example: string, required = true) => ({
  name,
  in: "header",
  required,
  description,
  schema: { type: "string" },
  example
})

const signed = `t=1795230000,v1=${"5f".repeat(32)}`

const common = [
  header(
    "x-service-signature",
    "HMAC-SHA256 of `<t>.<raw body>`, keyed with the signing secret. Reject a `t` more than 300 seconds in the past or 30 in the future.",
    signed
  ),
  header("webhook-id", "The event's `id` (Standard Webhooks).", "5f0c3a52-9d1e-8b47-a3c6-20f1d4e8b975"),
  header("webhook-timestamp", "Unix seconds (Standard Webhooks).", "1795230000"),
  header(
    "webhook-signature",
    "`v1,` and the base64 HMAC of `id.timestamp.body` (Standard Webhooks).",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
  )
]

const order = [
  header("quittance-payment-id", "The payment's id.", "01a1fc34-7205-710e-9410-874fee9a4996"),
  header(
    "quittance-intent-url",
    "The payment's `intentUrl`: the order. Characters outside ASCII are percent-encoded.",
    "https://shop.example.com/orders/1042"
  ),
  header(
    "quittance-order-signature",
    "HMAC-SHA256 of `quittance-order`, `t`, the payment's id and the URL, each followed by a line feed, and then the raw body. Verify it before you use the two headers.",
    signed
  )
]

const delivery = (
  retries: string,
  { body, description, belongsToPayment, summary }: (typeof events)[EventType]
) => {
  const schema = SchemaAST.resolveIdentifier(body.ast)
  return {
    post: {
      tags: ["Events"],
      operationId: `webhooks.${schema}`,
      summary,
      description,
      security: [],
      parameters: belongsToPayment ? [...common, ...order] : common,
      requestBody: {
        required: true,
        content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } }
      },
      responses: {
        "204": { description: "The event is handled, or was before. Every 2xx ends the delivery." },
        "400": { description: `The event is rejected. Without a 2xx, a delivery gets ${retries}.` }
      }
    }
  }
}

/** `retries` describes how often and when a delivery is attempted. */
export const webhooks = (retries: string) => Record.map(events, (event) => delivery(retries, event))
