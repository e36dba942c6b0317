// Addresses that no other merchant of a test has, because a receiver belongs to one merchant.
import { getAddress } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"

export const freshAddress = (): Address => Address.make(getAddress(privateKeyToAddress(generatePrivateKey())))

/** Returns `first` once, and then fresh addresses. */
export const addressesFrom = (first: Address): (() => Address) => {
  let given = false
  return () => {
    if (given) return freshAddress()
    given = true
    return first
  }
}
