// A payment of $10.00 in the checkout's own terms.
import type { Attempt } from "../../../src/checkout/component/attempt.ts"
import type { CheckoutContext } from "../../../src/checkout/component/CheckoutContext.ts"
import type { CheckoutPayment, ServiceRefusal } from "../../../src/checkout/component/service.ts"
import type { Hex } from "../../../src/checkout/component/wallets.ts"

export const context: CheckoutContext = {
  merchant: { name: "Shop" },
  env: "test",
  open: true,
  settlement: [{ seconds: 4 }],
  now: "2026-01-01T00:00:00.000Z",
  skew: 0,
  paymentExpirySeconds: 86_400,
  audience: "https://pay.example.com",
  chain: { id: 84532, name: "Base Sepolia", explorerUrl: "https://sepolia.basescan.org" },
  token: { address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", symbol: "USDC", decimals: 6 },
  faucet: { enabled: true, usdcAtomic: "10000000" }
}
export const payment: CheckoutPayment = {
  id: "p",
  amount: "10.00",
  status: "pending",
  refCode: "PAY-00000000",
  intentUrl: "https://shop.example.com/",
  createdAt: "2026-01-01T00:00:00.000Z"
}
export const account = `0x${"a1".repeat(20)}`
export const hash: Hex = `0x${"ab".repeat(32)}`
export const asked: Attempt = {
  version: 1,
  id: "1",
  paymentId: "p",
  from: account,
  nonce: 3,
  block: 100,
  startedAt: 0,
  buyerToken: "t",
  hash: null,
  refused: []
}
export const rich = { usdcAtomic: 50_000_000n, gasWei: 1n }
export const refusal = (code: string, more: Partial<ServiceRefusal> = {}): ServiceRefusal => ({
  code,
  reason: undefined,
  actual: undefined,
  retryAfter: undefined,
  retryable: false,
  ...more
})
