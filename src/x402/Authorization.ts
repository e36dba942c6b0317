// EIP-3009: a transfer that the payer signs and anybody may submit to the chain, once.
import {
  encodeFunctionData,
  getAddress,
  type Hex,
  multicall3Abi,
  parseAbi,
  parseErc6492Signature,
  parseSignature
} from "viem"
import { domainOf } from "../chain/domainSeparator.ts"
import { Address } from "../domain/Chain.ts"
import type { Network } from "../domain/networks.ts"

/** The message that the payer signs. `value` is atomic USDC, times are Unix seconds, the nonce is 32 bytes. */
export interface Authorization {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
}

export interface SignedAuthorization extends Authorization {
  /** The signature of an account, of a contract wallet (ERC-1271), or of a wallet still to be deployed (ERC-6492). */
  readonly signature: Hex
}

export const authorizationTypes = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ],
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" }
  ]
} as const

export const authorizationAbi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)"
])

const messageOf = ({ from, to, value, validAfter, validBefore, nonce }: Authorization) => ({
  from,
  to,
  value,
  validAfter,
  validBefore,
  nonce
})

/** The typed data that a wallet signs. */
export const typedDataOf = (network: Network, authorization: Authorization) =>
  ({
    domain: domainOf(network),
    types: { TransferWithAuthorization: authorizationTypes.TransferWithAuthorization },
    primaryType: "TransferWithAuthorization",
    message: messageOf(authorization)
  }) as const

/** A call that the relayer's wallet sends. */
export interface Call {
  readonly to: Address
  readonly data: Hex
}

/** `account`: the signature recovers the payer. `contract`: the payer's own code judges it. */
export type SignatureKind = "account" | "contract"

/** An account's signature is passed as (v, r, s), a contract's bytes unchanged, whatever their length. */
const transferData = (authorization: Authorization, signature: Hex, kind: SignatureKind): Hex => {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  if (kind === "account") {
    const { r, s, yParity } = parseSignature(signature)
    return encodeFunctionData({
      abi: authorizationAbi,
      functionName: "transferWithAuthorization",
      args: [from, to, value, validAfter, validBefore, nonce, yParity + 27, r, s]
    })
  }
  return encodeFunctionData({
    abi: authorizationAbi,
    functionName: "transferWithAuthorization",
    args: [from, to, value, validAfter, validBefore, nonce, signature]
  })
}

/** The contract that an ERC-6492 signature specifies to deploy its wallet. */
export const factoryOf = (signature: Hex): Address | undefined => {
  const { address } = parseErc6492Signature(signature)
  return address === undefined ? undefined : Address.make(getAddress(address))
}

/** The call that submits the authorization. It also deploys a wallet that is not yet deployed. */
export const transferCall = (
  usdc: Address,
  multicall: Address,
  authorization: SignedAuthorization,
  kind: SignatureKind,
  deployed: boolean
): Call => {
  const { address: factory, data: factoryData, signature } = parseErc6492Signature(authorization.signature)
  const transfer = { to: usdc, data: transferData(authorization, signature, kind) }
  if (factory === undefined || factoryData === undefined || deployed) return transfer
  return {
    to: multicall,
    // Deploys the wallet and moves its money in one transaction.
    data: encodeFunctionData({
      abi: multicall3Abi,
      functionName: "aggregate3",
      args: [
        [
          { target: factory, allowFailure: true, callData: factoryData },
          { target: usdc, allowFailure: false, callData: transfer.data }
        ]
      ]
    })
  }
}
