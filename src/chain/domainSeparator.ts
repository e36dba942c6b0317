// Checks by its EIP-712 domain that the contract at USDC's address is USDC.
import { encodeFunctionData, hashDomain, parseAbi } from "viem"
import type { Network } from "../domain/networks.ts"

export const domainSeparatorCall = encodeFunctionData({
  abi: parseAbi(["function DOMAIN_SEPARATOR() view returns (bytes32)"])
})

/** EIP-712 domain separator of the network's USDC contract. */
export const domainSeparator = ({ chainId, usdc }: Network): `0x${string}` =>
  hashDomain({
    domain: {
      name: usdc.domainName,
      version: usdc.domainVersion,
      chainId: BigInt(chainId),
      verifyingContract: usdc.address
    },
    types: {
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "version", type: "string" },
        { name: "chainId", type: "uint256" },
        { name: "verifyingContract", type: "address" }
      ]
    }
  })
