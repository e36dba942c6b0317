// The check that a signed authorization pays the required terms: each term changed on its own, and the order of
// refusals.
import { describe, expect, test } from "bun:test"
import { type Network, networks } from "../../../src/domain/networks.ts"
import type { InvalidReason } from "../../../src/domain/SettleReason.ts"
import {
  judgeAuthorization,
  judgeKnown,
  judgeTerms,
  judgeToken
} from "../../../src/x402/Facilitator/judgeExact.ts"
import type { ExactPayment, Requirements } from "../../../src/x402/Wire.ts"
import { payer, receiver, thief } from "../../support/rawReceipts.ts"

const now = 1_700_000_000n
const network: Network = networks.test

const requirements = (changes: Partial<Requirements> = {}): Requirements => ({
  version: 2,
  scheme: "exact",
  network: "eip155:84532",
  amount: 50_000n,
  asset: network.usdc.address,
  payTo: receiver,
  maxTimeoutSeconds: 60,
  domain: { name: network.usdc.domainName, version: network.usdc.domainVersion },
  resource: undefined,
  ...changes
})

const payment = (
  authorization: Partial<ExactPayment["authorization"]> = {},
  changes: Partial<ExactPayment> = {}
): ExactPayment => ({
  version: 2,
  scheme: "exact",
  network: "eip155:84532",
  asksReceipt: false,
  authorization: {
    from: payer,
    to: receiver,
    value: 50_000n,
    validAfter: now - 60n,
    validBefore: now + 60n,
    nonce: `0x${"ab".repeat(32)}`,
    signature: `0x${"11".repeat(65)}`,
    ...authorization
  },
  identifier: undefined,
  ...changes
})

describe("the terms, before the signature", () => {
  const rows: ReadonlyArray<readonly [string, ExactPayment, Requirements, InvalidReason | undefined]> = [
    ["the scheme exact on the network's name", payment(), requirements(), undefined],
    [
      "version 1 by its own name",
      payment({}, { version: 1, network: "base-sepolia" }),
      requirements({ version: 1, network: "base-sepolia" }),
      undefined
    ],
    [
      "another scheme of the payment",
      payment({}, { scheme: "upto" }),
      requirements(),
      "invalid_exact_evm_scheme"
    ],
    [
      "another scheme of the resource",
      payment(),
      requirements({ scheme: "upto" }),
      "invalid_exact_evm_scheme"
    ],
    [
      "no EIP-712 domain",
      payment(),
      requirements({ domain: undefined }),
      "invalid_exact_evm_missing_eip712_domain"
    ],
    [
      "a payment for another network",
      payment({}, { network: "eip155:8453" }),
      requirements(),
      "invalid_exact_evm_network_mismatch"
    ],
    [
      "both of another network",
      payment({}, { network: "eip155:8453" }),
      requirements({ network: "eip155:8453" }),
      "invalid_exact_evm_network_mismatch"
    ],
    [
      "version 2 by version 1's name",
      payment({}, { network: "base-sepolia" }),
      requirements({ network: "base-sepolia" }),
      "invalid_exact_evm_network_mismatch"
    ],
    [
      "the scheme comes before the domain",
      payment({}, { scheme: "upto" }),
      requirements({ domain: undefined }),
      "invalid_exact_evm_scheme"
    ],
    [
      "the domain comes before the network",
      payment({}, { network: "eip155:1" }),
      requirements({ domain: undefined }),
      "invalid_exact_evm_missing_eip712_domain"
    ]
  ]
  test.each(rows)("%s", (_, paid, asked, reason) => expect(judgeTerms(network, paid, asked)).toBe(reason))
})

describe("the authorization, after the signature", () => {
  const late = "invalid_exact_evm_payload_authorization_valid_before"
  const early = "invalid_exact_evm_payload_authorization_valid_after"
  const payee = "invalid_exact_evm_recipient_mismatch"
  const rows: ReadonlyArray<readonly [string, ExactPayment, Requirements, InvalidReason | undefined]> = [
    ["the required terms", payment(), requirements(), undefined],
    ["good for six more seconds", payment({ validBefore: now + 6n }), requirements(), undefined],
    ["good for five", payment({ validBefore: now + 5n }), requirements(), late],
    ["good from this second on", payment({ validAfter: now }), requirements(), undefined],
    ["good from the next", payment({ validAfter: now + 1n }), requirements(), early],
    ["to somebody else", payment({ to: thief }), requirements(), payee],
    ["terms that pay somebody else", payment({ to: thief }), requirements({ payTo: thief }), payee],
    ["from the receiver to itself", payment({ from: receiver }), requirements(), payee],
    [
      "one unit less",
      payment({ value: 49_999n }),
      requirements(),
      "invalid_exact_evm_payload_authorization_value_mismatch"
    ],
    [
      "one unit more",
      payment({ value: 50_001n }),
      requirements(),
      "invalid_exact_evm_payload_authorization_value_mismatch"
    ],
    [
      "one unit less by version 1",
      payment({ value: 49_999n }, { version: 1 }),
      requirements({ version: 1 }),
      "invalid_exact_evm_authorization_value"
    ],
    ["the payee comes before the time", payment({ to: thief, validBefore: 0n }), requirements(), payee],
    ["the time comes before the amount", payment({ value: 1n, validBefore: 0n }), requirements(), late]
  ]
  test.each(rows)("%s", (_, paid, asked, reason) =>
    expect(judgeAuthorization(paid, asked, receiver, now)).toBe(reason)
  )
})

describe("the token", () => {
  const domain = { name: network.usdc.domainName, version: network.usdc.domainVersion }
  test("must be the network's USDC by address, name and version", () => {
    expect(judgeToken(network, requirements())).toBeUndefined()
    expect(judgeToken(network, requirements({ asset: thief }))).toBe(
      "invalid_exact_evm_eip3009_not_supported"
    )
    expect(judgeToken(network, requirements({ domain: { ...domain, name: "USDX" } }))).toBe(
      "invalid_exact_evm_token_name_mismatch"
    )
    expect(judgeToken(network, requirements({ domain: { ...domain, version: "3" } }))).toBe(
      "invalid_exact_evm_token_version_mismatch"
    )
  })
})

test("an authorization that was accepted before is not checked against the clock again", () => {
  const over = payment({ validBefore: now - 1n })
  expect(judgeKnown(network, over, requirements())).toBeUndefined()
  expect(judgeKnown(network, over, requirements({ amount: 1n }))).toBe(
    "invalid_exact_evm_payload_authorization_value_mismatch"
  )
  expect(judgeKnown(network, over, requirements({ payTo: thief }))).toBe(
    "invalid_exact_evm_recipient_mismatch"
  )
  expect(judgeKnown(network, over, requirements({ asset: thief }))).toBe(
    "invalid_exact_evm_eip3009_not_supported"
  )
})
