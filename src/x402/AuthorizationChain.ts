// Reads from a chain whether an authorization's signature is valid, whether its transfer would succeed and for
// how much gas, and whether its nonce was used. It sends nothing.
import { Clock, Context, Effect, Layer, Option, Schedule } from "effect"
import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex, hashTypedData, toHex } from "viem"
import { ContractSignatures } from "../chain/ContractSignatures.ts"
import type { NodeFailure } from "../chain/RpcPool/NodeFailure.ts"
import { RpcPool, unavailable } from "../chain/RpcPool.ts"
import { Bytes, Quantity } from "../chain/RpcSchemas.ts"
import { SignatureRecovery } from "../chain/SignatureRecovery.ts"
import type { RpcUnavailable } from "../chain/Verification.ts"
import type { WalletState } from "../chain/wallets/HotWallet.ts"
import { Address, type Env } from "../domain/Chain.ts"
import { networks } from "../domain/networks.ts"
import type { InvalidReason } from "../domain/SettleReason.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { type Call, factoryOf, type SignedAuthorization, transferCall, typedDataOf } from "./Authorization.ts"
import {
  type AuthorizationState,
  type AuthorizationUse,
  isTrueWord,
  readState,
  readUse,
  stateData
} from "./AuthorizationChain/nodeAuthorization.ts"

type Shape = typeof AuthorizationChain.Service

/** Multicall3's address on every chain that has it. */
export const multicall = Address.make("0xcA11bde05977b3631167028862bE2a173976CA11")

/** The sending wallet, and its gas offer within its balance. */
export interface RelayWallet {
  readonly from: Address
  readonly state: WalletState
}

/** The call that a relayer's wallet sends for an authorization, or the reason why it cannot. */
export type Plan =
  | { readonly _tag: "Ready"; readonly call: Call; readonly gas: bigint }
  | { readonly _tag: "Refused"; readonly reason: InvalidReason; readonly message?: string }

/** The maximum gas of a transaction of each class. */
const gasCeilings = { account: 160_000n, contract: 700_000n, deployment: 3_000_000n }
/** Estimates use the current state, so a quarter more gas is sent. Unused gas is not paid. */
const withMargin = (estimate: bigint) => (estimate * 5n) / 4n

/** A reverted call, with the contract's or the node's message. */
interface Reverts {
  readonly nodeMessage: string
}
const asReverts = <A>(call: Effect.Effect<A, NodeFailure>): Effect.Effect<A | Reverts, NodeFailure> =>
  Effect.catchIf(
    call,
    ({ kind }) => kind === "reverted",
    ({ nodeMessage = "no reason given" }) => Effect.succeed({ nodeMessage })
  )

const simulationFailed = "invalid_exact_evm_transaction_simulation_failed"

/** Blocks still arrive if the newest is younger than this. Then it is worth waiting for one after `validAfter`. */
const aliveMillis = 15_000
const blockWait = { every: "1 second", times: 5 } as const

const make = Effect.gen(function* () {
  const { confirmations, relaying } = yield* AppConfig
  const pool = yield* RpcPool
  const contracts = yield* ContractSignatures
  const recoverAddress = yield* SignatureRecovery

  const hasCode: Shape["hasCode"] = Effect.fn("AuthorizationChain.hasCode")(function* (env, address) {
    // The code may have been deployed in a block that some nodes have not seen.
    const isDeployed = yield* pool.agreedAnswer(env, (node) =>
      Effect.map(node.call("eth_getCode", [address, "latest"], Bytes), (code) => code !== "0x")
    )
    return isDeployed ?? (yield* unavailable("rpc_unavailable", env))
  })

  const isSigned: Shape["isSigned"] = Effect.fn("AuthorizationChain.isSigned")(function* (
    env,
    authorization,
    { name, version }
  ) {
    const typed = typedDataOf(networks[env], authorization)
    const hash = hashTypedData({ ...typed, domain: { ...typed.domain, name, version } })
    if ((yield* recoverAddress(hash, authorization.signature)) === authorization.from) return true
    return yield* contracts.verify(env, authorization.from, hash, authorization.signature)
  })

  const isUsed = (env: Env, payer: Address, nonce: Hex) =>
    Effect.map(
      pool.agreedCall(env, { to: networks[env].usdc.address, data: stateData(payer, nonce) }),
      isTrueWord
    )

  const balanceOf = (env: Env, owner: Address) =>
    Effect.map(
      pool.agreedCall(env, {
        to: networks[env].usdc.address,
        data: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] })
      }),
      (answer) =>
        answer === "reverted" || answer === "0x"
          ? 0n
          : decodeFunctionResult({ abi: erc20Abi, functionName: "balanceOf", data: answer })
    )

  /** The gas that the transfer needs, or the reason why it reverts. */
  const estimate = Effect.fnUntraced(function* (
    env: Env,
    transaction: Readonly<Record<string, string>>,
    ceiling: bigint
  ): Effect.fn.Return<bigint | Reverts, RpcUnavailable> {
    const { agreed, contradiction } = yield* pool.pollLatest<bigint | Reverts>(env, {
      ask: (node, block) => asReverts(node.call("eth_estimateGas", [transaction, block], Quantity)),
      // Nodes estimate differently, depending on which storage they treat as warm. They must agree on success
      // and on staying within the ceiling.
      key: (answer) =>
        typeof answer !== "bigint" ? "reverts" : withMargin(answer) > ceiling ? "takes more" : "succeeds",
      contradicts: (one, other) => typeof one !== "bigint" || typeof other !== "bigint"
    })
    if (agreed === undefined)
      return yield* unavailable(contradiction ? "disagreement" : "rpc_unavailable", env)
    return agreed.reduce((most, gas) =>
      typeof most !== "bigint" || typeof gas !== "bigint" || gas < most ? most : gas
    )
  })

  /** Undefined if a majority says that the transaction succeeds exactly as it would be sent. */
  const reverts = Effect.fnUntraced(function* (env: Env, transaction: Readonly<Record<string, string>>) {
    const { agreed, contradiction } = yield* pool.pollLatest<Reverts | undefined>(env, {
      ask: (node, block) =>
        asReverts(Effect.as(node.call("eth_call", [transaction, block], Bytes), undefined)),
      key: (answer) => (answer === undefined ? "succeeds" : "reverts"),
      contradicts: () => true
    })
    if (agreed === undefined)
      return yield* unavailable(contradiction ? "disagreement" : "rpc_unavailable", env)
    return agreed[0]
  })

  const planNow = Effect.fnUntraced(function* (
    env: Env,
    authorization: SignedAuthorization,
    sender: RelayWallet | undefined
  ): Effect.fn.Return<Plan, RpcUnavailable> {
    const network = networks[env]
    const usdc = network.usdc.address
    const { from, nonce, signature, value } = authorization
    const deployed = yield* hasCode(env, from)
    const factory = deployed ? undefined : factoryOf(signature)
    if (factory !== undefined && !relaying.factories.includes(factory)) {
      return {
        _tag: "Refused",
        reason: "eip6492_factory_not_allowed",
        message: `Wallets of the factory ${factory} are not deployed here. Deploy the wallet first, or have the operator list the factory in X402_FACTORIES.`
      }
    }
    // A call to an address without code succeeds but moves nothing.
    if (factory !== undefined && !(yield* hasCode(env, multicall))) {
      return {
        _tag: "Refused",
        reason: "eip6492_factory_not_allowed",
        message: `This chain has no Multicall3 at ${multicall}, which deploys wallets. Deploy the wallet first.`
      }
    }
    const hash = hashTypedData(typedDataOf(network, authorization))
    const signer = yield* recoverAddress(hash, authorization.signature)
    const kind = signer === authorization.from ? "account" : "contract"
    const call = transferCall(usdc, multicall, authorization, kind, deployed)
    const ceiling =
      network.postingGas +
      gasCeilings[
        factory !== undefined ? "deployment" : kind === "account" && !deployed ? "account" : "contract"
      ]
    const affordable = sender !== undefined && sender.state.wei >= ceiling * sender.state.fees.maxFeePerGas
    const sent = (gas: bigint) => ({
      to: call.to,
      data: call.data,
      gas: toHex(gas),
      ...(sender === undefined ? {} : { from: sender.from }),
      ...(affordable
        ? {
            maxFeePerGas: toHex(sender.state.fees.maxFeePerGas),
            maxPriorityFeePerGas: toHex(sender.state.fees.maxPriorityFeePerGas)
          }
        : {})
    })
    let nodeMessage: string
    const estimated = yield* estimate(env, sent(ceiling), ceiling)
    if (typeof estimated === "bigint") {
      const gas = withMargin(estimated)
      if (gas > ceiling) {
        return {
          _tag: "Refused",
          reason: simulationFailed,
          message: `The transfer needs ${gas} gas; the service pays for at most ${ceiling}.`
        }
      }
      const reverting = yield* reverts(env, sent(gas))
      if (reverting === undefined) return { _tag: "Ready", call, gas }
      nodeMessage = reverting.nodeMessage
    } else nodeMessage = estimated.nodeMessage
    if (yield* isUsed(env, from, nonce))
      return { _tag: "Refused", reason: "invalid_exact_evm_nonce_already_used" }
    if ((yield* balanceOf(env, from)) < value)
      return { _tag: "Refused", reason: "invalid_exact_evm_insufficient_balance" }
    return {
      _tag: "Refused",
      reason: simulationFailed,
      message: /out of gas|gas required/i.test(nodeMessage)
        ? `The transfer needs more than the ${ceiling} gas that the service pays for: ${nodeMessage}`
        : `The transfer reverts: ${nodeMessage}`
    }
  })

  const plan: Shape["plan"] = Effect.fn("AuthorizationChain.plan")(function* (env, authorization, sender) {
    const { validAfter } = authorization
    let blocksCome = false
    const early: Plan = {
      _tag: "Refused",
      reason: "invalid_exact_evm_payload_authorization_valid_after",
      message: `No block has a time after its validAfter (${validAfter}) yet. Repeat the request in a few seconds.`
    }
    return yield* Effect.gen(function* () {
      const result = yield* planNow(env, authorization, sender)
      if (result._tag === "Ready" || result.reason !== simulationFailed) return result
      // The token compares with the block's time, which may be seconds behind our clock.
      const { timestamp } = yield* pool.head(env)
      blocksCome = (yield* Clock.currentTimeMillis) - Number(timestamp) * 1_000 < aliveMillis
      return timestamp > validAfter ? result : early
    }).pipe(
      Effect.repeat({
        schedule: Schedule.spaced(blockWait.every),
        times: blockWait.times,
        while: (result) => result === early && blocksCome
      })
    )
  })

  const authorizationState: Shape["authorizationState"] = Effect.fn("AuthorizationChain.authorizationState")(
    function* (env, payer, nonce, validBefore, notBefore = 0n) {
      const usdc = networks[env].usdc.address
      const state = yield* pool.agreedAnswer(env, (node) =>
        readState(node, usdc, payer, nonce, validBefore, notBefore, confirmations[env])
      )
      return state ?? "unknown"
    }
  )

  const findUse: Shape["findUse"] = Effect.fn("AuthorizationChain.findUse")(
    function* (env, payer, nonce, since) {
      const usdc = networks[env].usdc.address
      const { agreed } = yield* pool.poll<Option.Option<AuthorizationUse>>(env, {
        ask: (node) => readUse(node, usdc, payer, nonce, since),
        key: (use) => (Option.isNone(use) ? "none" : `${use.value.transactionId} ${use.value.cancelled}`),
        contradicts: () => false
      })
      if (agreed === undefined) return Option.none()
      // Uses the smallest count of any node, so that one node cannot claim a greater depth.
      return agreed.reduce((least, use) =>
        Option.isSome(use) && Option.isSome(least) && use.value.blocksSince < least.value.blocksSince
          ? use
          : least
      )
    }
  )

  return { isSigned, hasCode, plan, authorizationState, findUse }
})

export class AuthorizationChain extends Context.Service<
  AuthorizationChain,
  {
    /** True if the payer signed it, under the token domain in the requirements. */
    readonly isSigned: (
      env: Env,
      authorization: SignedAuthorization,
      domain: { readonly name: string; readonly version: string }
    ) => Effect.Effect<boolean, RpcUnavailable>
    /** True if a majority of nodes shows code at the address. */
    readonly hasCode: (env: Env, address: Address) => Effect.Effect<boolean, RpcUnavailable>
    /** Tries the transaction exactly as it would be sent, without sending it. */
    readonly plan: (
      env: Env,
      authorization: SignedAuthorization,
      sender: RelayWallet | undefined
    ) => Effect.Effect<Plan, RpcUnavailable>
    /**
     * The authorization's state by a majority of the nodes, in a block at or after `notBefore`; `validBefore` is in
     * Unix seconds.
     */
    readonly authorizationState: (
      env: Env,
      payer: Address,
      nonce: Hex,
      validBefore: bigint,
      notBefore?: bigint
    ) => Effect.Effect<AuthorizationState>
    /** The transaction that used the authorization, by a majority, from the newest block back to `since`. */
    readonly findUse: (
      env: Env,
      payer: Address,
      nonce: Hex,
      since: Date
    ) => Effect.Effect<Option.Option<AuthorizationUse>>
  }
>()("quittance/x402/AuthorizationChain") {
  static readonly layer: Layer.Layer<AuthorizationChain, never, AppConfig | RpcPool | ContractSignatures> =
    Layer.effect(AuthorizationChain, make)
}
