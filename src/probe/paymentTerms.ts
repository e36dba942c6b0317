// Authorizations that are well signed and pay something else than is asked, at another time or place.
import { zeroAddress } from "viem"
import {
  account,
  bodyOf,
  type ProbeVersion,
  paymentOf,
  requirements,
  sign,
  stranger,
  type Terms
} from "./authorizations.ts"
import { exactEvm, type HostileBody } from "./HostileBody.ts"

export const paymentTerms = async (
  version: ProbeVersion,
  terms: Terms
): Promise<ReadonlyArray<HostileBody>> => {
  const good = await sign(terms)
  const exact = exactEvm(version)
  const one = (name: string, reference: string, body: unknown): HostileBody => ({
    name,
    reference,
    body: JSON.stringify(body)
  })
  const signed = async (name: string, reference: string, changes: Parameters<typeof sign>[1]) =>
    one(name, reference, bodyOf(version, terms, await sign(terms, changes)))
  const asked = (name: string, reference: string, changes: Readonly<Record<string, unknown>>) =>
    one(name, reference, bodyOf(version, terms, good, changes))
  /** What the payment says of itself, against what is asked. */
  const apart = (name: string, said: Readonly<Record<string, unknown>>) =>
    one(name, exact, {
      x402Version: version,
      paymentPayload: paymentOf(version, terms, good, version === 1 ? said : {}, said),
      paymentRequirements: requirements(version, terms)
    })

  return [
    await signed("valid-before-past", "EIP-3009", { before: -60 }),
    await signed("valid-before-now", "EIP-3009", { before: 0 }),
    await signed("valid-after-future", "EIP-3009", { after: 3_600, before: 7_200 }),
    await signed("window-turned-round", "EIP-3009", { after: 60, before: -60 }),
    await signed("value-below", exact, { value: 9_999n }),
    await signed("value-zero", exact, { value: 0n }),
    await signed("value-one", exact, { value: 1n }),
    await signed("pays-stranger", exact, { to: stranger.address }),
    await signed("pays-itself", exact, { to: account.address }),
    await signed("pays-zero-address", exact, { to: zeroAddress }),
    await signed("domain-other-chain", "EIP-712", { domain: { chainId: 1 } }),
    await signed("domain-other-contract", "EIP-712", { domain: { verifyingContract: stranger.address } }),
    await signed("domain-other-name", "EIP-712", { domain: { name: "USD Coin!" } }),
    await signed("domain-other-version", "EIP-712", { domain: { version: "1" } }),
    asked("pay-to-stranger", exact, { payTo: stranger.address }),
    asked("pay-to-payer", exact, { payTo: account.address }),
    asked("asset-stranger", exact, { asset: stranger.address }),
    asked("asset-zero-address", exact, { asset: zeroAddress }),
    asked("asset-precompile", exact, { asset: "0x0000000000000000000000000000000000000001" }),
    asked("network-mainnet", exact, { network: version === 1 ? "ethereum" : "eip155:1" }),
    asked("network-other-family", exact, { network: version === 1 ? "solana" : "solana:mainnet" }),
    asked("network-prototype", "CWE-1321", { network: "__proto__" }),
    asked("network-empty", exact, { network: "" }),
    asked("scheme-upto", exact, { scheme: "upto" }),
    asked("scheme-prototype", "CWE-1321", { scheme: "constructor" }),
    asked("extra-missing", "EIP-712", { extra: null }),
    asked("extra-other-token", "EIP-712", { extra: { name: "Other", version: "9" } }),
    apart("network-apart", { network: version === 1 ? "base" : "eip155:8453" }),
    apart("scheme-apart", { scheme: "upto" })
  ]
}
