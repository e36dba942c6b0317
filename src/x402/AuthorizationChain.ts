// What the test chain says of a signed authorization: whether its signature holds, whether
// the transfer would go through, whether its nonce is used up. Nothing is sent here.
import { Context, Effect, Layer, Option, Schema } from "effect"
import {
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  hashTypedData,
  recoverAddress,
  toHex
} from "viem"
import { ContractSignatures } from "../chain/ContractSignatures.ts"
import type { RpcNode } from "../chain/RpcNode.ts"
import { RpcPool } from "../chain/RpcPool.ts"
import { Bytes, Quantity, Word } from "../chain/RpcSchemas.ts"
import type { ChainUnavailable } from "../chain/Verification.ts"
import { Address, networks, TransactionHash } from "../domain/Chain.ts"
import {
  authorizationAbi,
  type Call,
  type SignedAuthorization,
  transferCall,
  typedDataOf
} from "./Authorization.ts"
import type { InvalidReason } from "./judgeExact.ts"

const network = networks.test
const usdc = network.usdc.address
/** Multicall3's address on every chain that has it. */
export const multicall = Address.make("0xcA11bde05977b3631167028862bE2a173976CA11")

/** `used`: its nonce is spent. `expired`: unused in a block after its time. `open`: it may still be used. */
export type AuthorizationStanding = "used" | "expired" | "open"

interface Shape {
  /** Whether the payer signed it, under the token domain that the requirements name. */
  readonly isSigned: (
    authorization: SignedAuthorization,
    domain: { readonly name: string; readonly version: string }
  ) => Effect.Effect<boolean, ChainUnavailable>
  readonly hasCode: (address: Address) => Effect.Effect<boolean, ChainUnavailable>
  /** Tries the transfer without sending it; what stands in its way, if anything does. */
  readonly tryOut: (
    authorization: SignedAuthorization
  ) => Effect.Effect<InvalidReason | undefined, ChainUnavailable>
  /** The call that a relaying wallet sends for it. */
  readonly callOf: (authorization: SignedAuthorization) => Effect.Effect<Call, ChainUnavailable>
  readonly isUsed: (payer: Address, nonce: Hex) => Effect.Effect<boolean, ChainUnavailable>
  /** Where it stands by a majority of the nodes; `validBefore` in Unix seconds. */
  readonly standing: (payer: Address, nonce: Hex, validBefore: bigint) => Effect.Effect<AuthorizationStanding>
  /** The transaction that used it, whoever sent that, among the last blocks. */
  readonly findUse: (
    payer: Address,
    nonce: Hex
  ) => Effect.Effect<Option.Option<TransactionHash>, ChainUnavailable>
}

const UseLogs = Schema.Array(Schema.Struct({ transactionHash: Word }))
const LatestBlock = Schema.Struct({ number: Quantity, timestamp: Quantity })
/** What public nodes search in one question. */
const searchedBlocks = 9_000n
const usedTopic = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"

const stateData = (payer: Address, nonce: Hex) =>
  encodeFunctionData({ abi: authorizationAbi, functionName: "authorizationState", args: [payer, nonce] })
const isTrue = (word: string) => /^0x0*1$/.test(word)

const make = Effect.gen(function* () {
  const pool = yield* RpcPool
  const contracts = yield* ContractSignatures

  const hasCode: Shape["hasCode"] = (address) =>
    Effect.map(
      pool.first("test", (node) => node.call("eth_getCode", [address, "latest"], Bytes)),
      (code) => code !== "0x"
    )

  const isSigned: Shape["isSigned"] = Effect.fn("AuthorizationChain.isSigned")(function* (
    authorization,
    { name, version }
  ) {
    const typed = typedDataOf(network, authorization)
    const hash = hashTypedData({ ...typed, domain: { ...typed.domain, name, version } })
    const signer = yield* Effect.promise(() =>
      recoverAddress({ hash, signature: authorization.signature }).catch(() => undefined)
    )
    if (signer === authorization.from) return true
    return yield* contracts.verify("test", authorization.from, hash, authorization.signature)
  })

  const callOf: Shape["callOf"] = (authorization) =>
    Effect.map(hasCode(authorization.from), (deployed) =>
      transferCall(usdc, multicall, authorization, deployed)
    )

  const isUsed: Shape["isUsed"] = (payer, nonce) =>
    Effect.map(pool.agreedCall("test", { to: usdc, data: stateData(payer, nonce) }), isTrue)

  const balanceOf = (owner: Address) =>
    Effect.map(
      pool.agreedCall("test", {
        to: usdc,
        data: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] })
      }),
      (answer) =>
        answer === "reverted" || answer === "0x"
          ? 0n
          : decodeFunctionResult({ abi: erc20Abi, functionName: "balanceOf", data: answer })
    )

  const tryOut: Shape["tryOut"] = Effect.fn("AuthorizationChain.tryOut")(function* (authorization) {
    const outcome = yield* pool.agreedCall("test", yield* callOf(authorization))
    if (outcome !== "reverted") return undefined
    if (yield* isUsed(authorization.from, authorization.nonce)) return "invalid_exact_evm_nonce_already_used"
    return (yield* balanceOf(authorization.from)) < authorization.value
      ? "invalid_exact_evm_insufficient_balance"
      : "invalid_exact_evm_transaction_simulation_failed"
  })

  const standingBy = (node: RpcNode, payer: Address, nonce: Hex, validBefore: bigint) =>
    Effect.gen(function* () {
      // The block first: what is unused after it is unused at it.
      const { timestamp } = yield* node.call("eth_getBlockByNumber", ["latest", false], LatestBlock)
      const state = yield* node.call(
        "eth_call",
        [{ to: usdc, data: stateData(payer, nonce) }, "latest"],
        Word
      )
      const standing: AuthorizationStanding = isTrue(state)
        ? "used"
        : timestamp >= validBefore
          ? "expired"
          : "open"
      return standing
    })

  const standing: Shape["standing"] = Effect.fn("AuthorizationChain.standing")(
    function* (payer, nonce, validBefore) {
      const { agreed } = yield* pool.poll("test", {
        ask: (node) => standingBy(node, payer, nonce, validBefore),
        key: (answer) => answer,
        contradicts: () => false
      })
      return agreed === undefined ? "open" : agreed[0]
    }
  )

  const findUse: Shape["findUse"] = Effect.fn("AuthorizationChain.findUse")(function* (payer, nonce) {
    const logs = yield* pool.first("test", (node) =>
      Effect.gen(function* () {
        const { number } = yield* node.call("eth_getBlockByNumber", ["latest", false], LatestBlock)
        const from = number > searchedBlocks ? number - searchedBlocks : 0n
        const topics = [usedTopic, `0x${payer.slice(2).toLowerCase().padStart(64, "0")}`, nonce]
        return yield* node.call(
          "eth_getLogs",
          [{ address: usdc, topics, fromBlock: toHex(from), toBlock: "latest" }],
          UseLogs
        )
      })
    )
    const [first] = logs
    return first === undefined ? Option.none() : Option.some(TransactionHash.make(first.transactionHash))
  })

  return { isSigned, hasCode, tryOut, callOf, isUsed, standing, findUse }
})

export class AuthorizationChain extends Context.Service<AuthorizationChain, Shape>()(
  "quittance/x402/AuthorizationChain"
) {
  static readonly layer: Layer.Layer<AuthorizationChain, never, RpcPool | ContractSignatures> = Layer.effect(
    AuthorizationChain,
    make
  )
}
