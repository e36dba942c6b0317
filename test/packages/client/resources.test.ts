// The client's types equal the contract's: a difference fails the type check.
import { expect, test } from "bun:test"
import type * as client from "../../../src/packages/client/resources.ts"
import type { BalancesView, StatementView } from "../../../src/payments/books/Api.ts"
import type { EventView } from "../../../src/payments/events/Api.ts"
import type { CreatedIntent } from "../../../src/payments/intents/Api.ts"
import type { PaymentLink } from "../../../src/payments/links/Api.ts"
import type { PaymentView } from "../../../src/payments/PaymentView.ts"
import type { RefundView } from "../../../src/payments/refunds/Api.ts"
import type { DeliveryView, EndpointView } from "../../../src/webhooks/Api.ts"

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never

const same: {
  readonly payment: Same<client.Payment, typeof PaymentView.Encoded>
  readonly intent: Same<client.PaymentIntent, typeof CreatedIntent.Encoded>
  readonly endpoint: Same<client.WebhookEndpoint, typeof EndpointView.Encoded>
  readonly delivery: Same<client.WebhookDelivery, typeof DeliveryView.Encoded>
  readonly event: Same<client.Event, typeof EventView.Encoded>
  readonly link: Same<client.PaymentLink, typeof PaymentLink.Encoded>
  readonly refund: Same<client.Refund, RefundView>
  readonly statement: Same<client.Statement, StatementView>
  readonly balances: Same<client.StatementBalances, BalancesView>
} = {
  link: true,
  refund: true,
  statement: true,
  balances: true,
  payment: true,
  intent: true,
  endpoint: true,
  delivery: true,
  event: true
}

test("the client's types equal the contract's, by the type check", () => {
  expect(Object.values(same)).not.toContain(false)
})
