// What a buyer's wallet makes of a payment's terms.

import type { Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { Address } from "../../../src/domain/Chain.ts"
import type { Payload } from "../payloads.ts"
import type { Answer, X402World } from "../x402World.ts"

export interface SignedBody {
  readonly payer: string
  readonly validAfter: string
  readonly validBefore: string
  readonly signature: Hex
}

export const termsOf = (world: X402World, id: string, payer: string): Promise<Answer> =>
  world.call("GET", `/payments/${id}/authorization?payer=${payer}`, world.keys.test.publishable)

/** Signs the payment's terms, as `eth_signTypedData_v4` would. */
export const signTerms = async (
  world: X402World,
  id: string,
  account: PrivateKeyAccount,
  /** A contract wallet that the account signs for. */
  payer: string = account.address
): Promise<SignedBody & { readonly payload: Payload }> => {
  const { body } = await termsOf(world, id, payer)
  const { EIP712Domain: _, ...types } = body.typedData.types
  const { domain } = body.typedData
  const signature = await account.signTypedData({
    ...body.typedData,
    types,
    domain: { ...domain, verifyingContract: Address.make(domain.verifyingContract) }
  })
  const { validAfter, validBefore } = body.typedData.message
  return {
    payer,
    validAfter,
    validBefore,
    signature,
    payload: { signature, authorization: body.typedData.message }
  }
}

export const payBySignature = (
  world: X402World,
  id: string,
  { payer, signature, validAfter, validBefore }: SignedBody
): Promise<Answer> =>
  world.call("POST", `/payments/${id}/authorization`, world.keys.test.publishable, {
    payer,
    validAfter,
    validBefore,
    signature
  })
