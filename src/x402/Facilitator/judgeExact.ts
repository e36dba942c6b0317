// Judges whether a signed authorization meets the requirements, before the chain is queried. Its reasons and
// their order are those of the reference facilitator (scheme `exact` on EVM).
import type { Address } from "../../domain/Chain.ts"
import type { Network } from "../../domain/networks.ts"
import type { InvalidReason } from "../../domain/SettleReason.ts"
import type { ExactPayment, Requirements } from "../Wire.ts"
import { networkNames } from "../Wire.ts"

/** Seconds that an authorization must still be valid: time to include it in a block. */
const marginSeconds = 6n

/** Checks before the signature. */
export const judgeTerms = (
  network: Network,
  payment: ExactPayment,
  requirements: Requirements
): InvalidReason | undefined => {
  if (payment.scheme !== "exact" || requirements.scheme !== "exact") return "invalid_exact_evm_scheme"
  if (requirements.domain === undefined) return "invalid_exact_evm_missing_eip712_domain"
  if (
    payment.network !== requirements.network ||
    requirements.network !== networkNames[network.env][requirements.version]
  )
    return "invalid_exact_evm_network_mismatch"
  return undefined
}

/** Checks the payee. `receiver` is the address that must be paid. */
const judgePayee = (
  { authorization }: ExactPayment,
  requirements: Requirements,
  receiver: Address
): InvalidReason | undefined => {
  // A payment to the payer's own address moves nothing.
  const isOneself = authorization.from === authorization.to
  return isOneself || authorization.to !== requirements.payTo || requirements.payTo !== receiver
    ? "invalid_exact_evm_recipient_mismatch"
    : undefined
}

const judgeAmount = (
  { authorization }: ExactPayment,
  requirements: Requirements
): InvalidReason | undefined => {
  if (authorization.value === requirements.amount) return undefined
  return requirements.version === 1
    ? "invalid_exact_evm_authorization_value"
    : "invalid_exact_evm_payload_authorization_value_mismatch"
}

/** Checks after the signature. `now` is in Unix seconds. */
export const judgeAuthorization = (
  payment: ExactPayment,
  requirements: Requirements,
  receiver: Address,
  now: bigint
): InvalidReason | undefined => {
  const payee = judgePayee(payment, requirements, receiver)
  if (payee !== undefined) return payee
  const { validAfter, validBefore } = payment.authorization
  if (validBefore < now + marginSeconds) return "invalid_exact_evm_payload_authorization_valid_before"
  if (validAfter > now) return "invalid_exact_evm_payload_authorization_valid_after"
  return judgeAmount(payment, requirements)
}

/** Checks that an authorization judged valid earlier meets the current requirements. */
export const judgeKnown = (
  network: Network,
  payment: ExactPayment,
  requirements: Requirements
): InvalidReason | undefined =>
  judgeTerms(network, payment, requirements) ??
  judgePayee(payment, requirements, payment.authorization.to) ??
  judgeAmount(payment, requirements) ??
  judgeToken(network, requirements)

/** The reference's reason if the terms specify another token. The caller checks that the contract has code. */
export const judgeToken = (network: Network, requirements: Requirements): InvalidReason | undefined => {
  if (requirements.asset !== network.usdc.address) return "invalid_exact_evm_eip3009_not_supported"
  if (requirements.domain?.name !== network.usdc.domainName) return "invalid_exact_evm_token_name_mismatch"
  if (requirements.domain.version !== network.usdc.domainVersion)
    return "invalid_exact_evm_token_version_mismatch"
  return undefined
}
