// A payment's requirements for an x402 client: the same in both versions, and read back as the terms that it is checked
// against.
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { networks } from "../../src/domain/networks.ts"
import {
  paymentRequiredV1,
  paymentRequiredV2,
  requirementsOf,
  requirementsV1,
  requirementsV2
} from "../../src/x402/paymentRequirements.ts"
import { readRequirements } from "../../src/x402/Wire.ts"
import { aPayment } from "../support/aPayment.ts"
import { receiver } from "../support/rawReceipts.ts"

const resource = "https://pay.example.com/api/v1/payments/1/x402"
const payment = aPayment()

describe("requirements", () => {
  test("of version 1 and 2 are read as the terms that payments are checked against", () => {
    expect(Effect.runSync(readRequirements(1, requirementsV1(payment, resource)))).toEqual(
      requirementsOf(payment, 1, resource)
    )
    expect(Effect.runSync(readRequirements(2, requirementsV2(payment)))).toEqual({
      ...requirementsOf(payment, 2, resource),
      resource: undefined
    })
  })

  test("contain the whole amount in atomic units, the receiver, and the network's USDC", () =>
    expect(requirementsV2(payment)).toMatchObject({
      amount: "1500000",
      payTo: receiver,
      asset: networks.test.usdc.address,
      network: "eip155:84532"
    }))

  test("are the same text each time, because clients send them back", () =>
    expect(JSON.stringify(paymentRequiredV2(payment, resource, "e"))).toBe(
      JSON.stringify(paymentRequiredV2({ ...payment }, resource, "e"))
    ))

  test("include an error, the resource and a sentence for people", () => {
    expect(paymentRequiredV1(payment, resource, "none")).toMatchObject({ x402Version: 1, error: "none" })
    expect(paymentRequiredV2(payment, resource, "none").resource.description).toBe(
      "Payment PAY-AAAAAAAA: 1.50 USD"
    )
  })
})
