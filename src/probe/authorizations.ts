// EIP-3009 authorizations of a throwaway key, in x402's wire form, and what they are asked for.
import { type Hex, toHex } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { networks } from "../domain/Chain.ts"
import { authorizationTypes } from "../x402/Authorization.ts"

export type ProbeVersion = 1 | 2
export const versions: ReadonlyArray<ProbeVersion> = [1, 2]

const { chainId, usdc } = networks.test

export const networkNames: { readonly [V in ProbeVersion]: string } = {
  1: "base-sepolia",
  2: `eip155:${chainId}`
}

export interface Terms {
  /** Whom the facilitator's merchant is paid at. */
  readonly payTo: string
  /** Somebody who holds the token, whose name forged signatures use; the throwaway key's address else. */
  readonly payer: string | undefined
}

/** Atomic units. */
export const amount = 10_000n

export type ProbeAuthorization = Readonly<
  Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", string>
>

export interface Signed {
  readonly signature: string
  readonly authorization: ProbeAuthorization
}

/** It holds nothing and is forgotten with the process. */
export const account = privateKeyToAccount(generatePrivateKey())
export const stranger = privateKeyToAccount(generatePrivateKey())

export const domain = {
  name: usdc.domainName,
  version: usdc.domainVersion,
  chainId,
  verifyingContract: usdc.address
} as const

interface Signing {
  readonly to?: string
  readonly value?: bigint
  /** Seconds from now. */
  readonly after?: number
  readonly before?: number
  readonly domain?: Partial<{ name: string; version: string; chainId: number; verifyingContract: Hex }>
}

const asHex = (text: string): Hex => `0x${text.replace(/^0x/, "")}`

/** Truly signed by the throwaway key; what is not said is as it should be. */
export const sign = async ({ payTo }: Terms, changes: Signing = {}): Promise<Signed> => {
  const now = Math.floor(Date.now() / 1000)
  const message = {
    from: account.address,
    to: asHex(changes.to ?? payTo),
    value: changes.value ?? amount,
    validAfter: BigInt(now + (changes.after ?? -600)),
    validBefore: BigInt(now + (changes.before ?? 60)),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32)))
  }
  const signature = await account.signTypedData({
    domain: { ...domain, ...changes.domain },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message
  })
  return {
    signature,
    authorization: {
      ...message,
      value: message.value.toString(),
      validAfter: message.validAfter.toString(),
      validBefore: message.validBefore.toString()
    }
  }
}

export type Changes = Readonly<Record<string, unknown>>

/** One entry of `accepts`. */
export const requirements = (version: ProbeVersion, { payTo }: Terms, changes: Changes = {}): Changes => ({
  scheme: "exact",
  network: networkNames[version],
  ...(version === 1
    ? {
        maxAmountRequired: amount.toString(),
        resource: "https://api.example.com/probe",
        description: "Probe",
        mimeType: "application/json"
      }
    : { amount: amount.toString() }),
  asset: usdc.address,
  payTo,
  maxTimeoutSeconds: 60,
  extra: { name: usdc.domainName, version: usdc.domainVersion },
  ...changes
})

/** The decoded header X-PAYMENT or PAYMENT-SIGNATURE; `payload` may be anything. */
export const paymentOf = (
  version: ProbeVersion,
  terms: Terms,
  payload: unknown,
  changes: Changes = {},
  accepted: Changes = {}
): Changes => ({
  x402Version: version,
  ...(version === 1
    ? { scheme: "exact", network: networkNames[1] }
    : {
        resource: {
          url: "https://api.example.com/probe",
          description: "Probe",
          mimeType: "application/json"
        },
        accepted: requirements(2, terms, accepted)
      }),
  payload,
  ...changes
})

/** The body of `/verify` and `/settle`. The same changes go to what is asked and to what is accepted. */
export const bodyOf = (
  version: ProbeVersion,
  terms: Terms,
  payload: unknown,
  changes: Changes = {}
): Changes => ({
  x402Version: version,
  paymentPayload: paymentOf(version, terms, payload, {}, changes),
  paymentRequirements: requirements(version, terms, changes)
})
