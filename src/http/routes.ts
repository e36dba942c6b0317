// Who may call what: one table, deny by default. An endpoint that is missing here
// answers nobody.
import type { KeyKind } from "../domain/Merchant.ts"

export interface Access {
  readonly kinds: ReadonlyArray<KeyKind>
  /** Full access needed, beside the kind. */
  readonly manage?: true
  /** Live keys of every kind pass on to the test rail's own refusal. */
  readonly testRail?: true
  /** Open to pages of any origin: these are called from buyers' browsers. */
  readonly crossOrigin?: true
}

/** Keyed by `group.endpoint` of the contract. */
export const access: Readonly<Record<string, Access>> = {
  "paymentIntents.create": { kinds: ["secret"], manage: true },
  "payments.list": { kinds: ["secret"] },
  "payments.retrieve": { kinds: ["secret"] },
  "payments.open": { kinds: ["publishable"], crossOrigin: true },
  "payments.report": { kinds: ["publishable"], crossOrigin: true },
  "payments.announceAttempt": { kinds: ["publishable"], crossOrigin: true },
  "payments.attempts": { kinds: ["publishable"], crossOrigin: true },
  "payments.declineAttempt": { kinds: ["publishable"], crossOrigin: true },
  "webhookEndpoint.retrieve": { kinds: ["secret"] },
  "webhookEndpoint.create": { kinds: ["secret"], manage: true },
  "webhookEndpoint.update": { kinds: ["secret"], manage: true },
  "webhookEndpoint.delete": { kinds: ["secret"], manage: true },
  "webhookEndpoint.test": { kinds: ["secret"], manage: true },
  "checkout.context": { kinds: ["publishable"], crossOrigin: true },
  "agent.retrieve": { kinds: ["agent"] },
  "agent.pay": { kinds: ["agent"] },
  "agent.release": { kinds: ["agent"] },
  "agentTestRail.funds": { kinds: ["agent"], testRail: true },
  "x402.supported": { kinds: ["secret"] },
  "x402.verify": { kinds: ["secret"] },
  "x402.settle": { kinds: ["secret"], manage: true },
  "testRail.balance": { kinds: ["publishable"], crossOrigin: true, testRail: true },
  "testRail.delivery": { kinds: ["publishable"], crossOrigin: true, testRail: true },
  "testRail.funds": { kinds: ["publishable"], crossOrigin: true, testRail: true }
}

/** Endpoints that take a publishable key as the query parameter `pk`, and are open to every origin. */
const keyInQuery: ReadonlySet<string> = new Set(["playground.intent", "x402Payment.pay"])

export const isCrossOrigin = (name: string): boolean =>
  access[name]?.crossOrigin === true || keyInQuery.has(name)
