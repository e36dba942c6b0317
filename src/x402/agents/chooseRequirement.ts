// Chooses the payment option of a resource that an agent can use, or says why there is none.
import { Effect, Option, Result } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { type ErrorDetail, InvalidRequest, X402RequirementsUnsupported } from "../../domain/Errors.ts"
import { issueDetails } from "../../domain/issueDetails.ts"
import { AtomicUsdc } from "../../domain/Money.ts"
import { type Network, networks } from "../../domain/networks.ts"
import { networkNames, type Requirements, readRequirements, type X402Version } from "../Wire.ts"

export interface Choice {
  readonly requirements: Requirements
  readonly amount: AtomicUsdc
  /** The requirement as the resource wrote it: servers compare it with their own by deep equality. */
  readonly accepted: unknown
}

const maxAmount = 99_999_999_999_999_999_999n

const detail = (path: string, message: string, expected: string, actual: string): ErrorDetail => ({
  path,
  message,
  expected: expected.slice(0, 200),
  actual: actual.slice(0, 200)
})

/** The reason why an agent of this network cannot pay this requirement. */
const obstacle = (
  { env, usdc }: Network,
  version: X402Version,
  requirements: Requirements,
  path: string
): ErrorDetail | undefined => {
  const network = networkNames[env][version]
  if (requirements.scheme !== "exact")
    return detail(`${path}.scheme`, "Only the scheme `exact` is paid.", "exact", requirements.scheme)
  if (network === undefined)
    return detail(
      `${path}.network`,
      `Version ${version} of x402 has no name for the agent's network. Ask for version 2.`,
      networkNames[env][2],
      requirements.network
    )
  if (requirements.network !== network)
    return detail(
      `${path}.network`,
      "The agent pays on its environment's network only.",
      network,
      requirements.network
    )
  if (requirements.asset !== usdc.address)
    return detail(`${path}.asset`, "The agent pays in Circle's USDC only.", usdc.address, requirements.asset)
  if (requirements.transferMethod !== undefined && requirements.transferMethod !== "eip3009")
    return detail(
      `${path}.extra.assetTransferMethod`,
      "The agent pays by EIP-3009 authorizations only.",
      "eip3009",
      requirements.transferMethod
    )
  if (requirements.domain !== undefined && requirements.domain.name !== usdc.domainName)
    return detail(
      `${path}.extra.name`,
      "The token has another EIP-712 name.",
      usdc.domainName,
      requirements.domain.name
    )
  if (requirements.domain !== undefined && requirements.domain.version !== usdc.domainVersion) {
    return detail(
      `${path}.extra.version`,
      "The token has another EIP-712 version.",
      usdc.domainVersion,
      requirements.domain.version
    )
  }
  if (requirements.amount < 1n || requirements.amount > maxAmount)
    return detail(
      `${path}.amount`,
      "The amount is out of range.",
      `1 to ${maxAmount}`,
      requirements.amount.toString()
    )
  return undefined
}

/**
 * The first of `accepts` that an agent of `env` can pay.
 *
 * @throws InvalidRequest (in the error channel) if no entry can be read.
 * @throws X402RequirementsUnsupported if no readable entry can be paid.
 */
export const chooseRequirement = Effect.fnUntraced(function* (
  env: Env,
  version: X402Version,
  accepts: ReadonlyArray<unknown>
): Effect.fn.Return<Choice, InvalidRequest | X402RequirementsUnsupported> {
  const malformed: Array<ErrorDetail> = []
  const unsupported: Array<ErrorDetail> = []
  for (const [index, accepted] of accepts.entries()) {
    const path = `body.paymentRequired.accepts.${index}`
    const requirements = yield* Effect.result(readRequirements(version, accepted))
    if (Result.isFailure(requirements)) {
      malformed.push(...issueDetails(requirements.failure.issue, path))
      continue
    }
    const reason = obstacle(networks[env], version, requirements.success, path)
    if (reason === undefined) {
      return {
        requirements: requirements.success,
        amount: AtomicUsdc.make(requirements.success.amount),
        accepted
      }
    }
    unsupported.push(reason)
  }
  if (unsupported.length === 0) return yield* new InvalidRequest({ details: malformed.slice(0, 20) })
  return yield* new X402RequirementsUnsupported({ details: [...unsupported, ...malformed].slice(0, 20) })
})

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export interface ResourceHost {
  /** The host in the form of the allow list. */
  readonly host: string
  readonly hostname: string
  /** The key under which a host's payee is stored: the host name without its port or, for loopback, with its port. */
  readonly owner: string
  /** True if the connection is private: TLS, or loopback. */
  readonly isPrivate: boolean
}

/** The host of a resource. */
export const resourceHostOf = (resource: string): Option.Option<ResourceHost> => {
  const url = URL.parse(resource)
  const plain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === "" &&
    url.password === "" &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    !/[\u0000-\u001f\u007f]/.test(resource) &&
    resource.isWellFormed()
  return plain
    ? Option.some({
        host: url.host,
        hostname: url.hostname,
        owner: loopback.test(url.hostname) ? url.host : url.hostname,
        isPrivate: url.protocol === "https:" || loopback.test(url.hostname)
      })
    : Option.none()
}
