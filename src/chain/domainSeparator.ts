// The EIP-712 domain of USDC, by which its signatures and the contract at its address are checked.
import { encodeFunctionData, type Hex, parseAbi, domainSeparator as separatorOf } from "viem"
import type { Network } from "../domain/networks.ts"

export const domainSeparatorCall = encodeFunctionData({
  abi: parseAbi(["function DOMAIN_SEPARATOR() view returns (bytes32)"])
})

/** The token's EIP-712 domain. */
export const domainOf = ({ chainId, usdc }: Network) => ({
  name: usdc.domainName,
  version: usdc.domainVersion,
  chainId,
  verifyingContract: usdc.address
})

/** EIP-712 domain separator of the network's USDC contract. */
export const domainSeparator = (network: Network): Hex => separatorOf({ domain: domainOf(network) })
