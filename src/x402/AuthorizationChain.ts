// What the test chain says of a signed authorization: whether its signature holds, whether and
// at what gas the transfer would go through, whether its nonce is spent. Nothing is sent here.
import { Context, Effect, Layer, Option } from "effect"
import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex, hashTypedData, toHex } from "viem"
import { ContractSignatures } from "../chain/ContractSignatures.ts"
import type { NodeFailure } from "../chain/RpcPool/NodeFailure.ts"
import { RpcPool, unavailable } from "../chain/RpcPool.ts"
import { Bytes, Quantity } from "../chain/RpcSchemas.ts"
import { SignatureRecovery } from "../chain/SignatureRecovery.ts"
import type { RpcUnavailable } from "../chain/Verification.ts"
import type { WalletState } from "../chain/wallets/HotWallet.ts"
import { Address } from "../domain/Chain.ts"
import { walletNetwork } from "../domain/networks.ts"
import type { InvalidReason } from "../domain/SettleReason.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { type Call, factoryOf, type SignedAuthorization, transferCall, typedDataOf } from "./Authorization.ts"
import {
  type AuthorizationStanding,
  type AuthorizationUse,
  isTrue,
  standingBy,
  stateData,
  useBy
} from "./AuthorizationChain/nodeAuthorization.ts"

type Shape = typeof AuthorizationChain.Service

const network = walletNetwork
const usdc = network.usdc.address
/** Multicall3's address on every chain that has it. */
export const multicall = Address.make("0xcA11bde05977b3631167028862bE2a173976CA11")

/** Who would send it, and what is offered for its gas where the wallet holds that. */
export interface RelayWallet {
  readonly from: Address
  readonly state: WalletState
}

/** The call that a relaying wallet sends for an authorization, or why it cannot. */
export type Plan =
  | { readonly _tag: "Ready"; readonly call: Call; readonly gas: bigint }
  | { readonly _tag: "Refused"; readonly reason: InvalidReason; readonly message?: string }

/** The most gas that a transaction of each class is sent with. */
const gasCeilings = { account: 160_000n, contract: 700_000n, deployment: 3_000_000n }
/** Estimates are of the present state: a quarter more is sent, and what is unused is not paid. */
const withMargin = (estimate: bigint) => (estimate * 5n) / 4n

/** A node's own words for a call that its gas does not suffice for. */
const isShortOfGas = ({ kind, said = "" }: NodeFailure) =>
  kind === "reverted" || (kind === "refused" && /gas required exceeds|intrinsic gas/i.test(said))

const make = Effect.gen(function* () {
  const { confirmations, relaying } = yield* AppConfig
  const pool = yield* RpcPool
  const contracts = yield* ContractSignatures
  const recoverAddress = yield* SignatureRecovery

  const hasCode: Shape["hasCode"] = Effect.fn("AuthorizationChain.hasCode")(function* (address) {
    const { agreed } = yield* pool.poll(network.env, {
      ask: (node) =>
        Effect.map(node.call("eth_getCode", [address, "latest"], Bytes), (code) => code !== "0x"),
      key: String,
      // It may have been deployed in a block that the other has not seen.
      contradicts: () => false
    })
    return agreed === undefined ? yield* unavailable("rpc_unavailable", network.env) : agreed[0]
  })

  const isSigned: Shape["isSigned"] = Effect.fn("AuthorizationChain.isSigned")(function* (
    authorization,
    { name, version }
  ) {
    const typed = typedDataOf(network, authorization)
    const hash = hashTypedData({ ...typed, domain: { ...typed.domain, name, version } })
    if ((yield* recoverAddress(hash, authorization.signature)) === authorization.from) return true
    return yield* contracts.verify(network.env, authorization.from, hash, authorization.signature)
  })

  const isUsed = (payer: Address, nonce: Hex) =>
    Effect.map(pool.agreedCall(network.env, { to: usdc, data: stateData(payer, nonce) }), isTrue)

  const balanceOf = (owner: Address) =>
    Effect.map(
      pool.agreedCall(network.env, {
        to: usdc,
        data: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] })
      }),
      (answer) =>
        answer === "reverted" || answer === "0x"
          ? 0n
          : decodeFunctionResult({ abi: erc20Abi, functionName: "balanceOf", data: answer })
    )

  /** What the transfer would come to: the limit that it needs, or "reverted". */
  const estimate = Effect.fnUntraced(function* (
    transaction: Readonly<Record<string, string>>,
    ceiling: bigint
  ): Effect.fn.Return<bigint | "reverted", RpcUnavailable> {
    const { agreed, contradiction } = yield* pool.poll<bigint | "reverted">(network.env, {
      ask: (node) =>
        node
          .call("eth_estimateGas", [transaction], Quantity)
          .pipe(Effect.catchIf(isShortOfGas, () => Effect.succeed("reverted" as const))),
      // Nodes differ by what they know of storage that is warm; they agree on whether it succeeds, and within
      // the ceiling.
      key: (answer) =>
        answer === "reverted" ? answer : withMargin(answer) > ceiling ? "takes more" : "succeeds",
      contradicts: (one, other) => one === "reverted" || other === "reverted"
    })
    if (agreed === undefined)
      return yield* unavailable(contradiction ? "disagreement" : "rpc_unavailable", network.env)
    return agreed.reduce((most, one) =>
      most === "reverted" || one === "reverted" || one < most ? most : one
    )
  })

  /** Whether a majority says that the transaction succeeds as it would be sent. */
  const succeeds = Effect.fnUntraced(function* (transaction: Readonly<Record<string, string>>) {
    const { agreed, contradiction } = yield* pool.poll(network.env, {
      ask: (node) =>
        node.call("eth_call", [transaction, "latest"], Bytes).pipe(
          Effect.as(true),
          Effect.catchIf(isShortOfGas, () => Effect.succeed(false))
        ),
      key: String,
      contradicts: () => true
    })
    if (agreed === undefined)
      return yield* unavailable(contradiction ? "disagreement" : "rpc_unavailable", network.env)
    return agreed[0]
  })

  const plan: Shape["plan"] = Effect.fn("AuthorizationChain.plan")(
    function* (authorization, sender): Effect.fn.Return<Plan, RpcUnavailable> {
      const { from, nonce, signature, value } = authorization
      const deployed = yield* hasCode(from)
      const factory = deployed ? undefined : factoryOf(signature)
      if (factory !== undefined && !relaying.factories.includes(factory)) {
        return {
          _tag: "Refused",
          reason: "eip6492_factory_not_allowed",
          message: `Wallets of the factory ${factory} are not deployed here. Deploy the wallet first, or have the operator list the factory in X402_FACTORIES.`
        }
      }
      // A call to an address without code succeeds, and moves nothing.
      if (factory !== undefined && !(yield* hasCode(multicall))) {
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
      const estimated = yield* estimate(sent(ceiling), ceiling)
      if (estimated !== "reverted") {
        const gas = withMargin(estimated)
        if (gas > ceiling) {
          return {
            _tag: "Refused",
            reason: "invalid_exact_evm_transaction_simulation_failed",
            message: `The transfer takes ${gas} gas; at most ${ceiling} is paid for it.`
          }
        }
        if (yield* succeeds(sent(gas))) return { _tag: "Ready", call, gas }
      }
      if (yield* isUsed(from, nonce))
        return { _tag: "Refused", reason: "invalid_exact_evm_nonce_already_used" }
      if ((yield* balanceOf(from)) < value)
        return { _tag: "Refused", reason: "invalid_exact_evm_insufficient_balance" }
      return {
        _tag: "Refused",
        reason: "invalid_exact_evm_transaction_simulation_failed",
        message: `The transfer reverts, or takes more than the ${ceiling} gas that is paid for it.`
      }
    }
  )

  const standing: Shape["standing"] = Effect.fn("AuthorizationChain.standing")(function* (
    payer,
    nonce,
    validBefore,
    notBefore = 0n
  ) {
    const { agreed } = yield* pool.poll(network.env, {
      ask: (node) => standingBy(node, payer, nonce, validBefore, notBefore, confirmations[network.env]),
      key: (answer) => answer,
      contradicts: () => false
    })
    return agreed === undefined ? "unknown" : agreed[0]
  })

  const findUse: Shape["findUse"] = Effect.fn("AuthorizationChain.findUse")(function* (payer, nonce, since) {
    const { agreed } = yield* pool.poll<Option.Option<AuthorizationUse>>(network.env, {
      ask: (node) => useBy(node, payer, nonce, since),
      key: (use) => (Option.isNone(use) ? "none" : `${use.value.transactionId} ${use.value.cancelled}`),
      contradicts: () => false
    })
    if (agreed === undefined) return Option.none()
    // As few blocks as any of them has counted: no depth that one node alone claims.
    return agreed.reduce((least, one) =>
      Option.isSome(one) && Option.isSome(least) && one.value.blocksSince < least.value.blocksSince
        ? one
        : least
    )
  })

  return { isSigned, hasCode, plan, standing, findUse }
})

export class AuthorizationChain extends Context.Service<
  AuthorizationChain,
  {
    /** Whether the payer signed it, under the token domain that the requirements name. */
    readonly isSigned: (
      authorization: SignedAuthorization,
      domain: { readonly name: string; readonly version: string }
    ) => Effect.Effect<boolean, RpcUnavailable>
    /** As a majority has it. */
    readonly hasCode: (address: Address) => Effect.Effect<boolean, RpcUnavailable>
    /** Tries the transaction exactly as it would be sent, without sending it. */
    readonly plan: (
      authorization: SignedAuthorization,
      sender: RelayWallet | undefined
    ) => Effect.Effect<Plan, RpcUnavailable>
    /**
     * Where it stands by a majority of the nodes, in a block at or after `notBefore`;
     * `validBefore` in Unix seconds.
     */
    readonly standing: (
      payer: Address,
      nonce: Hex,
      validBefore: bigint,
      notBefore?: bigint
    ) => Effect.Effect<AuthorizationStanding>
    /** What used it, says a majority, looked for from the newest block back to `since`. */
    readonly findUse: (
      payer: Address,
      nonce: Hex,
      since: Date
    ) => Effect.Effect<Option.Option<AuthorizationUse>>
  }
>()("quittance/x402/AuthorizationChain") {
  static readonly layer: Layer.Layer<AuthorizationChain, never, AppConfig | RpcPool | ContractSignatures> =
    Layer.effect(AuthorizationChain, make)
}
