// Agents and their signatures. A merchant's members create agents; an agent pays from its own wallet, within
// caps stored in the database.

import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { toHex } from "viem"
import { DenyList } from "../../chain/DenyList.ts"
import { DerivedWallets } from "../../chain/wallets/DerivedWallets.ts"
import { type Agent, AgentId, type AgentPayment, type Allowance } from "../../domain/Agent.ts"
import { Address, type Env, TransactionHash } from "../../domain/Chain.ts"
import {
  type AgentCapExceeded,
  type AgentHostNotAllowed,
  type AgentPaused,
  type AgentPayeeNotAllowed,
  AgentRequestConflict,
  AgentsNotConfigured,
  InvalidApiKey,
  type InvalidRequest,
  LiveModeGated,
  type RateLimited,
  type X402RequirementsUnsupported
} from "../../domain/Errors.ts"
import type { MerchantId, Principal } from "../../domain/Merchant.ts"
import { networks } from "../../domain/networks.ts"
import { issueKey } from "../../merchants/keys/issueKey.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Networks } from "../../platform/Networks.ts"
import { typedDataOf } from "../Authorization.ts"
import { type DescribedResource, networkNames, paymentHeader, type X402Version } from "../Wire.ts"
import type {
  AgentChange,
  AgentLimits,
  AgentSummary,
  NewAgent,
  NewAgentPayment
} from "./AgentRepo/AgentStore.ts"
import { AgentRepo } from "./AgentRepo.ts"
import { checkDenied, checkHost, checkPayee, refusalOf } from "./Agents/refusals.ts"
import { agentsNotConfigured } from "./agentsNotConfigured.ts"
import { chooseRequirement } from "./chooseRequirement.ts"

type Shape = typeof Agents.Service

/** A 402 that an agent received, and its resource. */
export interface PaymentRequest {
  /** The caller's id of the request: the same id signs the same payment. */
  readonly requestId: string
  readonly resource: string
  readonly version: X402Version
  readonly accepts: ReadonlyArray<unknown>
  /** Version 2: the 402's other content, which is sent back with the payment. */
  readonly described: DescribedResource
}

export interface SignedPayment {
  readonly agent: Agent
  readonly payment: AgentPayment
  readonly created: boolean
  readonly header: { readonly name: "X-PAYMENT" | "PAYMENT-SIGNATURE"; readonly value: string }
}

export type SignError =
  | AgentCapExceeded
  | AgentHostNotAllowed
  | AgentPaused
  | AgentPayeeNotAllowed
  | AgentRequestConflict
  | AgentsNotConfigured
  | InvalidApiKey
  | InvalidRequest
  | LiveModeGated
  | RateLimited
  | X402RequirementsUnsupported

/** An authorization is valid for as long as the resource requests, but at most this many seconds. */
const maxSeconds = 600
/** Backdates authorizations like the reference client, because a payee's clock may be behind. */
const backdatedSeconds = 600n

/** True if the payment was signed for this request: the same requirements, with their keys in any order. */
const isSameRequest = (
  { requirements, resource, x402Version }: AgentPayment,
  request: PaymentRequest,
  accepted: unknown
) =>
  x402Version === request.version &&
  resource === request.resource &&
  isDeepStrictEqual(JSON.parse(requirements), accepted)

const make = Effect.gen(function* () {
  const { baseUrl } = yield* AppConfig
  const { begins } = yield* Networks
  const repo = yield* AgentRepo
  const wallets = yield* DerivedWallets
  const random = yield* SecureRandom.SecureRandom
  const denyList = yield* DenyList

  const accountOf = (env: Env, index: number) =>
    Option.match(wallets.accountOf(env, index), {
      onNone: () => Effect.fail(agentsNotConfigured(wallets.settingOf(env))),
      onSome: Effect.succeed
    })

  /** Fails if another mnemonic created the agent: the signature would be another wallet's. */
  const accountOfAgent = ({ address, env, walletIndex }: Agent) =>
    Effect.flatMap(accountOf(env, walletIndex), (account) =>
      account.address === address
        ? Effect.succeed(account)
        : Effect.fail(
            new AgentsNotConfigured({
              message: `The agent's wallet ${address} does not come from the configured ${wallets.settingOf(env)}. Ask the operator to restore the earlier mnemonic, or create a new agent.`
            })
          )
    )

  /** The id of the payment of this service that has this x402 URL. */
  const ownPaymentIn = (resource: string): string | null => {
    const url = URL.parse(resource)
    if (url === null || url.origin !== baseUrl) return null
    return (
      /^\/api\/v1\/payments\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/x402$/.exec(url.pathname)?.[1] ??
      null
    )
  }

  const provision: Shape["provision"] = Effect.fn("Agents.provision")(function* (input) {
    // Fails before anything is stored if agents are not configured.
    yield* accountOf(input.env, 0)
    const { key, newKey } = yield* issueKey({ kind: "agent", env: input.env, permission: "manage" }).pipe(
      Effect.provideService(SecureRandom.SecureRandom, random)
    )
    const agent = yield* repo.insert(
      { ...input, id: AgentId.make(yield* random.uuidV7()) },
      newKey,
      (index) => Address.make(Option.getOrThrow(wallets.accountOf(input.env, index)).address),
      yield* DateTime.nowAsDate
    )
    return { agent, key }
  })

  const ofKey: Shape["ofKey"] = ({ keyId }) =>
    Effect.flatMap(
      repo.findByKey(keyId),
      Option.match({ onNone: () => Effect.fail(new InvalidApiKey()), onSome: Effect.succeed })
    )

  /** Reserves a payment if the agent's lists allow it at the time of the reservation. */
  const reserve = Effect.fnUntraced(function* (
    caller: Agent,
    resource: string,
    payTo: Address,
    newPayment: Effect.Effect<Omit<NewAgentPayment, "host">>
  ) {
    let agent = caller
    while (true) {
      const host = yield* checkHost(agent, resource)
      yield* checkPayee(agent, payTo)
      yield* checkDenied(denyList, agent, payTo)
      const reservation = yield* repo.reserve(agent, { ...(yield* newPayment), host })
      if (reservation._tag !== "ListsChanged") return { agent, reservation }
      agent = reservation.agent
    }
  })

  /** The header of a reserved payment. Signing again produces the same bytes (RFC 6979). */
  const headerOf = Effect.fnUntraced(function* (
    agent: Agent,
    payment: AgentPayment,
    described: DescribedResource
  ) {
    const account = yield* accountOfAgent(agent)
    const network = networks[agent.env]
    const authorization = {
      from: agent.address,
      to: payment.payTo,
      value: payment.amount,
      validAfter: payment.validAfter,
      validBefore: payment.validBefore,
      nonce: payment.nonce
    }
    const signature = yield* Effect.promise(() => account.signTypedData(typedDataOf(network, authorization)))
    const accepted: unknown = JSON.parse(payment.requirements)
    const version = payment.x402Version
    const name = networkNames[agent.env][version] ?? networkNames[agent.env][2]
    return paymentHeader(version, accepted, { scheme: "exact", network: name }, described, {
      ...authorization,
      signature
    })
  })

  const sign: Shape["sign"] = Effect.fn("Agents.sign")(function* (principal, request) {
    if (!begins(principal.env)) return yield* new LiveModeGated()
    const caller = yield* ofKey(principal)
    // Fails before anything is reserved.
    yield* accountOfAgent(caller)
    const { requirements, amount, accepted } = yield* chooseRequirement(
      caller.env,
      request.version,
      request.accepts
    )
    const requirementsText = JSON.stringify(accepted)
    const requestHash = createHash("sha256")
      .update(JSON.stringify([request.version, request.resource, requirementsText]))
      .digest()
    const { payTo } = requirements
    const newPayment = Effect.gen(function* (): Effect.fn.Return<Omit<NewAgentPayment, "host">> {
      const at = yield* DateTime.nowAsDate
      const now = BigInt(Math.floor(at.getTime() / 1000))
      const seconds = Math.ceil(Math.min(requirements.maxTimeoutSeconds, maxSeconds))
      return {
        id: yield* random.uuidV7(),
        requestId: request.requestId,
        requestHash,
        x402Version: request.version,
        resource: request.resource,
        requirements: requirementsText,
        payTo,
        amount,
        validAfter: now - backdatedSeconds,
        validBefore: now + BigInt(seconds),
        nonce: TransactionHash.make(toHex(yield* random.randomBytes(32))),
        createdAt: at,
        pays: ownPaymentIn(request.resource)
      }
    })
    const { agent, reservation } = yield* reserve(caller, request.resource, payTo, newPayment)
    if (reservation._tag !== "Reserved") return yield* refusalOf(reservation, amount, payTo)
    const { payment, created } = reservation
    // Another request for the same payment of this service receives the existing authorization.
    const isRepeated = !created && payment.requestId === request.requestId
    if (isRepeated && !requestHash.equals(payment.requestHash) && !isSameRequest(payment, request, accepted))
      return yield* new AgentRequestConflict()
    return { agent, payment, created, header: yield* headerOf(agent, payment, request.described) }
  })

  const shape: Shape = {
    configured: (env) => Option.isSome(wallets.relayerKey(env)),
    provision,
    list: repo.list,
    find: repo.find,
    summaries: (merchantId, env, id) =>
      Effect.flatMap(DateTime.nowAsDate, (at) => repo.summaries(merchantId, env, at, id)),
    change: Effect.fn("Agents.change")(function* (merchantId, id, change, was) {
      return yield* repo.change(merchantId, id, change, yield* DateTime.nowAsDate, was)
    }),
    revoke: Effect.fn("Agents.revoke")(function* (merchantId, id) {
      return yield* repo.revoke(merchantId, id, yield* DateTime.nowAsDate)
    }),
    ofKey,
    allowance: (agent) => Effect.flatMap(DateTime.nowAsDate, (at) => repo.allowance(agent, at)),
    payments: repo.payments,
    findPayment: repo.findPayment,
    sign
  }
  return shape
})

export class Agents extends Context.Service<
  Agents,
  {
    /** True if wallets can be derived. Without them no agent can be created or can sign. */
    readonly configured: (env: Env) => boolean
    /** Creates an agent, its wallet and its key. The key is shown once. */
    readonly provision: (
      agent: Omit<NewAgent, "id">
    ) => Effect.Effect<{ readonly agent: Agent; readonly key: string }, AgentsNotConfigured>
    readonly list: (merchantId: MerchantId, env: Env) => Effect.Effect<ReadonlyArray<Agent>>
    readonly find: (merchantId: MerchantId, env: Env, id: AgentId) => Effect.Effect<Option.Option<Agent>>
    /** Like `find` or, without an id, `list`, with the amounts left of the caps for the last 24 hours. */
    readonly summaries: (
      merchantId: MerchantId,
      env: Env,
      id?: AgentId
    ) => Effect.Effect<ReadonlyArray<AgentSummary>>
    /**
     * Changes caps or allow lists, pauses or resumes; takes effect immediately. None if the agent is unknown
     * or revoked, or a value differs from `was`.
     */
    readonly change: (
      merchantId: MerchantId,
      id: AgentId,
      change: AgentChange,
      was?: Partial<AgentLimits>
    ) => Effect.Effect<Option.Option<Agent>>
    /** Ends the agent and its key, at once on every instance. Its signatures stay valid until they expire. */
    readonly revoke: (merchantId: MerchantId, id: AgentId) => Effect.Effect<boolean>
    /** The agent that owns this key. */
    readonly ofKey: (principal: Principal) => Effect.Effect<Agent, InvalidApiKey>
    readonly allowance: (agent: Agent) => Effect.Effect<Allowance>
    readonly payments: (agentId: AgentId, limit: number) => Effect.Effect<ReadonlyArray<AgentPayment>>
    readonly findPayment: (agentId: AgentId, id: string) => Effect.Effect<Option.Option<AgentPayment>>
    /** Reserves the amount, then signs. */
    readonly sign: (principal: Principal, request: PaymentRequest) => Effect.Effect<SignedPayment, SignError>
  }
>()("quittance/x402/Agents") {
  static readonly layer: Layer.Layer<
    Agents,
    never,
    AppConfig | SqlClient.SqlClient | SecureRandom.SecureRandom
  > = Layer.effect(Agents, make).pipe(Layer.provide([AgentRepo.layer, DerivedWallets.layer]))

  /** No agents: for trials without a database. */
  static readonly layerNone: Layer.Layer<Agents> = Layer.succeed(Agents, {
    configured: () => false,
    provision: () => Effect.fail(new AgentsNotConfigured()),
    list: () => Effect.succeed([]),
    summaries: () => Effect.succeed([]),
    find: () => Effect.succeed(Option.none()),
    change: () => Effect.succeed(Option.none()),
    revoke: () => Effect.succeed(false),
    ofKey: () => Effect.fail(new InvalidApiKey()),
    allowance: () => Effect.succeed({ spent: 0n, remaining: 0n }),
    payments: () => Effect.succeed([]),
    findPayment: () => Effect.succeed(Option.none()),
    sign: () => Effect.fail(new AgentsNotConfigured())
  })
}
