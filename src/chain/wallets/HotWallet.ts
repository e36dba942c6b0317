// A wallet of the service on one network: what it holds, what it signs, and how its
// transactions reach the nodes. Nonces and outboxes are the business of its users.
import { Effect, Result, Schema } from "effect"
import {
  encodeFunctionData,
  erc20Abi,
  type Hex,
  isHex,
  parseTransaction,
  type TransactionSerializableEIP1559
} from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Address, type TransactionHash } from "../../domain/Chain.ts"
import type { Network } from "../../domain/networks.ts"
import type { NodeFailure } from "../RpcPool/NodeFailure.ts"
import type { RpcNode } from "../RpcPool/RpcNode.ts"
import type { RpcPool } from "../RpcPool.ts"
import { Quantity, Receipt, Word } from "../RpcSchemas.ts"
import { makeCosts } from "./HotWallet/costs.ts"

/** A transaction before fees and signature. */
export interface Unsigned {
  readonly nonce: number
  readonly to: Address
  /** Wei. */
  readonly value?: bigint
  readonly data?: Hex
  readonly gas: bigint
}

/** Wei for each gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

export interface WalletState {
  readonly nonce: number
  /** The price of gas in the next block, in wei. */
  readonly price: bigint
  /** The price doubled, so that a rising base fee does not strand the transaction. */
  readonly fees: Fees
  readonly usdcAtomic: bigint
  readonly wei: bigint
}

/**
 * The outcome of a broadcast. `taken`: another transaction used the nonce. `no_funds`: the nodes report a balance
 * below the cost. `unknown`: no node has accepted it yet; it may still be under way.
 */
export type Broadcast = "accepted" | "no_funds" | "taken" | "unknown"

/** A nonce's state. `lost`: a block has passed it, and no version of ours is in one. */
export type Sighting =
  | { readonly outcome: "open" }
  | { readonly outcome: "lost" }
  | {
      readonly outcome: "moved" | "reverted"
      /** The version that is in the block. */
      readonly transactionId: TransactionHash
      readonly blockNumber: bigint
    }

/** A node that has it already has accepted it: so it is after a lost answer. */
const broadcastOf: { readonly [K in NodeFailure["kind"]]: Broadcast } = {
  known: "accepted",
  nonce_used: "taken",
  no_funds: "no_funds",
  transport: "unknown",
  malformed: "unknown",
  wrong_chain: "unknown",
  declined: "unknown",
  invalid: "unknown",
  reverted: "unknown",
  too_wide: "unknown",
  pruned: "unknown"
}
/** True if the signed form is never accepted: the next offer needs another price, or an operator must act. */
const isNeverAccepted = ({ kind }: NodeFailure) => kind === "invalid" || kind === "reverted"
/** A transaction by its hash, of which only counts that the node knows it. */
const Known = Schema.NullOr(Schema.Struct({ hash: Word }))

const hasMoved = ({ outcome }: Sighting) => outcome === "moved"

/**
 * Combines the nodes' sightings. If any node shows that money moved, a majority verifies it afterwards. A majority
 * must show that nothing moved.
 */
const mostOf = (seen: ReadonlyArray<Sighting>, nodes: number): Sighting => {
  const moved = seen.find(hasMoved)
  if (moved !== undefined) return moved
  const [reverted, lost] = [
    seen.filter(({ outcome }) => outcome === "reverted"),
    seen.filter(({ outcome }) => outcome === "lost")
  ]
  const [first] = reverted
  if (first !== undefined && reverted.length * 2 > nodes) return first
  return { outcome: lost.length * 2 > nodes ? "lost" : "open" }
}

/** `privateKey` is asked for when the wallet is first used. */
export const makeHotWallet = (network: Network, privateKey: () => Hex, pool: RpcPool["Service"]) => {
  const { chainId, env, postingGas, usdc } = network
  let known: PrivateKeyAccount | undefined
  const account = () => {
    known ??= privateKeyToAccount(privateKey())
    return known
  }
  const addressOf = () => Address.make(account().address)

  /** Each by itself as a majority has it: what one node tells of the wallet or of the price counts for nothing. */
  const figure = (ask: (node: RpcNode) => Effect.Effect<bigint, NodeFailure>) =>
    pool.reached(env, ask, (answer) => answer)
  const state = Effect.map(
    Effect.all(
      {
        nonce: figure((node) => node.call("eth_getTransactionCount", [addressOf(), "pending"], Quantity)),
        price: figure((node) => node.call("eth_gasPrice", [], Quantity)),
        usdcAtomic: figure((node) =>
          node
            .call(
              "eth_call",
              [
                {
                  to: usdc.address,
                  data: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [addressOf()] })
                },
                "latest"
              ],
              Word
            )
            .pipe(Effect.map(BigInt))
        ),
        wei: figure((node) => node.call("eth_getBalance", [addressOf(), "latest"], Quantity))
      },
      { concurrency: "unbounded" }
    ),
    ({ nonce, price, usdcAtomic, wei }): WalletState => ({
      nonce: Number(nonce),
      price,
      fees: {
        maxFeePerGas: price * 2n + 1n,
        maxPriorityFeePerGas: price < 1_000_000_000n ? price : 1_000_000_000n
      },
      usdcAtomic,
      wei
    })
  )

  const sign = (transaction: TransactionSerializableEIP1559) =>
    Effect.promise(() => account().signTransaction({ ...transaction, type: "eip1559", chainId }))

  const send = (node: RpcNode, raw: Hex): Effect.Effect<Broadcast> =>
    node.call("eth_sendRawTransaction", [raw], Word).pipe(
      Effect.matchEffect({
        onSuccess: () => Effect.succeed<Broadcast>("accepted"),
        onFailure: (cause) =>
          Effect.as(
            isNeverAccepted(cause)
              ? pool.alert(
                  "refusing",
                  env,
                  node.host,
                  `${cause.message}: ${cause.words ?? "no reason given"}`
                )
              : pool.failed(env, node, cause),
            broadcastOf[cause.kind]
          )
      })
    )

  const onAll = <A, E>(ask: (node: RpcNode) => Effect.Effect<A, E>) =>
    Effect.forEach(pool.nodes(env), (node) => Effect.result(ask(node)), { concurrency: "unbounded" })

  /** True if any node knows one of these, mined or pending. */
  const knows = (ids: ReadonlyArray<TransactionHash>) =>
    Effect.map(
      onAll((node) => Effect.forEach(ids, (id) => node.call("eth_getTransactionByHash", [id], Known))),
      (answers): Broadcast =>
        answers.some((answer) => Result.isSuccess(answer) && answer.success.some((one) => one !== null))
          ? "accepted"
          : answers.some(Result.isFailure)
            ? "unknown"
            : "taken"
    )

  const minedNonceOf = (node: RpcNode) =>
    Effect.map(node.call("eth_getTransactionCount", [addressOf(), "latest"], Quantity), Number)

  const check = Effect.fnUntraced(function* (
    node: RpcNode,
    nonce: number,
    ids: ReadonlyArray<TransactionHash>
  ) {
    const receipt = Effect.gen(function* () {
      for (const transactionId of ids) {
        const found = yield* node.call("eth_getTransactionReceipt", [transactionId], Receipt)
        if (found === null) continue
        const outcome = found.status === "0x1" ? "moved" : "reverted"
        return { outcome, transactionId, blockNumber: found.blockNumber } satisfies Sighting
      }
      return undefined
    })
    const early: Sighting | undefined = yield* receipt
    if (early !== undefined) return early
    if ((yield* minedNonceOf(node)) <= nonce) return { outcome: "open" } satisfies Sighting
    // It may have been mined between the two questions.
    const late: Sighting | undefined = yield* receipt
    return late ?? ({ outcome: "lost" } satisfies Sighting)
  })

  return {
    get address() {
      return addressOf()
    },
    state,
    ...makeCosts(network, pool),
    sign: (fees: Fees, transaction: Unsigned) => sign({ ...transaction, chainId, ...fees }),
    /** Fills a nonce with an empty transfer to itself. */
    signFiller: (fees: Fees, nonce: number) =>
      sign({ nonce, to: addressOf(), value: 0n, gas: 21_000n + postingGas, chainId, ...fees }),
    isFiller: (raw: Hex) => {
      const { to, value = 0n, data } = parseTransaction(raw)
      return to?.toLowerCase() === addressOf().toLowerCase() && value === 0n && data === undefined
    },
    /** The same transaction at other fees. */
    signAgain: (fees: Fees, raw: Hex) => {
      const old = parseTransaction(raw)
      return sign({
        ...(old.nonce === undefined ? {} : { nonce: old.nonce }),
        ...(old.to === undefined || old.to === null ? {} : { to: old.to }),
        ...(old.value === undefined ? {} : { value: old.value }),
        ...(old.data === undefined || !isHex(old.data) ? {} : { data: old.data }),
        ...(old.gas === undefined ? {} : { gas: old.gas }),
        chainId,
        ...fees
      })
    },
    /** True if any node knows one of these; `taken` where all answer that they know none. */
    knows,
    /** The newest block's number, as a majority has it. */
    head: Effect.map(pool.head(env), ({ number }) => number),
    /** To all nodes. Where they say that the nonce is gone, it counts only if they know one of its versions. */
    broadcast: (raw: Hex, versions: ReadonlyArray<TransactionHash>): Effect.Effect<Broadcast> =>
      Effect.flatMap(
        Effect.forEach(pool.nodes(env), (node) => send(node, raw), { concurrency: "unbounded" }),
        (all) => {
          if (all.includes("accepted")) return Effect.succeed("accepted")
          if (all.length === 0 || all.includes("unknown")) return Effect.succeed("unknown")
          return all.includes("taken") ? knows(versions) : Effect.succeed("no_funds")
        }
      ),
    /** A nonce's state: a receipt of success on any node is believed, otherwise the majority decides. */
    sight: (nonce: number, versions: ReadonlyArray<TransactionHash>) =>
      Effect.map(
        pool.gather(env, (node) => check(node, nonce, versions), hasMoved),
        (seen) => mostOf(seen, pool.nodes(env).length)
      ),
    /** The same, without waiting for a majority: fewer nodes say no more than that it has moved. */
    sightOnAll: (nonce: number, versions: ReadonlyArray<TransactionHash>) =>
      Effect.map(
        onAll((node) => check(node, nonce, versions)),
        (answers) =>
          mostOf(
            answers.filter(Result.isSuccess).map(({ success }) => success),
            answers.length
          )
      ),
    /** The next nonce of a block that a majority has. */
    minedNonce: pool.reached(env, minedNonceOf, BigInt),
    /**
     * The highest next nonce, for after nodes have lagged: of three or more nodes, the highest that two have
     * reached, since behind a nonce that one of them invents nothing would ever be mined.
     */
    freshNonce: Effect.map(
      onAll((node) =>
        Effect.all([
          node.call("eth_getTransactionCount", [addressOf(), "pending"], Quantity),
          node.call("eth_getTransactionCount", [addressOf(), "latest"], Quantity)
        ])
      ),
      (answers) =>
        answers
          .filter(Result.isSuccess)
          .map(({ success }) => Math.max(...success.map(Number)))
          .toSorted((one, other) => other - one)[answers.length > 2 ? 1 : 0] ?? 0
    )
  }
}

export type HotWallet = ReturnType<typeof makeHotWallet>
