// A payment's requirements for x402 clients. They are deterministic, because clients send them back and servers compare
// them by deep equality.

import { formatUsd } from "../domain/Money.ts"
import { networks } from "../domain/networks.ts"
import type { Payment } from "../domain/Payment.ts"
import { networkNames, type Requirements } from "./Wire.ts"

/** Seconds for which an authorization for a payment may be valid. */
const maxTimeoutSeconds = 120
const description = ({ amount, refCode }: Payment) => `Payment ${refCode}: ${formatUsd(amount)} USD`

export const requirementsV1 = (payment: Payment, resource: string) => {
  const { usdc } = networks[payment.env]
  return {
    scheme: "exact",
    network: networkNames[payment.env][1] ?? "",
    maxAmountRequired: payment.amount.toString(),
    asset: usdc.address,
    payTo: payment.receiver,
    resource,
    description: description(payment),
    mimeType: "application/json",
    maxTimeoutSeconds,
    extra: { name: usdc.domainName, version: usdc.domainVersion }
  }
}

export const requirementsV2 = (payment: Payment) => {
  const { usdc } = networks[payment.env]
  return {
    scheme: "exact",
    network: networkNames[payment.env][2],
    amount: payment.amount.toString(),
    asset: usdc.address,
    payTo: payment.receiver,
    maxTimeoutSeconds,
    extra: { name: usdc.domainName, version: usdc.domainVersion }
  }
}

/** The body of the 402, for version 1. It offers no way to pay if version 1 has no name for the network. */
export const paymentRequiredV1 = (payment: Payment, resource: string, error: string) => ({
  x402Version: 1 as const,
  error,
  accepts: networkNames[payment.env][1] === undefined ? [] : [requirementsV1(payment, resource)]
})

/** The header PAYMENT-REQUIRED, for version 2, before base64. */
export const paymentRequiredV2 = (payment: Payment, resource: string, error: string) => ({
  x402Version: 2 as const,
  error,
  resource: { url: resource, description: description(payment), mimeType: "application/json" },
  accepts: [requirementsV2(payment)]
})

/** The requirements in the form that payments are judged by. */
export const requirementsOf = (payment: Payment, version: 1 | 2, resource: string): Requirements => {
  const { usdc } = networks[payment.env]
  return {
    version,
    scheme: "exact",
    network: networkNames[payment.env][version] ?? "",
    amount: payment.amount,
    asset: usdc.address,
    payTo: payment.receiver,
    maxTimeoutSeconds,
    domain: { name: usdc.domainName, version: usdc.domainVersion },
    resource
  }
}
