// Signatures that are invalid, another signer's, or malleated.
import { concat, encodeAbiParameters, type Hex, pad, parseSignature, toHex, zeroAddress } from "viem"
import { account, bodyOf, type ProbeVersion, sign, stranger, type Terms } from "./authorizations.ts"
import type { HostileBody } from "./HostileBody.ts"

/** Order of secp256k1 (SEC 2, 2.4.1). */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** ERC-6492: what ends a signature of a wallet that is still to be deployed. */
const magic = `0x${"6492".repeat(16)}` as const

const word = (value: bigint): Hex => toHex(value, { size: 32 })

const undeployed = (factory: Hex, inner: Hex): Hex =>
  concat([
    encodeAbiParameters(
      [{ type: "address" }, { type: "bytes" }, { type: "bytes" }],
      [factory, "0xdeadbeef", inner]
    ),
    magic
  ])

export const signatures = async (
  version: ProbeVersion,
  terms: Terms
): Promise<ReadonlyArray<HostileBody>> => {
  const good = await sign(terms)
  const { r, s, yParity } = parseSignature(`0x${good.signature.slice(2)}`)
  const body = (signature: unknown, from: string) =>
    JSON.stringify(bodyOf(version, terms, { signature, authorization: { ...good.authorization, from } }))
  /** Of the throwaway key, in another form. */
  const own = (name: string, reference: string, signature: unknown): HostileBody => ({
    name: `signature-${name}`,
    reference,
    body: body(signature, account.address)
  })
  /** In the name of whoever holds money, where one is given. */
  const forged = (name: string, reference: string, signature: unknown): HostileBody => ({
    name: `signature-${name}`,
    reference,
    body: body(signature, terms.payer ?? stranger.address)
  })
  const zeros: Hex = `0x${"00".repeat(65)}`
  return [
    forged("other-signer", "EIP-3009, CWE-347", good.signature),
    forged("none", "EIP-3009, CWE-347", "0x"),
    forged("empty-text", "EIP-3009, CWE-347", ""),
    forged("null", "EIP-3009, CWE-347", null),
    forged("array", "EIP-3009, CWE-347", [good.signature]),
    forged("zeros", "EIP-3009, CWE-347", zeros),
    forged("contract-form", "ERC-1271, CWE-347", `0x${"ab".repeat(97)}`),
    forged("undeployed-wallet", "ERC-6492, CWE-347", undeployed(stranger.address, zeros)),
    forged(
      "undeployed-by-token",
      "ERC-6492, CWE-347",
      undeployed("0x036CbD53842c5426634e7929541eC2318f3dCF7e", zeros)
    ),
    forged("undeployed-broken", "ERC-6492, CWE-347", concat(["0xdeadbeef", magic])),
    forged("of-15-kb", "CWE-770", `0x${"ab".repeat(15_000)}`),
    {
      name: "signature-zeros-of-zero-address",
      reference: "EIP-3009, CWE-347",
      body: body(zeros, zeroAddress)
    },
    own("short", "EIP-3009, CWE-347", good.signature.slice(0, -2)),
    own("odd-digits", "EIP-3009, CWE-347", good.signature.slice(0, -1)),
    own("long", "EIP-3009, CWE-347", `${good.signature}00`),
    own("not-hex", "EIP-3009, CWE-347", `0x${"zz".repeat(65)}`),
    own("high-s", "EIP-2", concat([r, word(order - BigInt(s)), toHex(yParity === 0 ? 28 : 27, { size: 1 })])),
    own("s-of-order", "EIP-2", concat([r, word(order), toHex(27 + yParity, { size: 1 })])),
    own("r-zero", "EIP-2", concat([pad("0x00"), s, toHex(27 + yParity, { size: 1 })])),
    own("s-zero", "EIP-2", concat([r, pad("0x00"), toHex(27 + yParity, { size: 1 })])),
    own("v-29", "EIP-155", concat([r, s, "0x1d"])),
    own("v-255", "EIP-155", concat([r, s, "0xff"])),
    own("other-parity", "EIP-3009, CWE-347", concat([r, s, toHex(28 - yParity, { size: 1 })]))
  ]
}
