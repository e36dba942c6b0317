// A buyer's wallet and its answer to a payment's terms.

import type { Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { Address, type Env } from "../../../src/domain/Chain.ts"
import type { Payload } from "../payloads.ts"
import type { Answer, X402World } from "../x402World.ts"

export interface SignedBody {
  readonly payer: string
  readonly validAfter: string
  readonly validBefore: string
  readonly signature: Hex
}

export const termsOf = (world: X402World, id: string, payer: string, env: Env = world.env): Promise<Answer> =>
  world.call("GET", `/payments/${id}/authorization?payer=${payer}`, world.keys[env].publishable)

/** Signs the payment's terms, as `eth_signTypedData_v4` would. */
export const signTerms = async (
  world: X402World,
  id: string,
  account: PrivateKeyAccount,
  /** A contract wallet that the account signs for. */
  payer: string = account.address,
  env: Env = world.env
): Promise<SignedBody & { readonly payload: Payload }> => {
  const { body } = await termsOf(world, id, payer, env)
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
  { payer, signature, validAfter, validBefore }: SignedBody,
  env: Env = world.env
): Promise<Answer> =>
  world.call("POST", `/payments/${id}/authorization`, world.keys[env].publishable, {
    payer,
    validAfter,
    validBefore,
    signature
  })
